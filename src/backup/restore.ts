// Restores the documents of a backup: whole accounts that do not exist in the database, batch by batch.
import type { ClientSession, Document, MongoClient, UUID } from "mongodb";
import { BSON, Binary } from "mongodb";
import type { AccountDocument } from "../accounts/store.ts";
import { withIdentity } from "../accounts/store.ts";
import { findFirst } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import { addStored, putStored } from "../db/put-stored.ts";
import { transaction } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { fail, rejectInput } from "../errors.ts";
import type { StoredDocument } from "../gen/records/admin/v1/backup_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { mapInPieces } from "../large/pieces.ts";
import { ownerField, rulesFor } from "./kept.ts";
import { unreadableDocument } from "./readable.ts";

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

/** A restore of documents. Both methods return whether the account is restored completely. */
export interface Restore {
  /**
   * Checks the documents of an account without writing. Returns false for the service's own documents, which it does
   * not check. Fails with INVALID_REQUEST if they are invalid, and with ALREADY_EXISTS if the account cannot be
   * restored.
   */
  check(restoring: Restoring, documents: readonly StoredDocument[]): Promise<boolean>;
  /** Writes all documents of a batch or none. Fails as `check` does. */
  write(restoring: Restoring, documents: readonly StoredDocument[]): Promise<boolean>;
}

interface Parsed {
  readonly collection: string;
  readonly document: Document;
}

/** Creates the restore for the client's database. */
export function createRestore(client: MongoClient): Restore {
  const opened = openCollections(client);
  return {
    async check({ backup, accountId, deadline }, documents) {
      if (accountId === undefined) return false;
      const account = accountIn(parse(documents, accountId));
      await requireReadable(documents, deadline);
      const { accounts, erasures, restores } = opened;
      // A deleted account keeps the marker until the end of its erasure.
      if ((await findFirst(erasures, { _id: accountId }, { deadline })) !== undefined) failDeleted();
      const marker = await findFirst<RestoreDocument>(restores, { _id: accountId }, { deadline });
      if (isDone(marker, backup)) return true;
      if ((await findFirst(accounts, { _id: accountId }, { deadline })) !== undefined) failTaken();
      if (account !== undefined && (await findFirst(accounts, { $or: namesOf(account) }, { deadline })) !== undefined)
        failName();
      return false;
    },
    async write({ backup, accountId, deadline }, documents) {
      const parsed = parse(documents, accountId);
      await requireReadable(documents, deadline);
      try {
        return await transaction(client, deadline, async (session) => {
          if (accountId !== undefined && (await begin(opened, accountId, backup, session))) return true;
          // Commands of a transaction cannot run concurrently.
          for (const [name, group] of byCollection(parsed)) {
            const collection = client.db().collection<Document>(name);
            if (accountId === undefined) await addStored(collection, group, session);
            else await putStored(collection, group, { [ownerField(name)]: accountId }, session);
          }
          if (accountId === undefined || accountIn(parsed) === undefined) return false;
          return finish(opened, accountId, session);
        });
      } catch (error) {
        if (duplicateIndex(error) !== undefined) failName();
        throw error;
      }
    },
  };
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

/**
 * Parses the documents. Fails with INVALID_REQUEST if one is not BSON, belongs to another account, or is of a
 * collection without backups. Also fails if the active key comes without the account.
 */
function parse(documents: readonly StoredDocument[], accountId: UUID | undefined): readonly Parsed[] {
  const known = new Set(rulesFor(accountId === undefined ? "service" : "account").map(({ collection }) => collection));
  const parsed = documents.map(({ collection, bson }, at): Parsed => {
    const wrong = (rule: string, message: string): never => rejectInput([{ field: `documents[${at}]`, rule, message }]);
    if (!known.has(collection)) wrong("collection", "must belong to a collection that backups contain");
    const document = documentOf(bson) ?? wrong("bson", "must be a document in BSON");
    if (accountId !== undefined && !isSame(document[ownerField(collection)], accountId))
      wrong("account", "must belong to the account being restored");
    return { collection, document };
  });
  const hasActiveKey = parsed.some(
    ({ collection, document }) => collection === collections.apiKeys && document["active"] === true,
  );
  if (hasActiveKey && accountIn(parsed) === undefined)
    rejectInput([
      {
        field: "documents",
        rule: "account",
        message: "must contain the account document if they contain the active key",
      },
    ]);
  return parsed;
}

/** Fails with INVALID_REQUEST if a read could not return one of the documents. Other requests run in between. */
async function requireReadable(documents: readonly StoredDocument[], deadline: Deadline): Promise<void> {
  const found = await mapInPieces(documents, deadline, ({ collection, bson }, at) =>
    unreadableDocument(collection, bson, `documents[${at}]`),
  );
  const violations = found.filter((violation) => violation !== undefined);
  if (violations.length > 0) rejectInput(violations);
}

/** Parses a document so that numbers keep their BSON types. Returns undefined if it is invalid. */
function documentOf(bson: Uint8Array): Document | undefined {
  try {
    return BSON.deserialize(bson, { promoteValues: false });
  } catch {
    return undefined;
  }
}

function isSame(value: unknown, id: UUID): boolean {
  return value instanceof Binary && value.sub_type === Binary.SUBTYPE_UUID && id.equals(value.buffer);
}

function byCollection(parsed: readonly Parsed[]): Map<string, Document[]> {
  const groups = new Map<string, Document[]>();
  for (const { collection, document } of parsed) groups.set(collection, [...(groups.get(collection) ?? []), document]);
  return groups;
}

function accountIn(parsed: readonly Parsed[]): AccountDocument | undefined {
  return parsed.find(({ collection }) => collection === collections.accounts)?.document as AccountDocument | undefined;
}

/** Returns conditions that match accounts with the same email or identity. */
function namesOf({ email_key, identities = [] }: AccountDocument): Document[] {
  return [{ email_key }, ...identities.map((identity) => withIdentity(identity))];
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
    message: "This account was restored from another backup. Continue with that backup, or use another database.",
  });
}

function failName(): never {
  return fail(Reason.ALREADY_EXISTS, {
    message: "Another account or record has an id, an email or an identity of this account. Use another database.",
  });
}
