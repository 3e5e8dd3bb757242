// Restores the documents of a backup: whole accounts that do not exist in the database, batch by batch.
import type { ClientSession, Document, MongoClient, UUID } from "mongodb";
import type { AccountDocument } from "../accounts/store.ts";
import { identitiesOf, withIdentity } from "../accounts/store.ts";
import { findFirst } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import { addStored, putStored } from "../db/put-stored.ts";
import { transaction } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { Claim, StoredDocument } from "../gen/records/admin/v1/backup_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { claimsOf, requireDistinct, requireOwnIds } from "./claims.ts";
import { putEnds } from "./ends.ts";
import { ownerField } from "./kept.ts";
import type { Parsed } from "./parse.ts";
import { accountIn, parse } from "./parse.ts";

/** The marker of an account's restore. From the first batch on, no other backup can be restored into the account. */
interface RestoreDocument {
  _id: UUID;
  backup: string;
  begun_at: Date;
  /** Changes with every batch, so that concurrent batches of an account conflict and one waits for the other. */
  batches: number;
  done_at?: Date;
}

export const restoreCollection: CollectionSpec = {
  collection: collections.restores,
  erasure: { key: "_id", filter: ({ id }) => ({ _id: id }) },
  indexes: [],
};

/** The backup, and the account that is restored from it. */
export interface Restoring {
  readonly backup: string;
  /** Undefined for the service's own documents. */
  readonly accountId: UUID | undefined;
  readonly deadline: Deadline;
}

/** A restore of documents. Both methods reject the same documents. */
export interface Restore {
  /**
   * Checks documents without writing. Fails with INVALID_REQUEST if they are invalid, or if they name documents of
   * another account. Fails with ALREADY_EXISTS if the account cannot be restored.
   */
  check(restoring: Restoring, documents: readonly StoredDocument[]): Promise<RestoreState>;
  /** Writes all documents of a batch or none. Fails as `check` does. */
  write(restoring: Restoring, documents: readonly StoredDocument[]): Promise<RestoreState>;
}

/** The state of a restore. */
export interface RestoreState {
  /** Whether the account is restored completely. */
  readonly complete: boolean;
  /** What the documents take in the database, if they were only checked. */
  readonly claims: Claim[];
}

/** Creates the restore for the client's database. */
export function createRestore(client: MongoClient): Restore {
  const opened = openCollections(client);
  return {
    async check(restoring, documents) {
      const { backup, accountId, deadline } = restoring;
      const parsed = await parseOwn(client, restoring, documents);
      if (accountId === undefined) return { complete: false, claims: [] };
      const { accounts, erasures, restores } = opened;
      const account = accountIn(parsed);
      // A deleted account keeps the marker until the end of its erasure.
      if ((await findFirst(erasures, { _id: accountId }, { deadline })) !== undefined) failDeleted();
      const marker = await findFirst<RestoreDocument>(restores, { _id: accountId }, { deadline });
      if (isDone(marker, backup)) return { complete: true, claims: [] };
      if ((await findFirst(accounts, { _id: accountId }, { deadline })) !== undefined) failTaken();
      const other = account && (await findFirst<AccountDocument>(accounts, { $or: namesOf(account) }, { deadline }));
      if (other !== undefined) failName(`The account ${other._id.toHexString()} here`);
      return { complete: false, claims: claimsOf(parsed, accountId) };
    },
    async write(restoring, documents) {
      const { backup, accountId, deadline } = restoring;
      const parsed = await parseOwn(client, restoring, documents);
      try {
        const complete = await transaction(client, deadline, async (session) => {
          if (accountId !== undefined && (await begin(opened, accountId, backup, session))) return true;
          // Commands of a transaction cannot run concurrently.
          for (const [name, group] of byCollection(parsed)) {
            const collection = client.db().collection<Document>(name);
            if (accountId !== undefined) await putStored(collection, group, { [ownerField(name)]: accountId }, session);
            else if (name === collections.endedSessions) await putEnds(collection, group, session);
            else await addStored(collection, group, session);
          }
          if (accountId === undefined || accountIn(parsed) === undefined) return false;
          return finish(opened, accountId, session);
        });
        return { complete, claims: [] };
      } catch (error) {
        if (duplicateIndex(error) !== undefined) failName("Another account or record");
        throw error;
      }
    },
  };
}

