// Where something of an account may be, in MongoDB and in Redis: erasing it there, and counting what is left.
import type { Db, UUID } from "mongodb";
import type { CollectionSpec, LeavingAccount } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import type { SweepRight } from "../db/sweep.ts";
import { countIn, partsOf, sweepPart } from "../db/sweep.ts";
import type { Deadline } from "../deadline.ts";

/** How much of an account is left in a place: a collection, or `redis`. Undefined for one that cannot be asked. */
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

/** Names for each look into Redis. */
const scanned = 1_000;
/** So that looking stays within a request, however much there is. */
const mostCounted = 10_000;

/** The places; `redis` is undefined where there is none. What refers to others stands before them in `specs`. */
export function createPlaces(db: Db, specs: readonly CollectionSpec[], redis: () => RedisLink | undefined): Places {
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
