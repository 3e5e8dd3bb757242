// The audit log in MongoDB: entries are added and listed, never changed.
import type { ClientSession, Db } from "mongodb";
import { MongoBulkWriteError, UUID } from "mongodb";
import type { AuditEvent as Event } from "../gen/records/v1/audit_pb.ts";
import { duplicateKey } from "../db/error-codes.ts";
import { collections } from "../db/collections.ts";
import { findAll } from "../db/aggregate.ts";
import { createBatchWriter } from "../db/batch-writer.ts";
import { insertManyFenced, insertFenced } from "../db/insert.ts";
import type { CollectionSpec, IndexSpec } from "../db/mongo.ts";
import type { PageRequest } from "../db/page.ts";
import type { OnTrouble } from "../db/run-periodically.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import type { Actor } from "../call/scope.ts";

/** The type of an entry: an event of the interface, whose name is stored in lower case. */
export type AuditEvent = Lowercase<Exclude<keyof typeof Event, "UNSPECIFIED" | "OTHER">>;

/** A stored entry. It contains no secret. */
export interface AuditDocument {
  _id: UUID;
  account_id: UUID;
  created_at: Date;
  /** An `AuditEvent`, or an event that a later release wrote. */
  event: string;
  detail: string | null;
  key_prefix: string | null;
  person: string | null;
  request_id: string;
  address: string;
}

/** The content of an entry, apart from its time and account. */
export interface AuditFact {
  readonly event: AuditEvent;
  readonly detail?: string;
  readonly keyPrefix?: string;
}

/** The audit logs of all accounts. */
export interface AuditStore {
  /** Adds an entry in a write of its own. */
  append(accountId: UUID, actor: Actor, fact: AuditFact, deadline: Deadline): Promise<void>;
  /** Adds an entry in the transaction of the event that it describes, so that both are stored or neither. */
  appendIn(session: ClientSession, accountId: UUID, actor: Actor, fact: AuditFact): Promise<void>;
  /** Adds an entry that no request waits for, together with others. A crash can lose it. */
  appendSoon(accountId: UUID, actor: Actor, fact: AuditFact): void;
  /** Writes the waiting entries. Rejects if MongoDB is unavailable. */
  flush(): Promise<void>;
  /**
   * Writes the waiting entries when the instance stops. Tries until `until`, in milliseconds of `performance.now()`,
   * and reports the entries that are lost.
   */
  close(until: number): Promise<void>;
  /** Returns a page, newest first, and one entry more if there are further ones. */
  list(accountId: UUID, page: PageRequest, deadline: Deadline | undefined): Promise<AuditDocument[]>;
}

export const auditCollection: CollectionSpec = {
  collection: collections.auditLog,
  erasure: { key: "created_at" },
  indexes: [{ key: { account_id: 1, created_at: -1, _id: -1 }, name: "list" }],
};

const secondsADay = 86_400;

/**
 * Returns the TTL index that deletes entries after this many days. With 0, there is no index, and entries never expire.
 */
export function auditRetention(days: number): IndexSpec {
  const [name, log] = ["expiry", { collection: collections.auditLog, setting: "AUDIT_RETENTION_DAYS" }] as const;
  if (days === 0) return { ...log, indexes: [], retired: [name] };
  return { ...log, indexes: [{ key: { created_at: 1 }, name, expireAfterSeconds: days * secondsADay }] };
}

const batchMs = 100;

/** Creates the store. `onTrouble` is called when entries are lost. */
export function createAuditStore(db: Db, onTrouble: OnTrouble): AuditStore {
  const entries = db.collection<AuditDocument>(collections.auditLog);
  const soon = createBatchWriter<AuditDocument>(
    batchMs,
    (added) =>
      write(db.client, deadlineIn(deadlineMs), (options, fence) =>
        insertManyFenced(entries, added, options, fence),
      ).catch(ignoreDuplicates),
    (error) => onTrouble("audit log entries were lost", error),
  );

  return {
    async append(accountId, actor, fact, deadline) {
      const entry = entryOf(accountId, actor, fact);
      await write(db.client, deadline, (options, fence) => insertFenced(entries, entry, options, fence));
    },
    async appendIn(session, accountId, actor, fact) {
      await entries.insertOne(entryOf(accountId, actor, fact), { session });
    },
    appendSoon: (accountId, actor, fact) => soon.add(entryOf(accountId, actor, fact)),
    flush: soon.flush,
    close: soon.close,
    async list(accountId, { limit, offset }, deadline) {
      await soon.flush();
      return findAll(
        entries,
        { account_id: accountId },
        { sort: { created_at: -1, _id: -1 }, skip: offset, limit: limit + 1, deadline },
      );
    },
  };
}

/** Ignores duplicates: if the acknowledgement of a write was lost, its entries are added again. */
function ignoreDuplicates(error: unknown): void {
  const failed = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  if (failed.length === 0 || failed.some(({ code }) => code !== duplicateKey)) throw error;
}

function entryOf(
  accountId: UUID,
  { person, requestId, address }: Actor,
  { event, detail, keyPrefix }: AuditFact,
): AuditDocument {
  return {
    _id: new UUID(),
    account_id: accountId,
    created_at: new Date(),
    event,
    detail: detail ?? null,
    key_prefix: keyPrefix ?? null,
    person: person ?? null,
    request_id: requestId,
    address,
  };
}