/** Parses the documents. Fails if they are invalid, or if they name documents of another account. */
async function parseOwn(
  client: MongoClient,
  { accountId, deadline }: Restoring,
  documents: readonly StoredDocument[],
): Promise<readonly Parsed[]> {
  const parsed = await parse(documents, accountId, deadline);
  if (accountId !== undefined) {
    requireDistinct(claimsOf(parsed, accountId));
    await requireOwnIds(client.db(), parsed, accountId, deadline);
  }
  return parsed;
}

/**
 * Returns a function that removes the restore marker of an account in a transaction, and returns whether there was one.
 * The removal conflicts with a concurrent batch. If the same transaction adds an erasure, later batches are rejected.
 */
export function createRemoveRestore(client: MongoClient) {
  const { restores } = openCollections(client);
  return async (_id: UUID, session: ClientSession): Promise<boolean> =>
    (await restores.deleteOne({ _id }, { session })).deletedCount === 1;
}

function openCollections(client: MongoClient) {
  const db = client.db();
  return {
    accounts: db.collection<AccountDocument>(collections.accounts),
    erasures: db.collection<{ _id: UUID }>(collections.erasures),
    restores: db.collection<RestoreDocument>(collections.restores),
  };
}

/**
 * Marks the account as being restored. Returns true if this backup is already restored completely. Fails with
 * ALREADY_EXISTS if the account exists, was deleted, or is restored from another backup.
 */
async function begin(
  { accounts, erasures, restores }: ReturnType<typeof openCollections>,
  id: UUID,
  backup: string,
  session: ClientSession,
): Promise<boolean> {
  const marked = { $setOnInsert: { backup, begun_at: new Date() }, $inc: { batches: 1 } };
  const before = await restores.findOneAndUpdate({ _id: id }, marked, { upsert: true, session });
  if ((await erasures.findOne({ _id: id }, { session })) !== null) failDeleted();
  if (isDone(before ?? undefined, backup)) return true;
  if ((await accounts.findOne({ _id: id }, { session })) !== null) failTaken();
  return false;
}

/** Marks the account as restored. Returns true. */
async function finish(
  { restores }: ReturnType<typeof openCollections>,
  id: UUID,
  session: ClientSession,
): Promise<boolean> {
  await restores.updateOne({ _id: id }, { $set: { done_at: new Date() } }, { session });
  return true;
}

/** Returns whether this backup is restored completely. Fails if the marker belongs to another backup. */
function isDone(marker: RestoreDocument | undefined, backup: string): boolean {
  if (marker !== undefined && marker.backup !== backup) failOther();
  return marker?.done_at !== undefined;
}

function byCollection(parsed: readonly Parsed[]): Map<string, Document[]> {
  const groups = new Map<string, Document[]>();
  for (const { collection, stored } of parsed) groups.set(collection, [...(groups.get(collection) ?? []), stored]);
  return groups;
}

/** Returns conditions that match accounts with the same email or identity. */
function namesOf(account: Document): Document[] {
  const { email_key, ...others } = account as AccountDocument;
  return [{ email_key }, ...identitiesOf(others).map((identity) => withIdentity(identity))];
}

function failTaken(): never {
  return fail(Reason.ALREADY_EXISTS, { message: "This account exists already. Restore it into another database." });
}

function failDeleted(): never {
  return fail(Reason.ALREADY_EXISTS, {
    message: "This account was deleted here. Restore it into another database.",
  });
}

function failOther(): never {
  return fail(Reason.ALREADY_EXISTS, {
    message: "This account was restored from another backup. Restore it into another database.",
  });
}

function failName(holder: string): never {
  return fail(Reason.ALREADY_EXISTS, {
    message: `${holder} has an id, an email or an identity of this account. Use another database.`,
  });
}
