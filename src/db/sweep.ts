// Deletes an account's documents from a collection, range by range.
import type { Db, Document } from "mongodb";
import type { Deadline } from "../call/deadline.ts";
import { aggregate, countUpTo } from "./aggregate.ts";
import type { CollectionSpec, ErasedAccount } from "./mongo.ts";
import { write } from "./write.ts";

/** The right to sweep, which concurrent deletes share. */
export interface SweepRight {
  /** Returns the deadline of the next batch; undefined when the sweeper has to stop. */
  permit(): Promise<Deadline | undefined>;
  /** Called after every batch. */
  count(place: string, deleted: number): void;
}

/** An account's documents in a collection. Each index scan begins where the last batch ended. */
export interface Part {
  readonly place: string;
  readonly filter: Document;
  readonly key: string;
  readonly hint?: string;
  readonly batchSize?: number;
}

/**
 * The target duration of a delete. The number of documents depends on their index entries: a note has up to a hundred.
 */
const batchMs = 200;
const batchSizes = { first: 200, min: 20, max: 2_000 } as const;
/** The number of deletes under way: while one waits for a majority, another one works. */
const atOnce = 2;

/** Returns the parts of an account, in the order of the collections. */
export function partsOf(specs: readonly CollectionSpec[], account: ErasedAccount): readonly Part[] {
  return specs.flatMap(({ collection: place, erasure }) => {
    if (erasure === undefined) return [];
    const { key, hint, batchSize, filter: filterOf = ({ id }) => ({ account_id: id }) } = erasure;
    const filter = filterOf(account);
    if (filter === undefined) return [];
    return [{ place, key, filter, ...(hint !== undefined && { hint }), ...(batchSize !== undefined && { batchSize }) }];
  });
}

/** Counts the documents of a part up to `limit`, by the index that the deletes use, which nothing drops meanwhile. */
export function countIn(
  db: Db,
  { place, filter, hint }: Part,
  limit: number,
  deadline: Deadline | undefined,
): Promise<number> {
  return countUpTo(db.collection(place), limit, filter, { ...(hint === undefined ? {} : { hint }), deadline });
}

/** Sweeps a part until no document is left. Returns false if the right to sweep has ended. */
export async function sweepPart(db: Db, part: Part, right: SweepRight): Promise<boolean> {
  while ((await countIn(db, part, 1, undefined)) > 0) if (!(await sweepOnce(db, part, right))) return false;
  return true;
}

/** The documents that one command deletes. */
interface Range {
  /** Their number, unless the range is the last one. */
  readonly size: number;
  readonly found: Document;
}

/**
 * Deletes range after range, each from where the last one ended: a scan from the beginning would pass over all recently
 * deleted entries. Concurrent ranges are disjoint. Returns false if the right to sweep has ended.
 */
async function sweepOnce(
  db: Db,
  { place, filter, key, hint, batchSize = batchSizes.first }: Part,
  right: SweepRight,
): Promise<boolean> {
  const collection = db.collection(place);
  const hinted = hint === undefined ? {} : { hint };
  let size = batchSize;
  let rest: Document | undefined = filter;
  let range = Promise.resolve<Range | undefined>(undefined);

  /** Returns undefined after the last range. */
  async function nextRange(): Promise<Range | undefined> {
    const from = rest;
    if (from === undefined) return undefined;
    const ofRange = size;
    const find = [
      { $match: from },
      { $sort: { [key]: 1 } },
      { $skip: ofRange - 1 },
      { $limit: 1 },
      { $project: { _id: 0, last: `$${key}` } },
    ];
    const [end] = await aggregate<{ last: unknown }>(collection, find, { ...hinted, deadline: undefined });
    rest = end && { $and: [filter, { [key]: { $gt: end.last } }] };
    return { size: ofRange, found: end === undefined ? from : { $and: [from, { [key]: { $lte: end.last } }] } };
  }
  async function sweepRanges(): Promise<boolean> {
    for (;;) {
      // Shared by all callers: each range begins where the previous one ends.
      range = range.then(nextRange);
      const current = await range;
      if (current === undefined) return true;
      const deadline = await right.permit();
      if (deadline === undefined) return false;
      const startedAt = performance.now();
      const { deletedCount } = await write(db.client, deadline, (options, fence) =>
        collection.deleteMany({ ...current.found, ...fence }, { ...hinted, ...options }),
      );
      right.count(place, deletedCount);
      const fitting = (current.size * batchMs) / (performance.now() - startedAt);
      const min = Math.min(batchSizes.min, batchSize);
      size = Math.round(Math.min(batchSizes.max, 2 * size, Math.max(min, fitting)));
    }
  }
  // Waits for every sweep, even if one fails, because the caller then releases the lease.
  const swept = await Promise.allSettled(Array.from({ length: atOnce }, sweepRanges));
  const failed = swept.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return swept.every((one) => one.status === "fulfilled" && one.value);
}
