// Maps stored records to the items that ingest accepts.
import type { MessageShape } from "@bufbuild/protobuf";
import type { ContactDocument } from "../contacts/document.ts";
import { contactFields } from "../contacts/document.ts";
import { fieldsIn } from "../db/fields.ts";
import { defineDeflatedField } from "../large/deflated.ts";
import type { RecordSchema } from "../gen/records/ingest/v1/import_pb.ts";
import type { TranscriptItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { NoteDocument } from "../notes/document.ts";
import { contactNoteFields, noteTypeOf, sessionNoteFields } from "../notes/document.ts";
import type { SessionDocument } from "../sessions/document.ts";
import { sessionFields } from "../sessions/document.ts";
import type { TranscriptDocument } from "../sessions/transcripts.ts";
import { recordingMessage } from "../sessions/transcripts.ts";

/** A record in the form of the Export method. */
export type ExportedRecord = MessageShape<typeof RecordSchema>;

/** Returns the item of a contact, archived or not. */
export function contactRecord(document: ContactDocument): ExportedRecord {
  return record({
    case: "contact",
    value: {
      $typeName: "records.ingest.v1.ContactItem",
      ...nameOf(document),
      ...fieldsIn(contactFields, document),
    },
  });
}

/** Returns the item of a session, without its notes and transcript. */
export function sessionRecord(document: SessionDocument): ExportedRecord {
  const { contact_id } = document;
  return record({
    case: "session",
    value: {
      $typeName: "records.ingest.v1.SessionItem",
      ...nameOf(document),
      ...(contact_id === null ? {} : { contactId: contact_id.toHexString() }),
      ...fieldsIn(sessionFields, document),
    },
  });
}

/** Returns the item of a transcript. Its text stays compressed. */
export function transcriptRecord({ _id, text, recording }: TranscriptDocument): ExportedRecord {
  const item: TranscriptItem = {
    $typeName: "records.ingest.v1.TranscriptItem",
    sessionId: _id.toHexString(),
    ...(recording === null ? {} : { recording: recordingMessage(recording) }),
  };
  return record({
    case: "transcript",
    value: text === null ? item : defineDeflatedField(item, "transcript", { ...text, blocks: text.blocks.buffer }),
  });
}

/** Returns the item of a contact's or a session's note. */
export function noteRecord(document: NoteDocument): ExportedRecord {
  const { kind, parent_id } = document;
  if (kind === "contact") {
    return record({
      case: "contactNote",
      value: {
        $typeName: "records.ingest.v1.ContactNoteItem",
        ...nameOf(document),
        contactId: parent_id.toHexString(),
        content: "",
        source: "",
        ...fieldsIn(contactNoteFields, document),
      },
    });
  }
  const { position, type } = document;
  return record({
    case: "sessionNote",
    value: {
      $typeName: "records.ingest.v1.SessionNoteItem",
      ...nameOf(document),
      sessionId: parent_id.toHexString(),
      ...fieldsIn(sessionNoteFields, document),
      position,
      type: noteTypeOf(type),
    },
  });
}

function record(held: ExportedRecord["record"]): ExportedRecord {
  return { $typeName: "records.ingest.v1.Record", record: held };
}

function nameOf({ _id, external_id }: { readonly _id: { toHexString(): string }; readonly external_id?: string }) {
  return { id: _id.toHexString(), ...(external_id === undefined ? {} : { externalId: external_id }) };
}
