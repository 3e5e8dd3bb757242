// Where something of an account may be, in MongoDB and in Redis: erasing it there, and counting what is left.
import type { Db, Document } from "mongodb";
import type { UUID } from "mongodb";
import { MaxKey, MinKey } from "mongodb";
import { aggregate, countUpTo } from "../db/aggregate.ts";
import { recordsIndex } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import { listIndex } from "../db/word-search.ts";
import { claimsCollection, write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import type { IdentityDocument } from "./store.ts";
import { accountsCollection } from "./store.ts";

/** An account on its way out. */
export interface Leaving {
  readonly id: UUID;
  /** Those that it was linked to; undefined once they are forgotten. */
  readonly identities: readonly IdentityDocument[] | undefined;
  /** What people do from here on is no longer the account's. */
  readonly begunAt: Date;
}

/** How much of an account is left in a place: a collection, or `redis`. Undefined for one that cannot be asked. */
export interface PlaceLeft {
  readonly place: string;
  /** Counts no further than `mostCounted`. */
  readonly left: number | undefined;
}

/** The right to sweep; asked for by several deletes at once. */
export interface SweepRight {
  /** Until when the next batch may run; undefined when the sweeper has to stop. */
  permit(): Promise<Deadline | undefined>;
  /** Hears of every batch. */
  count(place: string, deleted: number): void;
}

/** All places of a database and a Redis. */
export interface Places {
  /** Deletes batch by batch; true when nothing was left anywhere, false when the right ended before. */
  sweep(leaving: Leaving, right: SweepRight): Promise<boolean>;
  /** What is left in every place. Redis is given until `untilMs`. */
  look(leaving: Leaving, untilMs: number, deadline: Deadline): Promise<PlaceLeft[]>;
}

/**
 * What is deleted in a collection, and the indexed field by whose ranges: an index scan begins where the last batch
 * ended.
 */
interface Part {
  readonly place: string;
  readonly filter: Document;
  readonly key: "_id" | "created_at" | "rank";
  readonly hint?: string;
}

const sessionsCollection = "dashboard_sessions";
/**
 * How long a delete should take. How many documents that is depends on their index entries: a note has up to a hundred.
 */
const batchMs = 200;
const batchSize = { first: 200, least: 20, most: 2_000 } as const;
/** Deletes under way: while one waits for a majority, another one works. */
const atOnce = 2;
/** Names for each look into Redis. */
const scanned = 1_000;
/** So that looking stays within a request, however much there is. */
const mostCounted = 10_000;

/** The places; `redis` is undefined where there is none. */
export function createPlaces(db: Db, redis: () => RedisLink | undefined): Places {
  async function sweepRedis(id: UUID, right: SweepRight): Promise<boolean> {
    const link = redis();
    if (link === undefined) return true;
    for await (const names of namesInRedis(link, id, async () => (await right.permit()) !== undefined)) {
      if (names === undefined) return false;
      if (names.length > 0 && (await link.attempt((client) => client.del(names))) === undefined) return false;
    }
    return true;
  }

  async function leftInRedis(id: UUID, untilMs: number): Promise<number | undefined> {
    const link = redis();
    if (link === undefined) return 0;
    const found = new Set<string>();
    for await (const names of namesInRedis(link, id, () => Promise.resolve(performance.now() < untilMs))) {
      if (names === undefined) return undefined;
      for (const name of names) found.add(name);
    }
    return found.size;
  }

  return {
    async sweep(leaving, right) {
      for (const part of partsOf(leaving)) if (!(await sweepPart(db, part, right))) return false;
      return sweepRedis(leaving.id, right);
    },
    look(leaving, untilMs, deadline) {
      const inMongo = partsOf(leaving).map(async (part) => ({
        place: part.place,
        left: await countIn(db, part, mostCounted, deadline),
      }));
      return Promise.all([...inMongo, leftInRedis(leaving.id, untilMs).then((left) => ({ place: "redis", left }))]);
    },
  };
}

/** Every collection that may hold something of an account. */
function partsOf({ id, identities, begunAt }: Leaving): readonly Part[] {
  const ofAccount = { account_id: id };
  const ofPeople = {
    $or: identities?.map(({ issuer, subject }) => ({ issuer, subject, created_at: { $lte: begunAt } })) ?? [],
  };
  return [
    {
      place: claimsCollection,
      filter: { _id: { $gte: { account_id: id, key: new MinKey() }, $lte: { account_id: id, key: new MaxKey() } } },
      key: "_id",
    },
    // What refers to others goes first. By date: records of one time lie together on the disk, those of neighbouring
    // ids do not.
    { place: "notes", filter: ofAccount, key: "rank", hint: listIndex },
    { place: "transcripts", filter: ofAccount, key: "_id", hint: recordsIndex.name },
    ...["sessions", "contacts"].map((place) => ({ place, filter: ofAccount, key: "rank", hint: listIndex }) as const),
    ...["api_keys", "audit_log"].map((place) => ({ place, filter: ofAccount, key: "created_at" }) as const),
    { place: "imports", filter: ofAccount, key: "_id" },
    { place: accountsCollection, filter: { _id: id }, key: "_id" },
    ...(ofPeople.$or.length > 0 ? [{ place: sessionsCollection, filter: ofPeople, key: "_id" } as const] : []),
  ];
}

/** By the same index, which nobody takes away meanwhile. */
function countIn(
  db: Db,
  { place, filter, hint }: Part,
  limit: number,
  deadline: Deadline | undefined,
): Promise<number> {
  return countUpTo(db.collection(place), limit, filter, { ...(hint === undefined ? {} : { hint }), deadline });
}

/** Goes through the collection until a look from its beginning finds nothing. */
async function sweepPart(db: Db, part: Part, right: SweepRight): Promise<boolean> {
  while ((await countIn(db, part, 1, undefined)) > 0) if (!(await sweepOnce(db, part, right))) return false;
  return true;
}

/**
 * Deletes range after range, each from where the last one ended: from the beginning, a scan would pass over everything
 * that was deleted just now. The ranges that are deleted at once are disjoint. False when the right has ended.
 */
async function sweepOnce(db: Db, { place, filter, key, hint }: Part, right: SweepRight): Promise<boolean> {
  const collection = db.collection(place);
  const hinted = hint === undefined ? {} : { hint };
  let size: number = batchSize.first;
  let rest: Document | undefined = filter;
  let range = Promise.resolve<Document | undefined>(undefined);

  /** Undefined after the last one. */
  async function nextRange(): Promise<Document | undefined> {
    const from = rest;
    if (from === undefined) return undefined;
    const find = [
      { $match: from },
      { $sort: { [key]: 1 } },
      { $skip: size - 1 },
      { $limit: 1 },
      { $project: { _id: 0, last: `$${key}` } },
    ];
    const [end] = await aggregate<{ last: unknown }>(collection, find, { ...hinted, deadline: undefined });
    rest = end && { $and: [filter, { [key]: { $gt: end.last } }] };
    return end === undefined ? from : { $and: [from, { [key]: { $lte: end.last } }] };
  }
  async function sweepRanges(): Promise<boolean> {
    for (;;) {
      // One after the other, whoever asks: each begins where the one before ends.
      range = range.then(nextRange);
      const found = await range;
      if (found === undefined) return true;
      const deadline = await right.permit();
      if (deadline === undefined) return false;
      const startedAt = performance.now();
      const { deletedCount } = await write(db.client, deadline, (options, fence) =>
        collection.deleteMany({ ...found, ...fence }, { ...hinted, ...options }),
      );
      right.count(place, deletedCount);
      const fitting = (size * batchMs) / (performance.now() - startedAt);
      size = Math.round(Math.min(batchSize.most, 2 * size, Math.max(batchSize.least, fitting)));
    }
  }
  // The lease is given back when all have ended, also where one fails.
  const swept = await Promise.allSettled(Array.from({ length: atOnce }, sweepRanges));
  const failed = swept.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return swept.every((one) => one.status === "fulfilled" && one.value);
}

/**
 * The names in Redis that are an account's, by batches: what kind of thing, then the account's id. Undefined, and no
 * more, where Redis is gone or `goesOn` returns false.
 */
async function* namesInRedis(
  link: RedisLink,
  id: UUID,
  goesOn: () => Promise<boolean>,
): AsyncGenerator<string[] | undefined> {
  // Another account may have put the id into an idempotency key; its own, with digits and hyphens, then stands before.
  const own = new RegExp(`^[a-z:]+:${id.toHexString()}(:|$)`);
  let cursor = "0";
  do {
    const at = cursor;
    const found = (await goesOn())
      ? await link.attempt((client) => client.scan(at, "MATCH", `*${id.toHexString()}*`, "COUNT", scanned))
      : undefined;
    if (found === undefined) return void (yield undefined);
    cursor = found[0];
    yield found[1].filter((name) => own.test(name));
  } while (cursor !== "0");
}
