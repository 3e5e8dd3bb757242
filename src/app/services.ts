// Creates the stores and the services of a database, which the composition root and the demo data share.
import type { MongoClient } from "mongodb";
import { isAnyErasing } from "../accounts/erasure-lease.ts";
import { createErasures, erasureCollection } from "../accounts/erasure.ts";
import { createOperatorActions } from "../accounts/operator-actions.ts";
import { accountCollection, createAccountStore } from "../accounts/store.ts";
import { createUsage, usageCollection } from "../accounts/usage.ts";
import { createLastUse } from "../api-keys/last-use.ts";
import { createApiKeyService } from "../api-keys/service.ts";
import { apiKeyCollection, createApiKeyStore } from "../api-keys/store.ts";
import { recordExport } from "../audit/exports.ts";
import { createAuditService } from "../audit/service.ts";
import { auditCollection, auditRetention, createAuditStore } from "../audit/store.ts";
import { createReadDocuments } from "../backup/read.ts";
import { createRemoveRestore, createRestore, restoreCollection } from "../backup/restore.ts";
import { createBackupService, createBackupStreams } from "../backup/service.ts";
import type { Config } from "../config/config.ts";
import { createContactSearch } from "../contacts/search.ts";
import { createContactService } from "../contacts/service.ts";
import type { RewriteCopies } from "../contacts/write.ts";
import { contactRebuild } from "../contacts/write.ts";
import { contactCollection, createContactStore } from "../contacts/store.ts";
import type { CollectionSpec, IndexSpec } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import type { OnTrouble } from "../db/run-periodically.ts";
import { createEraseResponses } from "../guards/erased-responses.ts";
import { claimCollection } from "../guards/idempotency.ts";
import { createBulkLoading } from "../ingest/bulk.ts";
import { createContactIngest } from "../ingest/contacts.ts";
import { createDeletion } from "../ingest/deletion.ts";
import { createExport } from "../ingest/export.ts";
import { createImport } from "../ingest/import.ts";
import { createProgressStore, importCollection } from "../ingest/progress-store.ts";
import { createIngestService } from "../ingest/service.ts";
import { createIngestStreams } from "../ingest/streams.ts";
import { checkedUpserts } from "../ingest/upserts.ts";
import type { Rebuild } from "../db/rebuild-terms.ts";
import { createNoteService } from "../notes/service.ts";
import { contactLabel, createNoteStore, noteCollection, noteRebuild } from "../notes/store.ts";
import { createNoteUpserts } from "../notes/upsert.ts";
import { createSessionService } from "../sessions/service.ts";
import { createSessionStore, sessionCollection, sessionRebuild } from "../sessions/store.ts";
import { prepareTranscripts } from "../sessions/transcript-preparation.ts";
import { createTranscriptSearch } from "../sessions/transcript-search.ts";
import { createTranscriptStore, transcriptCollection } from "../sessions/transcripts.ts";
import { createSessionUpserts } from "../sessions/upsert.ts";
import type { ServiceWatch } from "../observability/observability.ts";
import { endedCollection, logoutTokenCollection } from "../sign-in/ended-store.ts";
import { createEndUserSessions, createRemoveSessions } from "../sign-in/end-user-sessions.ts";
import { sessionCollection as dashboardSessionCollection } from "../sign-in/session-store.ts";
import { createSwitchStore, switchCollection } from "../switches/store.ts";

/**
 * Every collection, in the order in which an account is erased from them: referring records before those they refer to.
 * Most are erased by date: records of the same time are close on the disk, and those with neighbouring ids are not.
 */
export const allCollections: readonly CollectionSpec[] = [
  claimCollection,
  noteCollection,
  transcriptCollection,
  sessionCollection,
  contactCollection,
  apiKeyCollection,
  auditCollection,
  importCollection,
  usageCollection,
  accountCollection,
  dashboardSessionCollection,
  endedCollection,
  logoutTokenCollection,
  switchCollection,
  erasureCollection,
  restoreCollection,
];

/** The collections with search terms, and how their records get them. */
export const searchable: readonly { readonly collection: string; readonly rebuild: Rebuild }[] = [
  { collection: contactCollection.collection, rebuild: contactRebuild },
  { collection: sessionCollection.collection, rebuild: sessionRebuild },
  { collection: noteCollection.collection, rebuild: noteRebuild },
];

