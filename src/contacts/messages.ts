// Maps the documents of a contact, its notes and its sessions to messages.
import type { UUID } from "mongodb";
import type { Contact, ContactRecentSession, ContactTimelineNote } from "../gen/records/v1/contacts_pb.ts";
import { textsOf, timesOf } from "../db/fields.ts";
import { idText, present, timestamp } from "../db/message.ts";
import { contactNoteFields } from "../notes/document.ts";
import type { ContactDocument } from "./document.ts";
import { contactFields } from "./document.ts";

/** A note of a timeline, as the store's pipelines cut it. */
export interface NoteRow {
  readonly _id: UUID;
  readonly content: string;
  readonly source: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A recent session, as the store's pipelines cut it. */
export interface SessionRow {
  readonly _id: UUID;
  readonly title: string | null;
  readonly subtitle: string | null;
  readonly session_date: Date;
  readonly recording_status: string | null;
}

/** A whole contact. */
export function contactMessage(
  document: ContactDocument,
  timeline: readonly NoteRow[],
  sessions: readonly SessionRow[],
): Contact {
  return {
    $typeName: "records.v1.Contact",
    id: idText(document._id),
    ...textsOf(contactFields.texts, document),
    ...timesOf(contactFields.times, document),
    notesTimeline: timeline.map(noteMessage),
    recentSessions: sessions.map(sessionMessage),
  };
}

/** A note of a timeline. */
export function noteMessage(note: NoteRow): ContactTimelineNote {
  return {
    $typeName: "records.v1.ContactTimelineNote",
    id: idText(note._id),
    ...{ content: "", source: "", ...textsOf(contactNoteFields.texts, note) },
    ...timesOf(contactNoteFields.times, note),
  };
}

function sessionMessage({ _id, title, subtitle, session_date, recording_status }: SessionRow): ContactRecentSession {
  return {
    $typeName: "records.v1.ContactRecentSession",
    id: idText(_id),
    ...present({ title, subtitle, recordingStatus: recording_status }),
    sessionDate: timestamp(session_date),
  };
}
