// In-memory token buckets: those of one instance, and a cache of the shared ones that serves while Redis is
// unavailable.
import { setBounded } from "../call/bounded-cache.ts";
import type { Bucket, BucketSize } from "./bucket.ts";

/** The tokens left in a bucket at an instant, in milliseconds of Redis's clock. */
export interface BucketState {
  readonly left: number;
  readonly at: number;
}

/** A take that is about to be sent to Redis. */
export interface SentTake {
  /**
   * The maximum number of tokens in the bucket when Redis receives the take; undefined if the bucket is unknown. It
   * limits the bucket after a failover.
   */
  readonly maxTokens: number | undefined;
  /** The tokens that were debited since the last take. */
  readonly debited: number;
  /** Stores the state in Redis's reply, even a late one, to a take that got `taken` tokens. */
  learn(state: BucketState, taken: number): void;
}

/**
 * The last known state of each bucket. While Redis is unavailable, `take` continues from that state. It uses the share
 * of the rate that this instance took before, so all instances together stay near the limit. An unknown bucket is
 * assumed to be full, and used by this instance alone. Times are of the instance's monotonic clock: no other clock adds
 * or removes tokens.
 */
export interface KnownBuckets extends Bucket {
  /** Call it just before you send a take to Redis. */
  send(name: string): SentTake;
  /**
   * Returns the milliseconds until the bucket has this many tokens, after `before` others have taken one each; 0 if it
   * may have them now.
   */
  wait(name: string, tokens: number, before?: number): number;
  /** Takes a token at once. The next take that is sent takes it from Redis as well. */
  debit(name: string): void;
  /** Puts one token back. */
  giveBack(name: string): void;
  /** Returns the number of buckets in memory: those used in the last seconds. */
  count(): number;
}

interface Known {
  /** The tokens at `since`: when the last take was sent or made, in milliseconds of this instance's clock. */
  readonly left: number;
  readonly since: number;
  /** How much later than `since` Redis may have run that take. The bucket may refill that much later. */
  readonly transit: number;
  /** The tokens debited until `since` that Redis does not know of. They are not among `left`. */
  readonly debited: number;
  /** The last state that Redis replied, by Redis's clock. */
  readonly replied: BucketState | undefined;
  /** When this instance last took tokens without Redis. The reply to an older take does not include them. */
  readonly tookAt: number;
  /** The tokens taken by this instance and by the others. Older ones count less. */
  readonly ours: number;
  readonly others: number;
}

/** The factor by which each reply reduces the weight of the older ones: about the last fifty decide. */
const fading = 0.98;
const sweepEveryMs = 10_000;
/** The maximum time in which a take reaches Redis: the timeout of a command. */
const transitMs = 50;

/** Creates the buckets. Removes full ones, and the least recently used ones above a maximum. */
export function createKnownBuckets(
  { rate, burst }: BucketSize,
  clock: () => number = () => performance.now(),
): KnownBuckets {
  const buckets = new Map<string, Known>();
  const perMs = rate / 1_000;
  const unknown: Omit<Known, "since"> = {
    left: burst,
    transit: 0,
    debited: 0,
    replied: undefined,
    tookAt: -Infinity,
    ours: 0,
    others: 0,
  };
  let sweepAt = clock() + sweepEveryMs;

  const refilled = (left: number, ms: number): number => Math.min(burst, left + ms * perMs);
  const msFor = (tokens: number): number => Math.max(0, Math.ceil(tokens / perMs));
  /** Returns what is still missing of the debited tokens: in a full bucket, they have been refilled by then. */
  const missing = ({ debited, since }: Known, at: number): number =>
    debited === 0 ? 0 : Math.max(0, debited - Math.max(0, at - since) * perMs);

  function put(name: string, known: Known, now: number): void {
    setBounded(buckets, name, known);
    if (now < sweepAt) return;
    for (const [key, { left, since }] of buckets) if (refilled(left, now - since) >= burst) buckets.delete(key);
    sweepAt = now + sweepEveryMs;
  }

  return {
    count: () => buckets.size,
    wait(name, tokens, before = 0) {
      const now = clock();
      const known = buckets.get(name) ?? { ...unknown, since: now };
      const left = refilled(known.left, now - known.since);
      // The others are rejected once no token is left.
      const needed = tokens + Math.min(before, Math.max(0, Math.floor(left)));
      return needed <= left ? 0 : msFor(needed - refilled(known.left, now - known.since - known.transit));
    },
    send(name) {
      const sentAt = clock();
      const known = buckets.get(name);
      const debited = known === undefined ? 0 : missing(known, sentAt);
      if (known !== undefined && known.debited > 0) buckets.set(name, { ...known, debited: 0 });
      return {
        maxTokens: known && refilled(known.left + known.debited, sentAt + transitMs - known.since),
        debited,
        learn(state, taken) {
          const latest = buckets.get(name) ?? { ...unknown, since: sentAt };
          const { replied, tookAt, left, since, transit, debited: later, ours, others } = latest;
          const due = replied === undefined ? burst : refilled(replied.left, Math.max(0, state.at - replied.at));
          const now = clock();
          const next = {
            ...(tookAt > sentAt
              ? { left: Math.min(left, state.left), since, transit }
              : { left: state.left - later, since: sentAt, transit: now - sentAt }),
            debited: later,
            replied: state,
            tookAt,
            ...sharesAfter({ ours, others }, taken, Math.max(0, due - taken - state.left)),
          };
          put(name, next, now);
        },
      };
    },
    debit(name) {
      const now = clock();
      const known = buckets.get(name) ?? { ...unknown, since: now };
      const left = refilled(known.left, now - known.since) - 1;
      put(name, { ...known, left, since: now, debited: missing(known, now) + 1 }, now);
    },
    giveBack(name) {
      const known = buckets.get(name);
      if (known !== undefined) buckets.set(name, { ...known, left: Math.min(burst, known.left + 1) });
    },
    take(name, tokens = 1) {
      const now = clock();
      const known = buckets.get(name) ?? { ...unknown, since: now };
      const { ours, others } = known;
      const left = refilled(known.left, now - known.since);
      // The other instances take tokens too, so a token of this instance counts for several.
      const cost = Math.min(burst, others > 0 ? tokens * (1 + others / ours) : tokens);
      const passes = left >= cost;
      put(name, { ...known, left: passes ? left - cost : left, since: now, debited: 0, tookAt: now }, now);
      return Promise.resolve(passes ? 0 : msFor(cost - left));
    },
  };
}

/** Returns the tokens taken by this instance and by the others, after one more reply. */
function sharesAfter({ ours, others }: Pick<Known, "ours" | "others">, taken: number, byOthers: number) {
  const fade = taken + byOthers > 0 ? fading : 1;
  return { ours: ours * fade + taken, others: others * fade + byOthers };
}
