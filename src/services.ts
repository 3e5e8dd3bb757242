// The services over their stores, wired: what the composition root and the demo data share.
import type { MongoClient } from "mongodb";
import { isAnyErasing } from "./accounts/erasure-lease.ts";
import { createErasures, erasureIndexes } from "./accounts/erasure.ts";
import { createLevers } from "./accounts/levers.ts";
import { accountIndexes, createAccountStore } from "./accounts/store.ts";
import { createLastUse } from "./api-keys/last-use.ts";
import { createApiKeyService } from "./api-keys/service.ts";
import { apiKeyIndexes, createApiKeyStore } from "./api-keys/store.ts";
import { recordExport } from "./audit/exports.ts";
import { createAuditService } from "./audit/service.ts";
import { auditIndexes, auditRetention, createAuditStore } from "./audit/store.ts";
import type { Config } from "./config.ts";
import { createContactSearch } from "./contacts/search.ts";
import { createContactService } from "./contacts/service.ts";
import type { RewriteCopies } from "./contacts/store.ts";
import { contactIndexes, createContactStore } from "./contacts/store.ts";
import type { IndexSpec } from "./db/mongo.ts";
import type { RedisLink } from "./db/redis.ts";
import type { OnTrouble } from "./db/repeat.ts";
import { transaction } from "./db/write.ts";
import { createEraseAnswers } from "./guards/erased-answers.ts";
import { claimIndexes } from "./guards/idempotency.ts";
import { createBulkLoading } from "./ingest/bulk.ts";
import { createContactIngest } from "./ingest/contacts.ts";
import { createDeletion } from "./ingest/deletion.ts";
import { createExport } from "./ingest/export.ts";
import type { ImportWatch } from "./ingest/import.ts";
import { createImport } from "./ingest/import.ts";
import { createNoteIngest } from "./ingest/notes.ts";
import { createProgressStore, importIndexes } from "./ingest/progress-store.ts";
import { createIngestService } from "./ingest/service.ts";
import { createSessionIngest } from "./ingest/sessions.ts";
import { createIngestStreams } from "./ingest/streams.ts";
import { createNoteService } from "./notes/service.ts";
import { contactLabel, createNoteStore, noteIndexes } from "./notes/store.ts";
import { createSessionService } from "./sessions/service.ts";
import { createSessionStore, sessionIndexes } from "./sessions/store.ts";
import { createTranscriptStore, transcriptIndexes } from "./sessions/transcripts.ts";
import { endedIndexes, logoutTokenIndexes } from "./sign-in/ended-store.ts";
import { createEndPerson } from "./sign-in/end-person.ts";
import { sessionIndexes as dashboardSessionIndexes } from "./sign-in/session-store.ts";
import { createSwitchStore, switchIndexes } from "./switches/store.ts";

/** The indexes of every collection, except those that depend on a setting. */
export const allIndexes = [
  contactIndexes,
  noteIndexes,
  sessionIndexes,
  transcriptIndexes,
  apiKeyIndexes,
  accountIndexes,
  auditIndexes,
  dashboardSessionIndexes,
  endedIndexes,
  logoutTokenIndexes,
  claimIndexes,
  importIndexes,
  switchIndexes,
  erasureIndexes,
];

/** Hears of what the services do beside the requests. */
export interface ServiceWatch {
  /** Hears of the failures of a task in the background. */
  trouble(task: string): OnTrouble;
  readonly imports: ImportWatch;
}

const unwatched: ServiceWatch = {
  trouble: () => () => undefined,
  imports: { ended: () => undefined, items: () => undefined },
};

/** The indexes of every collection for these settings. */
export function indexesFor({ auditRetentionDays }: Pick<Config, "auditRetentionDays">): readonly IndexSpec[] {
  return [...allIndexes, auditRetention(auditRetentionDays)];
}

/**
 * What there is over one database. `redis` is asked for when it is needed: it is connected later, or there is none.
 * `watch` hears of what happens beside the requests.
 */
export function createServices(
  client: MongoClient,
  redis: () => RedisLink | undefined = () => undefined,
  watch: ServiceWatch = unwatched,
) {
  const db = client.db();
  const notes = createNoteStore(client);
  const sessions = createSessionStore(client);
  const rewriteCopies: RewriteCopies = async (scope, { _id, full_name, inferred_name, email }, options) => {
    await sessions.renameClient(scope, _id, { full_name, inferred_name, email }, options);
    await notes.relabel(scope, "contact", _id, contactLabel({ full_name, inferred_name, email }), options);
  };
  const contacts = createContactStore(client, rewriteCopies);
  const accounts = createAccountStore(db);
  const keys = createApiKeyStore(db);
  const audit = createAuditStore(db, watch.trouble("audit_log"));
  const lastUse = createLastUse(db, watch.trouble("last_use"));
  const ingest = {
    contacts: createContactIngest(client, rewriteCopies),
    sessions: createSessionIngest(client, notes),
    notes: createNoteIngest(client),
  };
  const imports = createProgressStore(db);
  const bulkLoading = createBulkLoading(db, imports, () => isAnyErasing(client));
  return {
    accounts,
    erasures: createErasures(client, redis, bulkLoading.easeErasure),
    levers: createLevers({ client, accounts, keys, audit, endPerson: createEndPerson(db) }),
    apiKeys: keys,
    lastUse,
    apiKeyService: createApiKeyService({
      keys,
      accounts,
      audit,
      lastUse,
      transaction: (deadline, work) => transaction(client, deadline, work),
    }),
    audit,
    auditLog: createAuditService(audit),
    switches: createSwitchStore(client),
    contacts: createContactService(contacts, createContactSearch(client), notes),
    sessions: createSessionService(sessions, createTranscriptStore(client)),
    notes: createNoteService(notes),
    ingest: createIngestService(
      ingest.contacts,
      ingest.sessions,
      ingest.notes,
      createDeletion(client, sessions.detachClient, createEraseAnswers(client, redis)),
    ),
    ingestStreams: createIngestStreams(
      createImport(ingest.contacts, ingest.sessions, ingest.notes, imports, bulkLoading, watch.imports),
      createExport(client),
      recordExport(audit),
    ),
    bulkLoading,
  };
}

/** The services of one database. */
export type Services = ReturnType<typeof createServices>;
