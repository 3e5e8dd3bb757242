// Reads outside transactions: an aggregation or a find under the lease on the primary, by one command whose reply is
// decoded once.
import type { Db, Document, ReadConcern } from "mongodb";
import { Long } from "mongodb";
import type { Deadline } from "../deadline.ts";
import { leftMs, requireTime } from "../deadline.ts";
import { hugeBytes, largeBytes, yieldToEventLoop, requirePlaceForHuge } from "../large/places.ts";
import { readInLine } from "../large/reads.ts";
import { timed } from "../tally.ts";
import { cursorIdOf, decode } from "./decode.ts";
import { commandLimitMs, isRepeatable } from "./mongo.ts";
import { primaryOf } from "./primary.ts";

/** How a read is run. */
export interface ReadOptions {
  readonly hint?: string;
  readonly comment?: string;
  /**
   * Bounds the command on the server, ends it when the caller cancels, and counts it for the request. Undefined in the
   * background alone: the command may then take a request's whole time.
   */
  readonly deadline: Deadline | undefined;
  /** True where the rows can be megabytes: the account then reads a few at a time. */
  readonly canBeHuge?: boolean;
}

/** A collection, whatever its documents are: the caller says of what type its rows are. */
export interface ReadCollection {
  readonly db: Db;
  readonly collectionName: string;
  readonly readConcern?: ReadConcern | undefined;
}

/** As many rows come with the first reply, where they have room in it (16 MB). */
const batchSize = 1_000;

/** What a find reads. */
interface Find {
  readonly filter: Document;
  readonly sort?: Document;
  readonly skip?: number;
  readonly limit?: number;
  readonly projection?: Document;
}

/** What is read. A find costs MongoDB a quarter less than the same aggregation. */
type Query = Find | { readonly pipeline: Document[] };

/**
 * All rows, as a majority has them, from a primary that is proven to be one. Rejects with UNAVAILABLE where that cannot
 * be known, and else with the driver's errors. What a change of the primary broke off was done again before.
 */
export function aggregate<T extends Document>(
  collection: ReadCollection,
  pipeline: readonly Document[],
  options: ReadOptions,
): Promise<T[]> {
  return rowsOf<T>(collection, { pipeline: [...pipeline] }, options);
}

async function rowsOf<T extends Document>(
  collection: ReadCollection,
  query: Query,
  { canBeHuge, ...options }: ReadOptions,
): Promise<T[]> {
  if (canBeHuge === true) return readInLine(options.deadline, () => rowsOf<T>(collection, query, options));
  const work = async (): Promise<Document[]> =>
    (await atOnce(collection, query, options)) ?? (await byCursor(collection, query, options));
  return (await underLease(collection, query, options, work)) as T[];
}

/** The same rows as they are stored, in BSON: numbers keep their types, and no field is left out. */
export function aggregateStored(
  collection: ReadCollection,
  pipeline: Document[],
  options: ReadOptions,
): Promise<Buffer[]> {
  return underLease(collection, { pipeline }, options, async () => {
    const rows: Buffer[] = [];
    let bytes = 0;
    for await (const row of storedRows(collection, { pipeline }, options)) {
      // The rows lie in the memory of the reply, which the driver may use again.
      rows.push(Buffer.from(row));
      bytes += row.length;
    }
    countRows(options.deadline, rows.length, bytes);
    return rows;
  });
}

async function underLease<T>(
  collection: ReadCollection,
  query: Query,
  { deadline }: ReadOptions,
  work: () => Promise<T>,
): Promise<T> {
  const primary = primaryOf(collection.db.client);
  const term = primary.require();
  try {
    const what = `mongodb ${"pipeline" in query ? "aggregate" : "find"} ${collection.collectionName}`;
    const rows = await timed(deadline?.tally, "dbMs", what, work);
    primary.confirm(term);
    return rows;
  } catch (error) {
    // An interrupted command can fail with any error: the deadline's reason goes first.
    if (deadline !== undefined) requireTime(deadline);
    throw error;
  }
}

/** The documents that match, by the same way. */
export function findAll<T extends Document>(
  collection: ReadCollection,
  filter: Document,
  { sort, skip, limit, projection, ...options }: FindOptions,
): Promise<T[]> {
  const query = {
    filter,
    ...(sort && { sort }),
    ...(skip && { skip }),
    ...(limit && { limit }),
    ...(projection && { projection }),
  };
  return rowsOf<T>(collection, query, options);
}

/** The first document that matches, by the same way. */
export async function findFirst<T extends Document>(
  collection: ReadCollection,
  filter: Document,
  options: FindOptions,
): Promise<T | undefined> {
  return (await findAll<T>(collection, filter, { ...options, limit: 1 }))[0];
}

