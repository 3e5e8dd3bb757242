// records.ingest.v1.IngestService: batches of records, answered item by item.
import type { DeleteRecordsRequest, IngestService as Descriptor } from "../gen/records/ingest/v1/ingest_pb.ts";
import { ExternalNameSchema, RecordKind } from "../gen/records/ingest/v1/ingest_pb.ts";
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../gen/records/ingest/v1/items_pb.ts";
import { uuidForm } from "../db/mongo.ts";
import type { Violation } from "../errors.ts";
import { refuse } from "../errors.ts";
import { violationsOf } from "../guards/validate.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { resultsOf } from "./batch.ts";
import type { ContactIngest } from "./contacts.ts";
import type { DeletedKind, DeletedName, Deletion } from "./deletion.ts";
import { byRulesOf, itemwise } from "./itemwise.ts";
import type { NoteIngest } from "./notes.ts";
import type { SessionIngest } from "./sessions.ts";

/** The service over what writes each kind of record. */
export function createIngestService(
  contacts: ContactIngest,
  sessions: SessionIngest,
  notes: NoteIngest,
  deletion: Deletion,
): OperatorService<typeof Descriptor> {
  return {
    async upsertContacts({ accountId, contacts: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(
        items,
        await itemwise(items, byRulesOf(ContactItemSchema), (right) => contacts.upsert(scope, right)),
      );
      return { $typeName: "records.ingest.v1.UpsertContactsResponse", results };
    },
    async upsertSessions({ accountId, sessions: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(
        items,
        await itemwise(items, byRulesOf(SessionItemSchema), (right) => sessions.upsert(scope, right)),
      );
      return { $typeName: "records.ingest.v1.UpsertSessionsResponse", results };
    },
    async putTranscripts({ accountId, transcripts: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const outcomes = await itemwise(items, byRulesOf(TranscriptItemSchema), (right) =>
        sessions.putTranscripts(scope, right),
      );
      return {
        $typeName: "records.ingest.v1.PutTranscriptsResponse",
        results: resultsOf(
          items.map(({ sessionId: id, sessionExternalId: externalId }) => ({ id, externalId })),
          outcomes,
        ),
      };
    },
    async upsertSessionNotes({ accountId, notes: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(
        items,
        await itemwise(items, byRulesOf(SessionNoteItemSchema), (right) => notes.upsertOfSessions(scope, right)),
      );
      return { $typeName: "records.ingest.v1.UpsertSessionNotesResponse", results };
    },
    async upsertContactNotes({ accountId, notes: items }, operator) {
      const scope = await operator.scopeFor(accountId);
      const results = resultsOf(
        items,
        await itemwise(items, byRulesOf(ContactNoteItemSchema), (right) => notes.upsertOfContacts(scope, right)),
      );
      return { $typeName: "records.ingest.v1.UpsertContactNotesResponse", results };
    },
    async archiveContacts({ accountId, contactIds }, operator) {
      const scope = await operator.scopeFor(accountId);
      const outcomes = await itemwise(contactIds, uuidViolations, (right) => contacts.setArchived(scope, right, true));
      return {
        $typeName: "records.ingest.v1.ArchiveContactsResponse",
        results: resultsOf(
          contactIds.map((id) => ({ id })),
          outcomes,
        ),
      };
    },
    async restoreContacts({ accountId, contactIds }, operator) {
      const scope = await operator.scopeFor(accountId);
      const outcomes = await itemwise(contactIds, uuidViolations, (right) => contacts.setArchived(scope, right, false));
      return {
        $typeName: "records.ingest.v1.RestoreContactsResponse",
        results: resultsOf(
          contactIds.map((id) => ({ id })),
          outcomes,
        ),
      };
    },
    async deleteRecords(request, operator) {
      const scope = await operator.scopeFor(request.accountId);
      const named = deletedNames(request);
      const outcomes = await itemwise(
        named,
        ({ violations }) => violations,
        (right) =>
          deletion.delete(
            scope,
            right.map(({ name }) => name),
          ),
      );
      return {
        $typeName: "records.ingest.v1.DeleteRecordsResponse",
        results: resultsOf(
          named.map(({ name }) => name),
          outcomes,
        ),
      };
    },
  };
}

const mostDeleted = 1_000;

const deletedKinds: Readonly<Record<RecordKind, DeletedKind | undefined>> = {
  [RecordKind.UNSPECIFIED]: undefined,
  [RecordKind.CONTACT]: "contact",
  [RecordKind.SESSION]: "session",
  [RecordKind.TRANSCRIPT]: "transcript",
  [RecordKind.SESSION_NOTE]: "session_note",
  [RecordKind.CONTACT_NOTE]: "contact_note",
};

/** A name, and what is wrong with it. */
interface CheckedName {
  readonly name: DeletedName;
  readonly violations: readonly Violation[];
}

/** The records that a request names, in the order of its fields. */
function deletedNames({
  contactIds,
  sessionIds,
  transcriptIds,
  noteIds,
  external,
}: DeleteRecordsRequest): readonly CheckedName[] {
  const byId = (kind: DeletedKind, ids: readonly string[]): CheckedName[] =>
    ids.map((id) => ({ name: { kind, id }, violations: uuidViolations(id) }));
  const names = [
    ...byId("contact", contactIds),
    ...byId("session", sessionIds),
    ...byId("transcript", transcriptIds),
    ...byId("note", noteIds),
    ...external.map((one) => ({
      name: { kind: deletedKinds[one.kind], externalId: one.externalId },
      violations: violationsOf(ExternalNameSchema, one),
    })),
  ];
  const message = `must name from 1 to ${mostDeleted.toLocaleString("en")} records: contact_ids, session_ids, transcript_ids, note_ids, external`;
  if (names.length === 0 || names.length > mostDeleted) refuse([{ field: "", rule: "items", message }]);
  return names;
}

function uuidViolations(id: string): readonly Violation[] {
  return uuidForm.test(id) ? [] : [{ field: "", rule: "string.uuid", message: "must be a valid UUID" }];
}
