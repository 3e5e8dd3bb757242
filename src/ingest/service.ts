// records.ingest.v1.IngestService: batches of records, written item by item.
import type { IngestService as Descriptor } from "../gen/records/ingest/v1/ingest_pb.ts";
import { uuid } from "../db/mongo.ts";
import type { OperatorService } from "../rpc/routes.ts";
import type { ContactIngest } from "./contacts.ts";
import { eachItem } from "./items.ts";
import type { SessionIngest } from "./sessions.ts";

/** The service over what writes each kind of record. */
export function createIngestService(contacts: ContactIngest, sessions: SessionIngest): OperatorService<typeof Descriptor> {
  const byId = (id: string): { id: string } => ({ id });
  return {
    async upsertContacts({ accountId, contacts: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = await eachItem(items, (item) => item, (item) => contacts.upsert(scope, item));
      return { $typeName: "records.ingest.v1.UpsertContactsResponse", results };
    },
    async upsertSessions({ accountId, sessions: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = await eachItem(items, (item) => item, (item) => sessions.upsertSession(scope, item));
      return { $typeName: "records.ingest.v1.UpsertSessionsResponse", results };
    },
    async putTranscripts({ accountId, transcripts }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = await eachItem(transcripts, () => ({}), (item) => sessions.putTranscript(scope, item));
      return { $typeName: "records.ingest.v1.PutTranscriptsResponse", results };
    },
    async upsertSessionNotes({ accountId, notes }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = await eachItem(notes, (item) => item, (item) => sessions.upsertSessionNote(scope, item));
      return { $typeName: "records.ingest.v1.UpsertSessionNotesResponse", results };
    },
    async upsertContactNotes({ accountId, notes }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = await eachItem(notes, (item) => item, (item) => sessions.upsertContactNote(scope, item));
      return { $typeName: "records.ingest.v1.UpsertContactNotesResponse", results };
    },
    async archiveContacts({ accountId, contactIds }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = await eachItem(contactIds, byId, (id) => contacts.setArchived(scope, uuid(id), true));
      return { $typeName: "records.ingest.v1.ArchiveContactsResponse", results };
    },
    async restoreContacts({ accountId, contactIds }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = await eachItem(contactIds, byId, (id) => contacts.setArchived(scope, uuid(id), false));
      return { $typeName: "records.ingest.v1.RestoreContactsResponse", results };
    },
  };
}
