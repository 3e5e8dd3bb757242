// Inserts: one record by one command, which also proves the credential of the request where that is still to be done.
import type { Binary, Collection, Document, Filter, MongoClient, OptionalUnlessRequiredId, UUID } from "mongodb";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { InsertProof, WriteScope } from "../call/scope.ts";
import { noteWrite, requireGrant } from "../call/scope.ts";
import { failLate, isInTime, isWithoutDocument } from "./fence.ts";
import { duplicateIndex, isRepeatable } from "./mongo.ts";
import { primaryOf } from "./primary.ts";
import type { Fence, RecordedResponse, Work, WriteOptions } from "./write.ts";
import { commit, write } from "./write.ts";

/** A record. */
interface Inserted {
  _id: UUID;
  account_id: UUID;
  version: number;
}

/** A document for `insertInTime`. */
type Insertable = { _id: UUID | Binary; account_id?: UUID } & ({ version: number } | { created_at: Date });

/**
 * Inserts a document as `commit` does. Without an idempotency key it is one command even where the credential is not
 * proven yet. Fails with the deadline's reason after it, with what the credential's proof says, and with MongoDB's
 * error where a unique index has the document already.
 */
export async function insertRecord<T extends Inserted>(
  client: MongoClient,
  scope: WriteScope,
  collection: Collection<T>,
  document: T,
  response: RecordedResponse | undefined,
): Promise<void> {
  const { unproven, claim } = scope;
  const proof = unproven?.proven === false ? unproven.proof.insert : undefined;
  const insert: Work<void> = (options, fence) => insertInTime(collection, document, options, fence);
  // A mongos could not begin in one collection and end in another that is split.
  if (unproven === undefined || proof === undefined || claim !== undefined || primaryOf(client).sharded())
    return commit(client, scope, response, insert);
  try {
    requireGrant(scope);
    noteWrite(scope);
    await write(client, scope.deadline, (options, fence) => insertProven(collection, document, proof, options, fence));
    unproven.proven = true;
  } catch (error) {
    // `commit` decides, which looks the credential up: the command may have failed, or not, for any of several reasons.
    if (!isWithoutDocument(error) && duplicateIndex(error) === undefined && !isRepeatable(error)) throw error;
    await commit(client, scope, response, insert).catch((failure: unknown) => {
      // Nobody else has the id: it was stored before.
      if (duplicateIndex(failure)?.includes("_id") === true) return;
      // The credential has ended since: the first command may have stored the document before.
      if (isRepeatable(error) && !unproven.proven) fail(Reason.UNAVAILABLE, { cause: failure });
      throw failure;
    });
  }
}

/** Inserts a document. Throws TooLate if the fence no longer holds. */
export async function insertInTime<T extends Insertable>(
  collection: Collection<T>,
  document: T,
  options: WriteOptions,
  fence: Fence,
): Promise<void> {
  if (fence["$expr"] === undefined)
    return void (await collection.insertOne(document as OptionalUnlessRequiredId<T>, options));
  await putInTime(collection, nothing(document), document, options, fence);
}

/** Inserts documents likewise that no request waits for. Each goes in by itself: one that cannot holds up no other. */
export async function insertAllInTime<T extends Insertable>(
  collection: Collection<T>,
  documents: readonly T[],
  options: WriteOptions,
  fence: Fence,
): Promise<void> {
  const inserts = documents.map((document) => ({
    updateOne: { filter: nothing(document), update: [documentWhere(isInTime(fence), document)], upsert: true },
  }));
  await collection.bulkWrite(inserts, { ordered: false, comment: "watch", ...options }).catch(failLate);
}

/**
 * Replaces the document that the filter matches, or inserts it. Throws TooLate if the fence no longer holds. The filter
 * cannot contain the fence: an upsert accepts no `$expr`.
 */
export async function putInTime<T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  document: T,
  options: WriteOptions,
  fence: Fence,
): Promise<void> {
  await collection
    .updateOne(filter, [documentWhere(isInTime(fence), document)], { ...options, upsert: true })
    .catch(failLate);
}

/**
 * Matches nothing, so that there is nothing to replace: only an update can read the database's clock. A mongos needs
 * the account, which is the shard key.
 */
function nothing<T extends Insertable>(document: T): Filter<T> {
  const { _id, account_id } = document;
  // Every document of its collection has it.
  const always = "version" in document ? "version" : "created_at";
  return { _id, ...(account_id !== undefined && { account_id }), [always]: { $exists: false } } as Filter<T>;
}

/**
 * The same, unless the credential is no longer valid: by an aggregation that begins where the credential is stored. It
 * fails with MongoDB's error in either case. The driver repeats no such aggregation. Where the primary changes between
 * its look-up and its insert, MongoDB passes the insert on to the next one, with what is left of the limit.
 */
export async function insertProven<T extends Inserted>(
  { db, collectionName }: Collection<T>,
  document: T,
  proof: InsertProof,
  { signal, maxTimeMS }: WriteOptions,
  fence: Fence,
): Promise<void> {
  const pipeline = [
    ...proof.stages,
    documentWhere({ $and: [fence["$expr"] as unknown, proof.isValid] }, document),
    { $merge: { into: collectionName, whenMatched: "fail" } },
  ];
  const command = { aggregate: proof.collection, pipeline, cursor: {}, writeConcern: { w: "majority" } };
  await db.command({ ...command, ...(maxTimeMS && { maxTimeMS }) }, signal === undefined ? {} : { signal });
}

/** A stage with the document, or with nothing that could be stored. */
function documentWhere(condition: unknown, document: Document): Document {
  return { $replaceWith: { $cond: [condition, { $literal: document }, null] } };
}
