// Marks in Redis in the place of erased responses, tried again while Redis is away.
import type { RedisLink } from "../db/redis.ts";
import { deadlineMs } from "../deadline.ts";
import { keep } from "../remembered.ts";
import { erasedMark, keptUnder, responseMs } from "./reservations.ts";

/** Long after any write or replay in progress at the deletion has stored its response. */
const erasedMs = 2 * responseMs;
/**
 * How long an instance can still store an erased response: the deletion commits by its deadline, what has read the
 * response before stores it by its own, and a server that hangs is given up within another. An erasure of the account
 * waits longer than that for its last sweep (`stragglersMs` in `sweeper.ts`), which removes the marks.
 */
const storableMs = 3 * deadlineMs;
const retryMs = 1_000;
/** A replica that lacks the last writes of its master has taken over by then. */
const afterFailoverMs = 60_000;
/** A few tens of megabytes. Beyond it names are given up, whose responses Redis forgets within the hour. */
const mostWaiting = 100_000;
/** Names that are marked at once: together they stay well within Redis's 50 ms. */
const markedAtOnce = 100;
/** Ends a round. The next one begins with other names: a master of a cluster that is away holds up no other. */
const mostFailures = 1_000;

/** A name and when its response was erased, in milliseconds of `performance.now()`. */
type Erased = readonly [name: string, since: number];

/**
 * Erases the responses under these names, and prevents that they are stored again. While Redis is away it retries in
 * the background, for as long as a response is kept there. A minute later it does it once more where something is kept:
 * a failover may have brought a response back. A mark of an account that was deleted meanwhile does not come back: once
 * nobody can store a response any more, only what is there is replaced.
 */
export async function eraseKept(redis: RedisLink | undefined, names: readonly string[]): Promise<void> {
  if (redis === undefined) return;
  const since = performance.now();
  const erased = names.map((name): Erased => [name, since]);
  const mark = async (): Promise<void> => retriesOf(redis).add(await unmarked(redis, erased));
  setTimeout(() => void mark(), afterFailoverMs).unref();
  await mark();
}

/** Marks the responses; those that could not be marked. */
async function unmarked(redis: RedisLink, erased: readonly Erased[]): Promise<Erased[]> {
  const now = performance.now();
  const marked = await Promise.all(
    erased.map(([name, since]) =>
      redis.attempt(keptUnder(name), ({ set, replace }) =>
        (now - since < storableMs ? set : replace)(erasedMark, erasedMs),
      ),
    ),
  );
  return erased.filter((_one, at) => marked[at] === undefined);
}

/** The marks that wait for Redis. */
interface Retries {
  add(erased: readonly Erased[]): void;
}

/** One for each connection, so that there is one timer however many responses are erased meanwhile. */
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
      keep(waiting, name, Math.max(since, waiting.get(name) ?? -Infinity), mostWaiting);
    if (waiting.size > 0) timer ??= setInterval(() => void retry(), retryMs).unref();
  }

  /** The oldest, without those whose response Redis no longer keeps. */
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
    for (let left = waiting.size, failures = 0; left > 0 && failures < mostFailures; left -= markedAtOnce) {
      const failed = await unmarked(redis, take());
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
