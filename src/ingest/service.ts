// records.ingest.v1.IngestService: batches of records, answered item by item.
import type { IngestService as Descriptor } from "../gen/records/ingest/v1/ingest_pb.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { resultsOf } from "./batch.ts";
import type { ContactIngest } from "./contacts.ts";
import type { NoteIngest } from "./notes.ts";
import type { SessionIngest } from "./sessions.ts";

/** The service over what writes each kind of record. */
export function createIngestService(contacts: ContactIngest, sessions: SessionIngest, notes: NoteIngest): OperatorService<typeof Descriptor> {
  return {
    async upsertContacts({ accountId, contacts: items }, operator) {
      const results = resultsOf(items, await contacts.upsert(await operator.scopeFor(accountId), items));
      return { $typeName: "records.ingest.v1.UpsertContactsResponse", results };
    },
    async upsertSessions({ accountId, sessions: items }, operator) {
      const results = resultsOf(items, await sessions.upsert(await operator.scopeFor(accountId), items));
      return { $typeName: "records.ingest.v1.UpsertSessionsResponse", results };
    },
    async putTranscripts({ accountId, transcripts: items }, operator) {
      const outcomes = await sessions.putTranscripts(await operator.scopeFor(accountId), items);
      return { $typeName: "records.ingest.v1.PutTranscriptsResponse", results: resultsOf(items.map(() => ({})), outcomes) };
    },
    async upsertSessionNotes({ accountId, notes: items }, operator) {
      const results = resultsOf(items, await notes.upsertOfSessions(await operator.scopeFor(accountId), items));
      return { $typeName: "records.ingest.v1.UpsertSessionNotesResponse", results };
    },
    async upsertContactNotes({ accountId, notes: items }, operator) {
      const results = resultsOf(items, await notes.upsertOfContacts(await operator.scopeFor(accountId), items));
      return { $typeName: "records.ingest.v1.UpsertContactNotesResponse", results };
    },
    async archiveContacts({ accountId, contactIds }, operator) {
      const outcomes = await contacts.setArchived(await operator.scopeFor(accountId), contactIds, true);
      return { $typeName: "records.ingest.v1.ArchiveContactsResponse", results: resultsOf(contactIds.map((id) => ({ id })), outcomes) };
    },
    async restoreContacts({ accountId, contactIds }, operator) {
      const outcomes = await contacts.setArchived(await operator.scopeFor(accountId), contactIds, false);
      return { $typeName: "records.ingest.v1.RestoreContactsResponse", results: resultsOf(contactIds.map((id) => ({ id })), outcomes) };
    },
  };
}
