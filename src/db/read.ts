// Every read of an account's records goes through here: an aggregation, with the proof of its credential in the same command.
import type { Collection, Document } from "mongodb";
import { Long } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import { decode } from "./decode.ts";
import type { Scope, UnprovenKey } from "../guards/scope.ts";
import { commandLimitMs, isRepeatable } from "./mongo.ts";

/** How an aggregation is run. */
export interface ReadOptions {
  readonly hint?: string;
}

/** As many rows come with the first answer, where they have room in it (16 MB). */
const batchSize = 1_000;

/**
 * Runs the aggregation and returns its rows. Where the scope's API key is not proven yet, the same command looks the key
 * up, and the read fails with INVALID_KEY when it is no longer active: a revocation is in force on the next request of
 * every instance, whatever a cache holds, at the price of one look-up by `_id` and of no command.
 */
export async function read<T extends Document>(
  collection: Collection<never> | Collection<Document>,
  scope: Scope,
  pipeline: readonly Document[],
  options: ReadOptions = {},
): Promise<T[]> {
  const key = scope.unproven === undefined || scope.unproven.proven ? undefined : scope.unproven;
  const stages = key === undefined ? [...pipeline] : [...pipeline, keyProof(key)];
  const rows = (await readAtOnce(collection as Collection<Document>, stages, options)) ?? (await readByCursor(collection as Collection<Document>, stages, options));
  if (key === undefined) return rows as T[];
  if (rows.at(-1)?.["active_key"] !== true) fail(Reason.INVALID_KEY);
  key.proven = true;
  rows.pop();
  return rows as T[];
}

/**
 * By one command, whose answer is decoded once: the driver's cursor takes apart every row before it decodes it, and whoever
 * watches commands makes it decode the whole answer before. That is a fifth of a request. Undefined where the rows are more
 * than one answer holds, and where the primary changes meanwhile.
 */
async function readAtOnce({ db, collectionName }: Collection<Document>, pipeline: Document[], options: ReadOptions): Promise<Document[] | undefined> {
  try {
    const command = { aggregate: collectionName, pipeline, cursor: { batchSize }, maxTimeMS: commandLimitMs, ...options };
    const { cursor } = await db.command(command, { raw: true });
    const { firstBatch, id } = decode(cursor as Buffer) as unknown as { firstBatch: Document[]; id: number | Long };
    if (id === 0) return firstBatch;
    await db.command({ killCursors: collectionName, cursors: [Long.fromValue(id)] });
    return undefined;
  } catch (error) {
    if (isRepeatable(error)) return undefined;
    throw error;
  }
}

/** By the driver's cursor, which gets more, and waits for another primary. */
function readByCursor(collection: Collection<Document>, pipeline: Document[], options: ReadOptions): Promise<Document[]> {
  return collection.aggregate(pipeline, { maxTimeMS: commandLimitMs, batchSize, ...options }).toArray();
}

/** Appends one row `{active_key: true}` to the rows of a pipeline when the key is active. */
function keyProof(key: UnprovenKey): Document {
  return {
    $unionWith: {
      coll: "api_keys",
      pipeline: [{ $match: { _id: key.hash, active: true } }, { $project: { _id: 0, active_key: "$active" } }],
    },
  };
}
