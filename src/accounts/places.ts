// The places of an account's data, in MongoDB and Redis: erases the data there, and counts the rest.
import type { Db, UUID } from "mongodb";
import type { CollectionSpec, ErasedAccount } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import type { SweepRight } from "../db/sweep.ts";
import { countIn, partsOf, sweepPart } from "../db/sweep.ts";
import type { Deadline } from "../call/deadline.ts";

/** The amount of an account's data left in a place: a collection, or `redis`. */
export interface PlaceLeft {
  readonly place: string;
  /**
   * The number of documents or keys, counted up to `maxCounted` in MongoDB; undefined if the place cannot be reached.
   */
  readonly left: number | undefined;
}

/** All places of a database and a Redis server. */
export interface Places {
  /**
   * Deletes batch by batch. Returns true if nothing is left in any place, and false if the right to sweep ended or
   * Redis failed.
   */
  sweep(leaving: ErasedAccount, right: SweepRight): Promise<boolean>;
  /** Counts the rest in every place. Scans Redis until `untilMs` of `performance.now()`. */
  look(leaving: ErasedAccount, untilMs: number, deadline: Deadline): Promise<PlaceLeft[]>;
}

/**
 * The number of Redis keys deleted concurrently, each by its own command. Together they take much less than the 50 ms
 * limit for Redis.
 */
const deletedAtOnce = 100;
/** Bounds the time to count, so that it fits in a request. */
const maxCounted = 10_000;

/**
 * Creates the places. `redis` returns undefined if the service has no Redis. In `specs`, a collection comes before
 * those that it refers to.
 */
export function createPlaces(db: Db, specs: readonly CollectionSpec[], redis: () => RedisLink | undefined): Places {
  async function sweepRedis(id: UUID, right: SweepRight): Promise<boolean> {
    const link = redis();
    if (link === undefined) return true;
    for await (const names of namesInRedis(link, id, async () => (await right.permit()) !== undefined)) {
      if (names === undefined) return false;
      if (!(await deleteAll(link, names))) return false;
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
      for (const part of partsOf(specs, leaving)) if (!(await sweepPart(db, part, right))) return false;
      return sweepRedis(leaving.id, right);
    },
    look(leaving, untilMs, deadline) {
      const inMongo = partsOf(specs, leaving).map(async (part) => ({
        place: part.place,
        left: await countIn(db, part, maxCounted, deadline),
      }));
      return Promise.all([...inMongo, leftInRedis(leaving.id, untilMs).then((left) => ({ place: "redis", left }))]);
    },
  };
}

/**
 * Yields the account's Redis keys in batches. A key has a kind, then the account's id. Yields undefined and ends if
 * Redis fails or `mayContinue` returns false.
 */
async function* namesInRedis(
  link: RedisLink,
  id: UUID,
  mayContinue: () => Promise<boolean>,
): AsyncGenerator<string[] | undefined> {
  // Another account's idempotency key may contain the id. That account's own id, with digits and hyphens, then precedes
  // it.
  const own = new RegExp(`^[a-z:]+:${id.toHexString()}(:|$)`);
  for await (const names of link.keys(`*${id.toHexString()}*`, mayContinue))
    yield names?.filter((name) => own.test(name));
}

/** Returns false if some keys could not be deleted. */
async function deleteAll(link: RedisLink, names: readonly string[]): Promise<boolean> {
  for (let at = 0; at < names.length; at += deletedAtOnce) {
    const some = names.slice(at, at + deletedAtOnce);
    const deleted = await Promise.all(some.map((name) => link.attempt(name, (key) => key.delete())));
    if (deleted.includes(undefined)) return false;
  }
  return true;
}