/** How many documents match, by the same way; counted no further than `limit`. */
export async function countUpTo(
  collection: ReadCollection,
  limit: number,
  filter: Document,
  options: ReadOptions,
): Promise<number> {
  const [row] = await aggregate<{ count: number }>(
    collection,
    [{ $match: filter }, { $limit: limit }, { $count: "count" }],
    options,
  );
  return row?.count ?? 0;
}

/** Which of the documents that match, and what of them. */
export interface FindOptions extends ReadOptions, Omit<Find, "filter"> {}

/**
 * By one command, whose reply is decoded once: the driver's cursor takes apart every row before it decodes it, and
 * whoever watches commands makes it decode the whole reply before. That is a fifth of a request. Undefined where the
 * rows are more than one reply holds, and where the primary changes meanwhile.
 */
async function atOnce(
  { db, collectionName, readConcern }: ReadCollection,
  query: Query,
  { deadline, ...options }: ReadOptions,
): Promise<Document[] | undefined> {
  const { maxTimeMS, signal } = limitsOf(deadline);
  count(deadline, 1);
  try {
    const command = {
      ...("pipeline" in query
        ? { aggregate: collectionName, ...query, cursor: { batchSize } }
        : { find: collectionName, ...query, batchSize }),
      maxTimeMS,
      ...options,
      ...(readConcern && { readConcern }),
    };
    const { cursor } = await db.command(command, signal === undefined ? { raw: true } : { raw: true, signal });
    // Of rows that fill more than one reply none is decoded here.
    const id = cursorIdOf(cursor as Buffer);
    if (id !== 0n) {
      count(deadline, 1);
      await db.command({ killCursors: collectionName, cursors: [Long.fromBigInt(id)] });
    }
    // Before it is read once more, too.
    if ((cursor as Buffer).length >= hugeBytes) requirePlaceForHuge(deadline?.tally);
    if (id !== 0n) return undefined;
    count(deadline, 0, (cursor as Buffer).length);
    return (decode(cursor as Buffer) as { firstBatch: Document[] }).firstBatch;
  } catch (error) {
    if (isRepeatable(error)) return undefined;
    throw error;
  }
}

/**
 * By the driver's cursor, which gets more, and waits for another primary. Rows that fill more than one reply are
 * decoded in turn with other requests.
 */
async function byCursor(
  collection: ReadCollection,
  query: Query,
  { deadline, ...options }: ReadOptions,
): Promise<Document[]> {
  const rows: Document[] = [];
  let [bytes, decoded] = [0, 0];
  for await (const row of storedRows(collection, query, { deadline, ...options })) {
    rows.push(decode(row));
    bytes += row.length;
    decoded += row.length;
    if (decoded < largeBytes) continue;
    decoded = 0;
    if (bytes >= hugeBytes) requirePlaceForHuge(deadline?.tally);
    await yieldToEventLoop();
  }
  countRows(deadline, rows.length, bytes);
  return rows;
}

/** Counts the commands by which a cursor returned these rows. */
function countRows(deadline: Deadline | undefined, rows: number, bytes: number): void {
  count(deadline, 1 + Math.floor(rows / batchSize), bytes);
}

function storedRows(
  { db, collectionName }: ReadCollection,
  query: Query,
  { deadline, ...options }: ReadOptions,
): AsyncIterable<Buffer> {
  const collection = db.collection(collectionName);
  const all = { batchSize, ...limitsOf(deadline), ...options, raw: true };
  if ("pipeline" in query)
    return collection.aggregate(query.pipeline, all) as AsyncIterable<unknown> as AsyncIterable<Buffer>;
  const { filter, ...how } = query;
  return collection.find(filter, { ...how, ...all }) as AsyncIterable<unknown> as AsyncIterable<Buffer>;
}

function count(deadline: Deadline | undefined, commands: number, bytes = 0): void {
  if (deadline?.tally === undefined) return;
  deadline.tally.dbCommands += commands;
  deadline.tally.dbBytes += bytes;
}

/**
 * The limits of a command. Fails once the deadline has passed: nothing is started or repeated for a caller that has
 * left.
 */
function limitsOf(deadline: Deadline | undefined): { readonly maxTimeMS: number; readonly signal?: AbortSignal } {
  if (deadline === undefined) return { maxTimeMS: commandLimitMs };
  requireTime(deadline);
  const maxTimeMS = Math.min(commandLimitMs, leftMs(deadline));
  const { cancelled } = deadline;
  return cancelled === undefined ? { maxTimeMS } : { maxTimeMS, signal: cancelled };
}
