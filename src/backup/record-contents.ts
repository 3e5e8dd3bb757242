// The contents of the collections of records in a backup.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { ContactDocument } from "../contacts/document.ts";
import { contactFields } from "../contacts/document.ts";
import { contactMessage } from "../contacts/messages.ts";
import { emailKeyOf } from "../contacts/write.ts";
import type { StoredTerms } from "../db/search-fields.ts";
import { termsField, textField } from "../db/search-fields.ts";
import { requireWhole } from "../large/deflated.ts";
import { RecordSchema } from "../gen/records/ingest/v1/import_pb.ts";
import { ContactSchema } from "../gen/records/v1/contacts_pb.ts";
import { NoteSearchResultSchema } from "../gen/records/v1/notes_pb.ts";
import { SessionDetailSchema, SessionSummarySchema } from "../gen/records/v1/sessions_pb.ts";
import type { ExportedRecord } from "../ingest/exported.ts";
import { contactRecord, noteRecord, sessionRecord, transcriptRecord } from "../ingest/exported.ts";
import type { NoteDocument } from "../notes/document.ts";
import { contactNoteFields, noteTypeNames, sessionNoteFields } from "../notes/document.ts";
import { resultMessage } from "../notes/store.ts";
import type { SessionClientNames, SessionDocument } from "../sessions/document.ts";
import { sessionFields } from "../sessions/document.ts";
import { sessionDetail, sessionSummary } from "../sessions/messages.ts";
import type { RecordingDocument, TranscriptDocument } from "../sessions/transcripts.ts";
import { contents, maxDocumentBytes, referenceTo } from "./contents.ts";
import type { Shape } from "./shapes.ts";
import {
  aCount,
  aNumber,
  aText,
  aTime,
  anId,
  documentOf,
  each,
  listOf,
  oneOf,
  optional,
  orNull,
  someBytes,
  unset,
} from "./shapes.ts";

function exported(record: ExportedRecord): readonly [DescMessage, Message] {
  return [RecordSchema, record];
}

/** Returns the values of the unique index on external ids. */
function externalIdOf(
  account: unknown,
  externalId: string | undefined,
  ...kind: readonly string[]
): readonly (readonly unknown[])[] {
  return externalId === undefined ? [] : [["external_id", account, externalId, ...kind]];
}

const terms: Shape<StoredTerms> = { [textField]: aText, [termsField]: listOf(aText) };

export const contactContents = contents<ContactDocument>({
  shape: {
    ...each(contactFields.texts, unset(aText)),
    ...each(contactFields.times, unset(aTime)),
    _id: anId,
    account_id: anId,
    external_id: optional(aText),
    version: aNumber,
    email_key: optional(aText),
    created_at: aTime,
    updated_at: aTime,
    archived_at: orNull(aTime),
    rank: aNumber,
    [textField]: optional(terms[textField]),
    [termsField]: optional(terms[termsField]),
  },
  reads: (contact) => [exported(contactRecord(contact)), [ContactSchema, contactMessage(contact, [], [])]],
  problem: ({ email, email_key }) =>
    email_key === undefined || email_key === emailKeyOf({ email })
      ? undefined
      : "email_key must be the email in lower case",
  unique: ({ account_id, email_key, external_id }) => [
    ...(email_key === undefined ? [] : [["email_key", account_id, email_key]]),
    ...externalIdOf(account_id, external_id),
  ],
});

const clientShape: Shape<SessionClientNames> = {
  full_name: unset(aText),
  inferred_name: unset(aText),
  email: unset(aText),
};

export const sessionContents = contents<SessionDocument>({
  shape: {
    ...each(sessionFields.texts, unset(aText)),
    ...each(sessionFields.times, unset(aTime)),
    _id: anId,
    account_id: anId,
    external_id: optional(aText),
    version: aNumber,
    contact_id: orNull(anId),
    client: unset(documentOf(clientShape)),
    created_at: aTime,
    updated_at: aTime,
    rank: aNumber,
    own: documentOf(terms),
    ...terms,
  },
  reads: (session) => [
    exported(sessionRecord(session)),
    [SessionDetailSchema, sessionDetail(session, [])],
    [SessionSummarySchema, sessionSummary(session)],
  ],
  references: ({ contact_id }) => (contact_id === null ? [] : [referenceTo("contact", contact_id)]),
  unique: ({ account_id, external_id }) => externalIdOf(account_id, external_id),
});

const recordingShape: Shape<RecordingDocument> = {
  id: anId,
  duration_seconds: orNull(aNumber),
  recording_started_at: orNull(aTime),
  recording_ended_at: orNull(aTime),
};

export const transcriptContents = contents<TranscriptDocument>({
  maxBytes: maxDocumentBytes,
  shape: {
    _id: anId,
    account_id: anId,
    text: orNull(documentOf({ blocks: someBytes, size: aCount, crc: aCount })),
    recording: orNull(documentOf(recordingShape)),
    rank: optional(aNumber),
    [termsField]: optional(terms[termsField]),
  },
  async reads({ text, ...transcript }) {
    if (text !== null) await requireWhole({ ...text, blocks: text.blocks.buffer });
    return [exported(transcriptRecord({ ...transcript, text: null }))];
  },
  references: ({ _id }) => [referenceTo("session", _id)],
});

export const noteContents = contents<NoteDocument>({
  // With the search terms of the longest note.
  maxBytes: maxDocumentBytes,
  shape: {
    ...each(contactNoteFields.texts, unset(aText)),
    ...each(sessionNoteFields.texts, unset(aText)),
    ...each(contactNoteFields.times, unset(aTime)),
    _id: anId,
    account_id: anId,
    external_id: optional(aText),
    kind: oneOf("contact", "session"),
    parent_id: anId,
    label: unset(aText),
    type: oneOf(...noteTypeNames),
    position: aNumber,
    created_at: aTime,
    updated_at: aTime,
    rank: aNumber,
    ...terms,
  },
  reads: (note) => [exported(noteRecord(note)), [NoteSearchResultSchema, resultMessage(note)]],
  references: ({ kind, parent_id }) => [referenceTo(kind, parent_id)],
  unique: ({ account_id, external_id, kind }) => externalIdOf(account_id, external_id, kind),
});
