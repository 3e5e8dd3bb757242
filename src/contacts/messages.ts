// Maps the documents of a contact, its notes and its sessions to messages.
import type { UUID } from "mongodb";
import type { Contact, ContactRecentSession, ContactTimelineNote } from "../gen/records/v1/contacts_pb.ts";
import type { FieldsOf, Stored, Tables } from "../db/fields.ts";
import { fieldsIn } from "../db/fields.ts";
import { idText } from "../db/message.ts";
import { contactNoteFields } from "../notes/document.ts";
import type { ContactDocument } from "./document.ts";
import { contactFields } from "./document.ts";

type Row<Fields extends Tables, Text> = { readonly _id: UUID } & Stored<Fields["texts"], Text> &
  Stored<Fields["times"], Date>;

/** The fields of a session that its contact shows. */
export const recentSessionFields = {
  texts: { title: "title", subtitle: "subtitle", recordingStatus: "recording_status" },
  times: { sessionDate: "session_date" },
} as const satisfies FieldsOf<ContactRecentSession, "id">;

/** A note of a timeline, as projected by the store's pipelines. */
export type NoteRow = Row<typeof contactNoteFields, string>;

/** A recent session, as projected by the store's pipelines. */
export type SessionRow = Row<typeof recentSessionFields, string | null>;

/** Returns a contact with its timeline and recent sessions. */
export function contactMessage(
  document: ContactDocument,
  timeline: readonly NoteRow[],
  sessions: readonly SessionRow[],
  id = idText(document._id),
): Contact {
  return {
    $typeName: "records.v1.Contact",
    id,
    ...fieldsIn(contactFields, document),
    notesTimeline: timeline.map(noteMessage),
    recentSessions: sessions.map(sessionMessage),
  };
}

function noteMessage(note: NoteRow): ContactTimelineNote {
  return {
    $typeName: "records.v1.ContactTimelineNote",
    id: idText(note._id),
    content: "",
    source: "",
    ...fieldsIn(contactNoteFields, note),
  };
}

function sessionMessage(session: SessionRow): ContactRecentSession {
  return {
    $typeName: "records.v1.ContactRecentSession",
    id: idText(session._id),
    ...fieldsIn(recentSessionFields, session),
  };
}
