// Inserts one record by one command, which also proves the request's credential if that is still necessary.
import type { Binary, Collection, Document, Filter, MongoClient, OptionalUnlessRequiredId, UUID } from "mongodb";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { InsertProof, WriteScope } from "../call/scope.ts";
import { noteWrite, confirmGrant } from "../call/scope.ts";
import { rethrowTooLate, fenceCondition, isConditionFailed } from "./fence.ts";
import { duplicateIndex, isRepeatable } from "./mongo.ts";
import { primaryOf } from "./primary.ts";
import type { Fence, RecordedResponse, Work, WriteOptions } from "./write.ts";
import { commit, write } from "./write.ts";

/** The fields that every record has. */
interface Inserted {
  _id: UUID;
  account_id: UUID;
  version: number;
}

/** A document for `insertFenced`. */
type Insertable = { _id: UUID | Binary; account_id?: UUID } & ({ version: number } | { created_at: Date });

/**
 * Inserts a record with the guarantees of `commit`. Without an idempotency key, one command is enough even if the
 * credential is unproven. Fails with the deadline's reason once that has passed, with the failure of the credential's
 * proof, and with MongoDB's error if a unique index already contains the document.
 */
export async function insertRecord<T extends Inserted>(
  client: MongoClient,
  scope: WriteScope,
  collection: Collection<T>,
  document: T,
  response: RecordedResponse | undefined,
): Promise<void> {
  const { unproven, claim } = scope;
  const insert: Work<void> = (options, fence) => insertFenced(collection, document, options, fence);
  // A mongos cannot read from one collection and merge into another, sharded one.
  if (unproven === undefined || unproven.proven || claim !== undefined || primaryOf(client).sharded())
    return commit(client, scope, response, insert);
  const proof = unproven.proof.insert;
  try {
    await confirmGrant(scope);
    noteWrite(scope);
    await write(client, scope.deadline, (options, fence) => insertProven(collection, document, proof, options, fence));
    unproven.setProven();
  } catch (error) {
    // The outcome of the command is unknown. `commit` looks the credential up, and its insert decides.
    if (!isConditionFailed(error) && duplicateIndex(error) === undefined && !isRepeatable(error)) throw error;
    await commit(client, scope, response, insert).catch((failure: unknown) => {
      // Only this request uses the id, so the first command stored the document.
      if (duplicateIndex(failure)?.includes("_id") === true) return;
      // The credential has ended meanwhile, but the first command may have stored the document.
      if (isRepeatable(error) && !unproven.proven) fail(Reason.UNAVAILABLE, { cause: failure });
      throw failure;
    });
  }
}

/** Inserts a document. Throws TooLate if the fence no longer holds. */
export async function insertFenced<T extends Insertable>(
  collection: Collection<T>,
  document: T,
  options: WriteOptions,
  fence: Fence,
): Promise<void> {
  if (fence["$expr"] === undefined)
    return void (await collection.insertOne(document as OptionalUnlessRequiredId<T>, options));
  await upsertFenced(collection, filterWithoutMatch(document), document, options, fence);
}

/**
 * Inserts documents that no request waits for, as `insertFenced` does. A failed document does not hold up the others.
 */
export async function insertManyFenced<T extends Insertable>(
  collection: Collection<T>,
  documents: readonly T[],
  options: WriteOptions,
  fence: Fence,
): Promise<void> {
  const inserts = documents.map((document) => ({
    updateOne: {
      filter: filterWithoutMatch(document),
      update: [documentWhere(fenceCondition(fence), document)],
      upsert: true,
    },
  }));
  await collection.bulkWrite(inserts, { ordered: false, comment: "watch", ...options }).catch(rethrowTooLate);
}

/**
 * Replaces the document that the filter matches, or inserts it. Throws TooLate if the fence no longer holds. The fence
 * cannot be in the filter, because an upsert does not accept `$expr`.
 */
export async function upsertFenced<T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  document: T,
  options: WriteOptions,
  fence: Fence,
): Promise<void> {
  await collection
    .updateOne(filter, [documentWhere(fenceCondition(fence), document)], { ...options, upsert: true })
    .catch(rethrowTooLate);
}

/**
 * Returns a filter that matches nothing, so that an upsert always inserts: only an update can read the database's
 * clock. A mongos needs the account, which is the shard key.
 */
function filterWithoutMatch<T extends Insertable>(document: T): Filter<T> {
  const { _id, account_id } = document;
  // Every document of the collection has this field.
  const always = "version" in document ? "version" : "created_at";
  return { _id, ...(account_id !== undefined && { account_id }), [always]: { $exists: false } } as Filter<T>;
}

/**
 * Inserts a record as `insertFenced` does, unless its credential is no longer valid: by an aggregation on the
 * credential's collection. Fails with MongoDB's error if the fence or the credential does not hold. The driver does not
 * retry such an aggregation. If the primary changes between look-up and insert, MongoDB forwards the insert to the new
 * one within the rest of the time limit.
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

/** Returns a stage that yields the document if the condition holds, and otherwise null, which cannot be stored. */
function documentWhere(condition: unknown, document: Document): Document {
  return { $replaceWith: { $cond: [condition, { $literal: document }, null] } };
}