const unwatched: ServiceWatch = {
  trouble: () => () => undefined,
  imports: { ended: () => undefined, items: () => undefined },
};

/** Returns the indexes of every collection for these settings. */
export function indexesFor({ auditRetentionDays }: Pick<Config, "auditRetentionDays">): readonly IndexSpec[] {
  return [...allCollections, auditRetention(auditRetentionDays)];
}

/** Creates the stores of the records in a database, and the functions that write batches of them. */
function createRecordStores(client: MongoClient) {
  const notes = createNoteStore(client);
  const sessions = createSessionStore(client);
  const rewriteCopies: RewriteCopies = async (scope, { _id, full_name, inferred_name, email }, options) => {
    await sessions.renameClient(scope, _id, { full_name, inferred_name, email }, options);
    await notes.relabel(scope, "contact", _id, contactLabel({ full_name, inferred_name, email }), options);
  };
  const contacts = createContactStore(client, rewriteCopies);
  const transcripts = createTranscriptStore(client, sessions.lockNamed);
  const ofNotes = createNoteUpserts(client, contacts.lockNamed, sessions.lockNamed);
  const batches = createContactIngest(contacts);
  return {
    contacts,
    sessions,
    transcripts,
    notes,
    setArchived: batches.setArchived,
    upserts: checkedUpserts({
      contacts: batches.upsert,
      mergedContacts: (how) => (scope, items) => batches.merge(scope, items, how),
      sessions: createSessionUpserts(
        client,
        contacts.lockNamed,
        (scope, id, title, options) => notes.relabel(scope, "session", id, title, options),
        transcripts.move,
      ),
      transcripts: transcripts.put,
      session_notes: ofNotes.upsertOfSessions,
      contact_notes: ofNotes.upsertOfContacts,
    }),
  };
}

/**
 * Creates the stores and services of one database. `redis` is called whenever Redis is needed, because it connects
 * later or is not used. `watch` observes the work outside requests.
 */
export function createServices(
  client: MongoClient,
  redis: () => RedisLink | undefined = () => undefined,
  watch: ServiceWatch = unwatched,
) {
  const db = client.db();
  const records = createRecordStores(client);
  const accounts = createAccountStore(db);
  const keys = createApiKeyStore(db);
  const auditTrouble = watch.trouble("audit_log");
  const audit = createAuditStore(db, auditTrouble);
  const lastUse = createLastUse(db, watch.trouble("last_use"));
  const [imports, endUserSessions] = [createProgressStore(db), createEndUserSessions(db)];
  const bulkLoading = createBulkLoading(db, imports, () => isAnyErasing(client));
  return {
    accounts,
    erasures: createErasures({
      client,
      specs: allCollections,
      redis,
      prepareNoteDeletion: bulkLoading.dropIndexBeforeErasure,
      removeAccount: accounts.remove,
      removeKeys: keys.removeAll,
      removeSessions: createRemoveSessions(db),
      removeRestore: createRemoveRestore(client),
    }),
    operatorActions: createOperatorActions({ client, accounts, keys, audit, endUserSessions }),
    apiKeys: keys,
    lastUse,
    usage: createUsage(db, watch.trouble("usage")),
    apiKeyService: createApiKeyService({ client, keys, accounts, audit, lastUse }),
    audit,
    auditLog: createAuditService(audit, auditTrouble),
    switches: createSwitchStore(client),
    records,
    contacts: createContactService(records.contacts, createContactSearch(client), records.notes),
    sessions: createSessionService(records.sessions, records.transcripts, createTranscriptSearch(client)),
    notes: createNoteService(records.notes, records.sessions.summaries),
    ingest: createIngestService(
      records.upserts,
      records.setArchived,
      createDeletion(client, records, createEraseResponses(client, redis)),
    ),
    backup: createBackupService(createRestore(client)),
    streams: new Map([
      ...createIngestStreams(
        createImport(records.upserts, imports, bulkLoading, watch.imports),
        createExport(client),
        recordExport(audit),
      ),
      ...createBackupStreams(createReadDocuments(client), recordExport(audit)),
    ]),
    bulkLoading,
    /** Prepares the transcripts of an earlier release for their search, in the background. */
    prepareTranscripts: (onTrouble: OnTrouble) => prepareTranscripts(client, onTrouble),
  };
}

/** The services of one database. */
export type Services = ReturnType<typeof createServices>;
