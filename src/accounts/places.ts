// Where something of an account may be, in MongoDB and in Redis: erasing it there, and counting what is left.
import type { Db, UUID } from "mongodb";
import type { CollectionSpec, LeavingAccount } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import type { SweepRight } from "../db/sweep.ts";
import { countIn, partsOf, sweepPart } from "../db/sweep.ts";
import type { Deadline } from "../deadline.ts";

/** How much of an account is left in a place: a collection, or `redis`. Undefined for one that cannot be reached. */
export interface PlaceLeft {
  readonly place: string;
  /** Counts no further than `mostCounted`. */
  readonly left: number | undefined;
}

/** All places of a database and a Redis. */
export interface Places {
  /** Deletes batch by batch; true when nothing was left anywhere, false when the right ended before. */
  sweep(leaving: LeavingAccount, right: SweepRight): Promise<boolean>;
  /** What is left in every place. Redis is given until `untilMs`. */
  look(leaving: LeavingAccount, untilMs: number, deadline: Deadline): Promise<PlaceLeft[]>;
}

/** Names that are deleted at once, each by a command of its own: together they stay well within Redis's 50 ms. */
const deletedAtOnce = 100;
/** So that looking stays within a request, however much there is. */
const mostCounted = 10_000;

/** The places; `redis` is undefined where there is none. What refers to others is before them in `specs`. */
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
        left: await countIn(db, part, mostCounted, deadline),
      }));
      return Promise.all([...inMongo, leftInRedis(leaving.id, untilMs).then((left) => ({ place: "redis", left }))]);
    },
  };
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
  // Another account may have put the id into an idempotency key; its own, with digits and hyphens, is then before.
  const own = new RegExp(`^[a-z:]+:${id.toHexString()}(:|$)`);
  for await (const names of link.keys(`*${id.toHexString()}*`, goesOn)) yield names?.filter((name) => own.test(name));
}

/** False where not all could be deleted. */
async function deleteAll(link: RedisLink, names: readonly string[]): Promise<boolean> {
  for (let at = 0; at < names.length; at += deletedAtOnce) {
    const some = names.slice(at, at + deletedAtOnce);
    const deleted = await Promise.all(some.map((name) => link.attempt(name, (key) => key.delete())));
    if (deleted.includes(undefined)) return false;
  }
  return true;
}
