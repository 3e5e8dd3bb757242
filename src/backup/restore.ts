// Restores the documents of a backup: whole accounts that the database does not have, batch by batch.
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
import { keptOf, ownerField } from "./kept.ts";

/** The restore of an account: from its first batch on, no other backup is restored into the account. */
interface RestoreDocument {
  _id: UUID;
  backup: string;
  begun_at: Date;
  /** Changes with every batch, so that of two at once one waits for the other. */
  batches: number;
  done_at?: Date;
}

export const restoreCollection: CollectionSpec = {
  collection: collections.restores,
  erasure: { key: "_id", filter: ({ id }) => ({ _id: id }) },
  indexes: [],
};

/** Which account is restored from which backup. */
export interface Restoring {
  readonly backup: string;
  /** Undefined for the documents of the service. */
  readonly accountId: UUID | undefined;
  readonly deadline: Deadline;
}

/** Restores documents. Both return whether the account is restored completely. */
export interface Restore {
  /** Fails with ALREADY_EXISTS where the account cannot be restored. Writes nothing. */
  check(restoring: Restoring, documents: readonly StoredDocument[]): Promise<boolean>;
  /** Writes a batch, all of it or nothing. Fails as `check` does. */
  write(restoring: Restoring, documents: readonly StoredDocument[]): Promise<boolean>;
}

interface Parsed {
  readonly collection: string;
  readonly document: Document;
}

/** Over the collections of a database. */
export function createRestore(client: MongoClient): Restore {
  const opened = openCollections(client);
  return {
    async check({ backup, accountId, deadline }, documents) {
      if (accountId === undefined) return false;
      const account = accountIn(parse(documents, accountId));
      const { accounts, erasures, restores } = opened;
      const marker = await findFirst<RestoreDocument>(restores, { _id: accountId }, { deadline });
      if (isDone(marker, backup)) return true;
      if ((await findFirst(erasures, { _id: accountId }, { deadline })) !== undefined) failDeleted();
      if ((await findFirst(accounts, { _id: accountId }, { deadline })) !== undefined) failTaken();
      if (account !== undefined && (await findFirst(accounts, { $or: namesOf(account) }, { deadline })) !== undefined)
        failName();
      return false;
    },
    async write({ backup, accountId, deadline }, documents) {
      const parsed = parse(documents, accountId);
      try {
        return await transaction(client, deadline, async (session) => {
          if (accountId !== undefined && (await begin(opened, accountId, backup, session))) return true;
          // In a transaction one command follows the other.
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
 * Removes the mark of a restore within a transaction, which collides with a batch of it that is being written; false
 * where there is none. With an erasure in the same transaction, later batches are rejected.
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

/** Marks the account as being restored. True when it is restored already. */
async function begin(
  { accounts, erasures, restores }: ReturnType<typeof openCollections>,
  id: UUID,
  backup: string,
  session: ClientSession,
): Promise<boolean> {
  const marked = { $setOnInsert: { backup, begun_at: new Date() }, $inc: { batches: 1 } };
  const before = await restores.findOneAndUpdate({ _id: id }, marked, { upsert: true, session });
  if (isDone(before ?? undefined, backup)) return true;
  if ((await erasures.findOne({ _id: id }, { session })) !== null) failDeleted();
  if ((await accounts.findOne({ _id: id }, { session })) !== null) failTaken();
  return false;
}

/** Marks the account as restored. */
async function finish(
  { restores }: ReturnType<typeof openCollections>,
  id: UUID,
  session: ClientSession,
): Promise<boolean> {
  await restores.updateOne({ _id: id }, { $set: { done_at: new Date() } }, { session });
  return true;
}

/** Whether this backup of an account is restored completely. Fails where it is another backup's. */
function isDone(marker: RestoreDocument | undefined, backup: string): boolean {
  if (marker !== undefined && marker.backup !== backup) failOther();
  return marker?.done_at !== undefined;
}

/** The documents, each of a collection that a backup holds, and of this account. Fails with INVALID_REQUEST. */
function parse(documents: readonly StoredDocument[], accountId: UUID | undefined): readonly Parsed[] {
  const known = new Set(keptOf(accountId === undefined ? "service" : "account").map(({ collection }) => collection));
  const parsed = documents.map(({ collection, bson }, at): Parsed => {
    const wrong = (rule: string, message: string): never => rejectInput([{ field: `documents[${at}]`, rule, message }]);
    if (!known.has(collection)) wrong("collection", "must be of a collection that a backup holds");
    const document = documentOf(bson) ?? wrong("bson", "must be a document in BSON");
    if (accountId !== undefined && !isSame(document[ownerField(collection)], accountId))
      wrong("account", "must be of the account that is restored");
    return { collection, document };
  });
  const hasActiveKey = parsed.some(
    ({ collection, document }) => collection === collections.apiKeys && document["active"] === true,
  );
  if (hasActiveKey && accountIn(parsed) === undefined)
    rejectInput([{ field: "documents", rule: "account", message: "must have the account beside its active key" }]);
  return parsed;
}

/** Numbers keep their types. */
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

/** What no other account may have. */
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
