// Reads outside transactions: an aggregation or a find under the lease on the primary, as one command.
import type { Db, Document, Long, ReadConcern } from "mongodb";
import { BSON } from "mongodb";
import type { Deadline } from "../call/deadline.ts";
import { leftMs, requireNotPast } from "../call/deadline.ts";
import { hugeBytes, pieceBytes, yieldToEventLoop, requireSlotForHuge } from "../large/slots.ts";
import { limitConcurrentReads } from "../large/reads.ts";
import { timed } from "../call/tally.ts";
import { commandLimitMs, isRepeatable } from "./mongo.ts";
import { primaryOf } from "./primary.ts";

/** Options of a read. */
export interface ReadOptions {
  readonly hint?: string;
  readonly comment?: string;
  /**
   * Limits the command on the server, ends it when the caller cancels, and counts it for the request. Undefined only
   * for background work, whose commands may take a request's whole time.
   */
  readonly deadline: Deadline | undefined;
  /** True if rows can be megabytes. An account then reads only a few at a time. */
  readonly canBeHuge?: boolean;
}

/** A collection of documents of any type. The caller states the type of the rows. */
export interface ReadCollection {
  readonly db: Db;
  readonly collectionName: string;
  readonly readConcern?: ReadConcern | undefined;
}

/** The first reply has up to this many rows, if they fit in its 16 MB. */
const batchSize = 1_000;

/** The parts of a find command. */
interface Find {
  readonly filter: Document;
  readonly sort?: Document;
  readonly skip?: number;
  readonly limit?: number;
  readonly projection?: Document;
}

/** A find or an aggregation. A find costs MongoDB a quarter less than the equivalent aggregation. */
type Query = Find | { readonly pipeline: Document[] };

/**
 * Returns all rows, with read concern majority, from a proven primary. Rejects with UNAVAILABLE if the primary cannot
 * be proven, and otherwise with the driver's errors. Repeats a read that was interrupted. Rejects it with UNAVAILABLE
 * if another member became primary meanwhile.
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
  if (canBeHuge === true) return limitConcurrentReads(options.deadline, () => rowsOf<T>(collection, query, options));
  const work = async (): Promise<Document[]> =>
    (await atOnce(collection, query, options)) ?? (await byCursor(collection, query, options));
  return (await underLease(collection, query, options, work)) as T[];
}

/** Rows as stored BSON. */
export interface StoredRows {
  readonly rows: Buffer[];
  /** True if rows are left, because those before them reached the maximum size. */
  readonly isCut: boolean;
}

/**
 * Returns the rows of an aggregation as stored BSON: numbers keep their types, and no field is left out. Ends with the
 * row that reaches `maxBytes`.
 */
export function aggregateStored(
  collection: ReadCollection,
  pipeline: Document[],
  { maxBytes, ...options }: ReadOptions & { readonly maxBytes: number },
): Promise<StoredRows> {
  return underLease(collection, { pipeline }, options, async () => {
    const rows: Buffer[] = [];
    let bytes = 0;
    let isCut = false;
    for await (const row of storedRows(collection, { pipeline }, options)) {
      isCut = bytes >= maxBytes;
      if (isCut) break;
      // The row is a view of the reply, and would keep all of it in memory.
      rows.push(Buffer.from(row));
      bytes += row.length;
    }
    countRows(options.deadline, rows.length, bytes);
    return { rows, isCut };
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
    // An interrupted command can fail with any error, so the deadline's reason comes first.
    if (deadline !== undefined) requireNotPast(deadline);
    throw error;
  }
}

/** Returns all documents that match the filter. Fails as `aggregate` does. */
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

/** Returns the first document that matches the filter. Fails as `aggregate` does. */
export async function findFirst<T extends Document>(
  collection: ReadCollection,
  filter: Document,
  options: FindOptions,
): Promise<T | undefined> {
  return (await findAll<T>(collection, filter, { ...options, limit: 1 }))[0];
}

/** Counts the documents that match the filter, up to `limit`. Fails as `aggregate` does. */
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

/** Options of a find: order, page and projection. */
export interface FindOptions extends ReadOptions, Omit<Find, "filter"> {}

/**
 * Reads by one command, which costs half as much as the driver's cursor. Returns undefined if the rows exceed one
 * reply, or if the read failed and may be repeated.
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
    const reply = (await db.command(command, signal === undefined ? replyOptions : { ...replyOptions, signal })) as {
      readonly cursor: { readonly id: Long; readonly firstBatch: readonly Buffer[] };
    };
    const { id, firstBatch } = reply.cursor;
    const bytes = firstBatch.reduce((sum, row) => sum + row.length, 0);
    if (!id.isZero()) {
      count(deadline, 1);
      await db.command({ killCursors: collectionName, cursors: [id] });
    }
    // Also checked before the rows are read again by a cursor.
    if (bytes >= hugeBytes) requireSlotForHuge(deadline?.tally);
    if (!id.isZero()) return undefined;
    count(deadline, 0, bytes);
    return bytes < pieceBytes ? firstBatch.map(decodeRow) : (await decodeInPieces(firstBatch, deadline)).rows;
  } catch (error) {
    if (isRepeatable(error)) return undefined;
    throw error;
  }
}

/** The rows of a reply stay as they are stored, because their size decides how they are decoded. */
const replyOptions = { fieldsAsRaw: { firstBatch: true }, promoteLongs: false };

/** Reads through the driver's cursor, which fetches further batches and waits for a new primary. */
async function byCursor(
  collection: ReadCollection,
  query: Query,
  { deadline, ...options }: ReadOptions,
): Promise<Document[]> {
  const { rows, bytes } = await decodeInPieces(storedRows(collection, query, { deadline, ...options }), deadline);
  countRows(deadline, rows.length, bytes);
  return rows;
}

/** Decodes a row, with U+FFFD for malformed UTF-8, which another program may have stored. */
export function decodeRow(row: Uint8Array): Document {
  return BSON.deserialize(row, { validation: { utf8: false } });
}

/** Decodes rows, and yields to the event loop after each piece. */
async function decodeInPieces(
  stored: AsyncIterable<Buffer> | readonly Buffer[],
  deadline: Deadline | undefined,
): Promise<{ readonly rows: Document[]; readonly bytes: number }> {
  const rows: Document[] = [];
  let [bytes, decoded] = [0, 0];
  for await (const row of stored) {
    rows.push(decodeRow(row));
    bytes += row.length;
    decoded += row.length;
    if (decoded < pieceBytes) continue;
    decoded = 0;
    if (bytes >= hugeBytes) requireSlotForHuge(deadline?.tally);
    await yieldToEventLoop();
  }
  return { rows, bytes };
}

/** Counts the commands with which a cursor fetched these rows. */
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
 * Returns the limits of a command. Fails once the deadline has passed: nothing is started or repeated for a caller that
 * has left.
 */
function limitsOf(deadline: Deadline | undefined): { readonly maxTimeMS: number; readonly signal?: AbortSignal } {
  if (deadline === undefined) return { maxTimeMS: commandLimitMs };
  requireNotPast(deadline);
  const maxTimeMS = Math.min(commandLimitMs, leftMs(deadline));
  const { cancelled } = deadline;
  return cancelled === undefined ? { maxTimeMS } : { maxTimeMS, signal: cancelled };
}
