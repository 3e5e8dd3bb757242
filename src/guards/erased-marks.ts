// Writes marks to Redis that replace erased responses, and retries while Redis is unavailable.
import type { RedisLink } from "../db/redis.ts";
import { deadlineMs } from "../call/deadline.ts";
import { setBounded } from "../call/bounded-cache.ts";
import { erasedMark, redisKeyOf, responseMs } from "./reservations.ts";

/** How long a mark lasts. By then, any write or replay in progress at the deletion has long stored its response. */
const erasedMs = 2 * responseMs;
/**
 * How long an instance can still store an erased response. The deletion commits by its deadline. A request that read
 * the response before stores it by its own deadline. A server that hangs is abandoned within another. The erasure of an
 * account waits longer for its last sweep (`stragglersMs` in `sweeper.ts`), which removes the marks.
 */
const storableMs = 3 * deadlineMs;
const retryMs = 1_000;
/** How long after an erasure it is repeated. By then, a replica that lacks its master's last writes has taken over. */
const afterFailoverMs = 60_000;
/**
 * The maximum number of waiting names: a few tens of megabytes. The oldest names beyond it are dropped. Redis drops
 * their responses within an hour.
 */
const maxWaiting = 100_000;
/** The number of names marked at once. Together they take much less than the 50 ms limit for Redis. */
const markedAtOnce = 100;
/**
 * The number of failures that ends a round. The next round begins with other names, so that an unavailable master of a
 * cluster delays no other.
 */
const maxFailures = 1_000;

/** A name, and when its response was erased, in milliseconds of `performance.now()`. */
type Erased = readonly [name: string, since: number];

/**
 * Erases the responses under these names, and prevents them from being stored again. While Redis is unavailable,
 * retries in the background for as long as Redis keeps responses. Repeats the erasure a minute later, because a
 * failover may have restored a response. Once no instance can store a response any more, it only replaces existing
 * values. Otherwise the marks of a deleted account would reappear.
 */
export async function eraseCachedResponses(redis: RedisLink | undefined, names: readonly string[]): Promise<void> {
  if (redis === undefined) return;
  const since = performance.now();
  const erased = names.map((name): Erased => [name, since]);
  const mark = async (): Promise<void> => retriesOf(redis).add(await markErased(redis, erased));
  setTimeout(() => void mark(), afterFailoverMs).unref();
  await mark();
}

/** Marks the responses. Returns those that it could not mark. */
async function markErased(redis: RedisLink, erased: readonly Erased[]): Promise<Erased[]> {
  const now = performance.now();
  const marked = await Promise.all(
    erased.map(([name, since]) =>
      redis.attempt(redisKeyOf(name), ({ set, replace }) =>
        (now - since < storableMs ? set : replace)(erasedMark, erasedMs),
      ),
    ),
  );
  return erased.filter((_one, at) => marked[at] === undefined);
}

/** Marks that wait for Redis. */
interface Retries {
  add(erased: readonly Erased[]): void;
}

/** One for each connection, so that a single timer serves all responses. */
const known = new WeakMap<RedisLink, Retries>();

function retriesOf(redis: RedisLink): Retries {
  const retries = known.get(redis) ?? createRetries(redis);
  known.set(redis, retries);
  return retries;
}

function createRetries(redis: RedisLink): Retries {
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;

  function add(erased: readonly Erased[]): void {
    for (const [name, since] of erased)
      setBounded(waiting, name, Math.max(since, waiting.get(name) ?? -Infinity), maxWaiting);
    if (waiting.size > 0) timer ??= setInterval(() => void retry(), retryMs).unref();
  }

  /** Removes the oldest marks. Returns those whose responses have not expired in Redis yet. */
  function take(): Erased[] {
    const taken: Erased[] = [];
    for (const one of waiting) {
      if (taken.push(one) === markedAtOnce) break;
    }
    for (const [name] of taken) waiting.delete(name);
    return taken.filter(([, since]) => performance.now() - since <= responseMs);
  }

  async function retry(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (let left = waiting.size, failures = 0; left > 0 && failures < maxFailures; left -= markedAtOnce) {
      const failed = await markErased(redis, take());
      failures += failed.length;
      add(failed);
    }
    isRunning = false;
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return { add };
}
