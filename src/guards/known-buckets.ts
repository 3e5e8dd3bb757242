// Buckets in the memory of one instance: those that it shares with none, and what it knows of the shared ones, their
// bound after a failover and its own while Redis is away.
import { keep } from "../remembered.ts";
import type { Bucket, BucketSize } from "./bucket.ts";

/** The tokens left in a bucket at a time, in milliseconds of Redis's clock. */
export interface BucketState {
  readonly left: number;
  readonly at: number;
}

/** A take that is sent to Redis. */
export interface SentTake {
  /** The tokens that the bucket can have at most when Redis gets the take; undefined where nothing is known. */
  readonly most: number | undefined;
  /** Keeps what Redis replied, also late, to a take that got `taken` tokens. */
  learn(state: BucketState, taken: number): void;
}

/**
 * The last known state of each bucket. As a bucket itself it serves this instance while Redis is away: it continues
 * from that state at the share of the rate that this instance took before, so that all instances together keep near to
 * the limit. A bucket that the instance does not know is full, and all its own. Times are those of the instance's own
 * monotonic clock: neither a new master's clock nor a step of this machine's gives or takes tokens.
 */
export interface KnownBuckets extends Bucket {
  /** Call it just before a take is sent. */
  send(name: string): SentTake;
  /** Milliseconds until the bucket can have so many tokens; 0 where it may have them now. */
  wait(name: string, tokens: number): number;
  /** Returns one token. */
  giveBack(name: string): void;
  /** How many are kept: those of the callers of the last seconds. */
  count(): number;
}

interface Known {
  /** The tokens at `since`, by the clock of this instance, and not later: when the take was sent. */
  readonly left: number;
  readonly since: number;
  /** What Redis replied last, by its own clock. */
  readonly replied: BucketState | undefined;
  /** When this instance took by itself; a reply to an older take does not know of it. */
  readonly tookAt: number;
  /** The tokens that this instance and the others took, of which old ones count less and less. */
  readonly ours: number;
  readonly others: number;
}

/** For each reply: so that the last fifty decide. */
const fading = 0.98;
const sweepEveryMs = 10_000;
/** A take arrives in Redis later than it is sent: at most the timeout of a command. */
const transitMs = 50;

/** Full buckets are removed; above a maximum, the least recently used are. */
export function createKnownBuckets(
  { rate, burst }: BucketSize,
  clock: () => number = () => performance.now(),
): KnownBuckets {
  const buckets = new Map<string, Known>();
  const perMs = rate / 1_000;
  const unknown: Omit<Known, "since"> = { left: burst, replied: undefined, tookAt: -Infinity, ours: 0, others: 0 };
  let sweepAt = clock() + sweepEveryMs;

  const refilled = (left: number, ms: number): number => Math.min(burst, left + Math.max(0, ms) * perMs);
  const msFor = (tokens: number): number => Math.max(0, Math.ceil(tokens / perMs));

  function put(name: string, known: Known): void {
    keep(buckets, name, known);
    const now = clock();
    if (now < sweepAt) return;
    for (const [key, { left, since }] of buckets) if (refilled(left, now - since) >= burst) buckets.delete(key);
    sweepAt = now + sweepEveryMs;
  }

  return {
    count: () => buckets.size,
    wait(name, tokens) {
      const known = buckets.get(name);
      return known === undefined ? 0 : msFor(tokens - refilled(known.left, clock() - known.since));
    },
    send(name) {
      const sentAt = clock();
      const known = buckets.get(name);
      return {
        most: known && refilled(known.left, sentAt + transitMs - known.since),
        learn(state, taken) {
          const { replied, tookAt, left, since, ours, others } = buckets.get(name) ?? { ...unknown, since: sentAt };
          const due = replied === undefined ? burst : refilled(replied.left, state.at - replied.at);
          put(name, {
            ...(tookAt > sentAt ? { left: Math.min(left, state.left), since } : { left: state.left, since: sentAt }),
            ...{ replied: state, tookAt },
            ...sharesAfter({ ours, others }, taken, Math.max(0, due - taken - state.left)),
          });
        },
      };
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
      // The others take theirs too, so a token of this instance stands for several.
      const cost = Math.min(burst, others > 0 ? tokens * (1 + others / ours) : tokens);
      const passes = left >= cost;
      put(name, { ...known, left: passes ? left - cost : left, since: now, tookAt: now });
      return Promise.resolve(passes ? 0 : msFor(cost - left));
    },
  };
}

/** The tokens that this instance and the others took, after one more reply. */
function sharesAfter({ ours, others }: Pick<Known, "ours" | "others">, taken: number, byOthers: number) {
  const fade = taken + byOthers > 0 ? fading : 1;
  return { ours: ours * fade + taken, others: others * fade + byOthers };
}
