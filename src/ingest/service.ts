// Implements records.ingest.v1.IngestService: writes, archives and deletes batches of records, with a result for each
// item.
import type { ItemResult } from "../gen/records/ingest/v1/items_pb.ts";
import type {
  ArchiveContactsRequest,
  DeleteRecordsRequest,
  IngestService as Descriptor,
  RestoreContactsRequest,
} from "../gen/records/ingest/v1/ingest_pb.ts";
import { ExternalNameSchema, RecordKind } from "../gen/records/ingest/v1/ingest_pb.ts";
import { uuidForm } from "../text/uuid.ts";
import type { Violation } from "../call/errors.ts";
import { rejectInput } from "../call/errors.ts";
import type { Operator } from "../guards/internal.ts";
import { violationsOf } from "../guards/validate.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { ContactIngest } from "./contacts.ts";
import type { Upserts } from "./upserts.ts";
import type { DeletedKind, DeletedName, Deletion } from "./deletion.ts";
import { itemwise, resultsOf } from "./itemwise.ts";

/** The maximum number of search terms in a batch. On two slow cores, MongoDB writes about 100,000 a second. */
const maxTerms = 300_000;

/** Creates the service. */
export function createIngestService(
  upserts: Upserts,
  setArchived: ContactIngest["setArchived"],
  deletion: Deletion,
): OperatorService<typeof Descriptor> {
  return {
    async upsertContacts({ accountId, contacts: items, ...rest }, operator) {
      requireAllRead(rest);
      const results = resultsOf(items, await upserts.contacts(await operator.scopeFor(accountId), items, maxTerms));
      return { $typeName: "records.ingest.v1.UpsertContactsResponse", results };
    },
    async upsertSessions({ accountId, sessions: items, ...rest }, operator) {
      requireAllRead(rest);
      const results = resultsOf(items, await upserts.sessions(await operator.scopeFor(accountId), items, maxTerms));
      return { $typeName: "records.ingest.v1.UpsertSessionsResponse", results };
    },
    async putTranscripts({ accountId, transcripts: items, ...rest }, operator) {
      requireAllRead(rest);
      const names = items.map(({ sessionId: id, sessionExternalId: externalId }) => ({ id, externalId }));
      const outcomes = await upserts.transcripts(await operator.scopeFor(accountId), items, maxTerms);
      const results = resultsOf(names, outcomes);
      return { $typeName: "records.ingest.v1.PutTranscriptsResponse", results };
    },
    async upsertSessionNotes({ accountId, notes: items, ...rest }, operator) {
      requireAllRead(rest);
      const results = resultsOf(
        items,
        await upserts.session_notes(await operator.scopeFor(accountId), items, maxTerms),
      );
      return { $typeName: "records.ingest.v1.UpsertSessionNotesResponse", results };
    },
    async upsertContactNotes({ accountId, notes: items, ...rest }, operator) {
      requireAllRead(rest);
      const results = resultsOf(
        items,
        await upserts.contact_notes(await operator.scopeFor(accountId), items, maxTerms),
      );
      return { $typeName: "records.ingest.v1.UpsertContactNotesResponse", results };
    },
    async archiveContacts(request, operator) {
      const results = await archived(setArchived, request, operator, true);
      return { $typeName: "records.ingest.v1.ArchiveContactsResponse", results };
    },
    async restoreContacts(request, operator) {
      const results = await archived(setArchived, request, operator, false);
      return { $typeName: "records.ingest.v1.RestoreContactsResponse", results };
    },
    async deleteRecords(request, operator) {
      const results = await deleted(deletion, request, operator);
      return { $typeName: "records.ingest.v1.DeleteRecordsResponse", results };
    },
  };
}

async function archived(
  setArchived: ContactIngest["setArchived"],
  { accountId, contactIds, ...rest }: ArchiveContactsRequest | RestoreContactsRequest,
  operator: Operator,
  archive: boolean,
): Promise<ItemResult[]> {
  requireAllRead(rest);
  const scope = await operator.scopeFor(accountId);
  const outcomes = await itemwise(scope, contactIds, uuidViolations, (valid) => setArchived(scope, valid, archive));
  return resultsOf(
    contactIds.map((id) => ({ id })),
    outcomes,
  );
}

async function deleted(
  deletion: Deletion,
  { accountId, ...names }: DeleteRecordsRequest,
  operator: Operator,
): Promise<ItemResult[]> {
  const scope = await operator.scopeFor(accountId);
  const named = deletedNames(names);
  const outcomes = await itemwise(
    scope,
    named,
    ({ violations }) => violations,
    (right) =>
      deletion.delete(
        scope,
        right.map(({ name }) => name),
      ),
  );
  return resultsOf(
    named.map(({ name }) => name),
    outcomes,
  );
}

const maxDeleted = 1_000;

const deletedKinds: Readonly<Record<RecordKind, DeletedKind | undefined>> = {
  [RecordKind.UNSPECIFIED]: undefined,
  [RecordKind.CONTACT]: "contact",
  [RecordKind.SESSION]: "session",
  [RecordKind.TRANSCRIPT]: "transcript",
  [RecordKind.SESSION_NOTE]: "session_note",
  [RecordKind.CONTACT_NOTE]: "contact_note",
};

/** A name and its violations. */
interface CheckedName {
  readonly name: DeletedName;
  readonly violations: readonly Violation[];
}

/**
 * Returns the records that a request names, in the order of its fields. Fails with INVALID_REQUEST if their number is 0
 * or exceeds `maxDeleted`.
 */
function deletedNames({
  contactIds,
  sessionIds,
  transcriptIds,
  noteIds,
  external,
  ...rest
}: Omit<DeleteRecordsRequest, "accountId">): readonly CheckedName[] {
  requireAllRead(rest);
  const count = [contactIds, sessionIds, transcriptIds, noteIds, external].reduce((sum, { length }) => sum + length, 0);
  const message = `must name from 1 to ${maxDeleted.toLocaleString("en")} records: contact_ids, session_ids, transcript_ids, note_ids, external`;
  // Counted first: checking each of a hundred thousand names would block other requests.
  if (count === 0 || count > maxDeleted) rejectInput([{ field: "", rule: "items", message }]);
  const byId = (kind: DeletedKind, ids: readonly string[]): CheckedName[] =>
    ids.map((id) => ({ name: { kind, id }, violations: uuidViolations(id) }));
  return [
    ...byId("contact", contactIds),
    ...byId("session", sessionIds),
    ...byId("transcript", transcriptIds),
    ...byId("note", noteIds),
    ...external.map((one) => ({
      name: { kind: deletedKinds[one.kind], externalId: one.externalId },
      violations: violationsOf(ExternalNameSchema, one),
    })),
  ];
}

function uuidViolations(id: string): readonly Violation[] {
  return uuidForm.test(id) ? [] : [{ field: "", rule: "string.uuid", message: "must be a valid UUID" }];
}
