// How stored records leave as the items that they can be ingested as again.
import type { MessageShape } from "@bufbuild/protobuf";
import type { ContactDocument } from "../contacts/document.ts";
import { present, timestamp } from "../db/message.ts";
import { holdDeflated } from "../deflated.ts";
import type { RecordSchema } from "../gen/records/ingest/v1/import_pb.ts";
import type { TranscriptItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { NoteDocument } from "../notes/store.ts";
import type { SessionDocument } from "../sessions/document.ts";
import { noteTypeOf } from "../sessions/messages.ts";
import type { TranscriptDocument } from "../sessions/transcripts.ts";
import { recordingMessage } from "../sessions/transcripts.ts";

type ExportedRecord = MessageShape<typeof RecordSchema>;

/** A contact, archived or not. */
export function contactRecord(document: ContactDocument): ExportedRecord {
  const { full_name, email, phone, notes, memory, inferred_name, created_at, updated_at, archived_at } = document;
  return record({
    case: "contact",
    value: {
      $typeName: "records.ingest.v1.ContactItem",
      ...nameOf(document),
      ...present({ fullName: full_name, email, phone, notes, memory, inferredName: inferred_name }),
      createdAt: timestamp(created_at),
      updatedAt: timestamp(updated_at),
      ...timesOf({ archivedAt: archived_at }),
    },
  });
}

/** A session without its notes and transcript. */
export function sessionRecord(document: SessionDocument): ExportedRecord {
  const {
    contact_id,
    title,
    subtitle,
    session_date,
    session_date_end,
    recording_status,
    source,
    conference_provider,
    conference_url,
    provider_doc_url,
    created_at,
    updated_at,
  } = document;
  return record({
    case: "session",
    value: {
      $typeName: "records.ingest.v1.SessionItem",
      ...nameOf(document),
      ...(contact_id === null ? {} : { contactId: contact_id.toHexString() }),
      ...present({
        title,
        subtitle,
        recordingStatus: recording_status,
        source,
        conferenceProvider: conference_provider,
        conferenceUrl: conference_url,
        providerDocUrl: provider_doc_url,
      }),
      ...timesOf({ sessionDate: session_date, sessionDateEnd: session_date_end }),
      createdAt: timestamp(created_at),
      updatedAt: timestamp(updated_at),
    },
  });
}

/** The transcript of a session. */
export function transcriptRecord({ _id, text, recording }: TranscriptDocument): ExportedRecord {
  const item: TranscriptItem = {
    $typeName: "records.ingest.v1.TranscriptItem",
    sessionId: _id.toHexString(),
    ...(recording === null ? {} : { recording: recordingMessage(recording) }),
  };
  return record({
    case: "transcript",
    value: text === null ? item : holdDeflated(item, "transcript", { ...text, blocks: text.blocks.buffer }),
  });
}

/** A note, of a contact or of a session. */
export function noteRecord(document: NoteDocument): ExportedRecord {
  const { kind, parent_id, content, created_at, updated_at } = document;
  if (kind === "contact") {
    return record({
      case: "contactNote",
      value: {
        $typeName: "records.ingest.v1.ContactNoteItem",
        ...nameOf(document),
        contactId: parent_id.toHexString(),
        content: content ?? "",
        source: document.source ?? "",
        createdAt: timestamp(created_at),
        updatedAt: timestamp(updated_at),
      },
    });
  }
  const { title, title_slug, position, type } = document;
  return record({
    case: "sessionNote",
    value: {
      $typeName: "records.ingest.v1.SessionNoteItem",
      ...nameOf(document),
      sessionId: parent_id.toHexString(),
      ...present({ title, titleSlug: title_slug, content }),
      position,
      type: noteTypeOf(type),
      createdAt: timestamp(created_at),
    },
  });
}

function record(held: ExportedRecord["record"]): ExportedRecord {
  return { $typeName: "records.ingest.v1.Record", record: held };
}

function nameOf({ _id, external_id }: { readonly _id: { toHexString(): string }; readonly external_id?: string }) {
  return { id: _id.toHexString(), ...(external_id === undefined ? {} : { externalId: external_id }) };
}

function timesOf<Name extends string>(times: Readonly<Record<Name, Date | null>>) {
  const set = Object.entries<Date | null>(times).flatMap(([name, date]) =>
    date === null ? [] : [[name, timestamp(date)]],
  );
  return Object.fromEntries(set) as { [Key in Name]?: ReturnType<typeof timestamp> };
}
