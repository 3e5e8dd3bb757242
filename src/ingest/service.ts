// records.ingest.v1.IngestService: batches of records, answered item by item.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { IngestService as Descriptor } from "../gen/records/ingest/v1/ingest_pb.ts";
import { ContactItemSchema, ContactNoteItemSchema, SessionItemSchema, SessionNoteItemSchema, TranscriptItemSchema } from "../gen/records/ingest/v1/ingest_pb.ts";
import type { Violation } from "../errors.ts";
import { violationsOf } from "../guards/validate.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { resultsOf } from "./batch.ts";
import type { ContactIngest } from "./contacts.ts";
import { itemwise } from "./itemwise.ts";
import type { NoteIngest } from "./notes.ts";
import type { SessionIngest } from "./sessions.ts";

/** The service over what writes each kind of record. */
export function createIngestService(contacts: ContactIngest, sessions: SessionIngest, notes: NoteIngest): OperatorService<typeof Descriptor> {
  return {
    async upsertContacts({ accountId, contacts: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(items, await itemwise(items, by(ContactItemSchema), (right) => contacts.upsert(scope, right)));
      return { $typeName: "records.ingest.v1.UpsertContactsResponse", results };
    },
    async upsertSessions({ accountId, sessions: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(items, await itemwise(items, by(SessionItemSchema), (right) => sessions.upsert(scope, right)));
      return { $typeName: "records.ingest.v1.UpsertSessionsResponse", results };
    },
    async putTranscripts({ accountId, transcripts: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const outcomes = await itemwise(items, by(TranscriptItemSchema), (right) => sessions.putTranscripts(scope, right));
      return { $typeName: "records.ingest.v1.PutTranscriptsResponse", results: resultsOf(items.map(() => ({})), outcomes) };
    },
    async upsertSessionNotes({ accountId, notes: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(items, await itemwise(items, by(SessionNoteItemSchema), (right) => notes.upsertOfSessions(scope, right)));
      return { $typeName: "records.ingest.v1.UpsertSessionNotesResponse", results };
    },
    async upsertContactNotes({ accountId, notes: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(items, await itemwise(items, by(ContactNoteItemSchema), (right) => notes.upsertOfContacts(scope, right)));
      return { $typeName: "records.ingest.v1.UpsertContactNotesResponse", results };
    },
    async archiveContacts({ accountId, contactIds }, operator) {
      const scope = await operator.scopeFor(accountId);
      const outcomes = await itemwise(contactIds, uuidViolations, (right) => contacts.setArchived(scope, right, true));
      return { $typeName: "records.ingest.v1.ArchiveContactsResponse", results: resultsOf(contactIds.map((id) => ({ id })), outcomes) };
    },
    async restoreContacts({ accountId, contactIds }, operator) {
      const scope = await operator.scopeFor(accountId);
      const outcomes = await itemwise(contactIds, uuidViolations, (right) => contacts.setArchived(scope, right, false));
      return { $typeName: "records.ingest.v1.RestoreContactsResponse", results: resultsOf(contactIds.map((id) => ({ id })), outcomes) };
    },
  };
}

function by(schema: DescMessage): (item: Message) => readonly Violation[] {
  return (item) => violationsOf(schema, item);
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function uuidViolations(id: string): readonly Violation[] {
  return uuidForm.test(id) ? [] : [{ field: "", rule: "string.uuid", message: "must be a valid UUID" }];
}
