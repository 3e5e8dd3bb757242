// Runs an aggregation of a request by one command whose answer is decoded once, and by the driver's cursor where that does not do.
import type { Collection, Document } from "mongodb";
import { Long } from "mongodb";
import { decode } from "./decode.ts";
import { commandLimitMs, isRepeatable } from "./mongo.ts";

/** How an aggregation is run. */
export interface AggregateOptions {
  readonly hint?: string;
}

/** As many rows come with the first answer, where they have room in it (16 MB). */
const batchSize = 1_000;

/** All rows. Rejects with the driver's errors; what a change of the primary broke off was done again before. */
export async function aggregate<T extends Document>(collection: Collection<Document>, pipeline: Document[], options: AggregateOptions = {}): Promise<T[]> {
  return ((await atOnce(collection, pipeline, options)) ?? (await byCursor(collection, pipeline, options))) as T[];
}

/**
 * By one command, whose answer is decoded once: the driver's cursor takes apart every row before it decodes it, and whoever
 * watches commands makes it decode the whole answer before. That is a fifth of a request. Undefined where the rows are more
 * than one answer holds, and where the primary changes meanwhile.
 */
async function atOnce({ db, collectionName, readConcern }: Collection<Document>, pipeline: Document[], options: AggregateOptions): Promise<Document[] | undefined> {
  try {
    const command = { aggregate: collectionName, pipeline, cursor: { batchSize }, maxTimeMS: commandLimitMs, ...options, ...(readConcern && { readConcern }) };
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
function byCursor(collection: Collection<Document>, pipeline: Document[], options: AggregateOptions): Promise<Document[]> {
  return collection.aggregate(pipeline, { maxTimeMS: commandLimitMs, batchSize, ...options }).toArray();
}
