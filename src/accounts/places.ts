// Where something of an account may be, in MongoDB and in Redis: erasing it there, and counting what is left.
import type { Db, Document, ObjectId } from "mongodb";
import type { UUID } from "mongodb";
import { MaxKey, MinKey } from "mongodb";
import { countUpTo, findAll } from "../db/aggregate.ts";
import type { RedisLink } from "../db/redis.ts";
import { claimsCollection, write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { isPast } from "../deadline.ts";
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

/** How much of an account is left in a place: a collection, or `redis`. Counts no further than `mostCounted`. */
export interface PlaceLeft {
  readonly place: string;
  readonly left: number;
}

/** All places of a database and a Redis. */
export interface Places {
  /** Erases as much as there is time for; true when nothing was left. */
  sweep(leaving: Leaving, deadline: Deadline): Promise<boolean>;
  /** What is left in every place; undefined for one that cannot be asked. */
  look(leaving: Leaving, untilMs: number): Promise<{ readonly place: string; readonly left: number | undefined }[]>;
}

/** By account. What refers to others goes first. */
const owned = ["notes", "transcripts", "sessions", "contacts", "api_keys", "audit_log", "imports"] as const;
const sessionsCollection = "dashboard_sessions";
const batch = 1_000;
/** So that looking stays within a request, however much there is. */
const mostCounted = 100_000;

/** The places; `redis` is undefined where there is none. */
export function createPlaces(db: Db, redis: () => RedisLink | undefined): Places {
  async function sweepRedis(id: UUID, untilMs: number): Promise<boolean> {
    const link = redis();
    if (link === undefined) return true;
    for await (const names of namesInRedis(link, id, untilMs)) {
      if (names === undefined) return false;
      if (names.length > 0) await link.attempt((client) => client.del(names));
    }
    return true;
  }

  async function leftInRedis(id: UUID, untilMs: number): Promise<number | undefined> {
    const link = redis();
    if (link === undefined) return 0;
    const found = new Set<string>();
    for await (const names of namesInRedis(link, id, untilMs)) {
      if (names === undefined) return undefined;
      for (const name of names) found.add(name);
    }
    return found.size;
  }

  return {
    async sweep(leaving, deadline) {
      for (const [collection, filter] of collections(leaving)) if (!(await sweepCollection(db, collection, filter, deadline))) return false;
      return sweepRedis(leaving.id, deadline.at);
    },
    look(leaving, untilMs) {
      const inMongo = collections(leaving).map(async ([place, filter]) => ({ place, left: await countUpTo(db.collection(place), mostCounted, filter) }));
      return Promise.all([...inMongo, leftInRedis(leaving.id, untilMs).then((left) => ({ place: "redis", left }))]);
    },
  };
}

/** Every collection that may hold something of an account, and what of it is the account's: each by a range of an index. */
function collections({ id, identities, begunAt }: Leaving): (readonly [name: string, filter: Document])[] {
  const ofPeople = { $or: identities?.map(({ issuer, subject }) => ({ issuer, subject, created_at: { $lte: begunAt } })) ?? [] };
  return [
    [claimsCollection, { _id: { $gte: { account_id: id, key: new MinKey() }, $lte: { account_id: id, key: new MaxKey() } } }],
    ...owned.map((name) => [name, { account_id: id }] as const),
    [accountsCollection, { _id: id }],
    ...(ofPeople.$or.length > 0 ? [[sessionsCollection, ofPeople] as const] : []),
  ];
}

/** Deletes by batches, so that each command stays short however much there is. */
async function sweepCollection(db: Db, name: string, filter: Document, deadline: Deadline): Promise<boolean> {
  const collection = db.collection(name);
  while (!isPast(deadline)) {
    const found = await findAll<{ _id: ObjectId }>(collection, filter, { projection: { _id: 1 }, limit: batch });
    if (found.length === 0) return true;
    await write(db.client, deadline, (options) => collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, options));
  }
  return false;
}

/**
 * The names in Redis that are an account's, by batches: what kind of thing, then the account's id. Undefined, and no more,
 * where Redis or the time is gone.
 */
async function* namesInRedis(link: RedisLink, id: UUID, untilMs: number): AsyncGenerator<string[] | undefined> {
  // Another account may have put the id into an idempotency key; its own, with digits and hyphens, then stands before.
  const own = new RegExp(`^[a-z:]+:${id.toHexString()}(:|$)`);
  let cursor = "0";
  do {
    const at = cursor;
    const found = performance.now() < untilMs ? await link.attempt((client) => client.scan(at, "MATCH", `*${id.toHexString()}*`, "COUNT", batch)) : undefined;
    if (found === undefined) return void (yield undefined);
    cursor = found[0];
    yield found[1].filter((name) => own.test(name));
  } while (cursor !== "0");
}
