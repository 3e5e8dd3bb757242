// What an instance knows of the shared buckets: their bound after a failover, and its own while Redis is away.
import { keep } from "../remembered.ts";
import type { Bucket, BucketSize } from "./bucket.ts";

/** The tokens left in a bucket at a time, in milliseconds of Redis's clock. */
export interface BucketState {
  readonly left: number;
  readonly at: number;
}

/**
 * The last known state of each bucket. As a bucket itself it serves this instance while Redis is away: it continues
 * from that state at the share of the rate that this instance took before, so that all instances together keep near to
 * the limit. A bucket that the instance does not know is full, and all its own.
 */
export interface KnownBuckets extends Bucket {
  state(name: string): BucketState | undefined;
  /** Keeps what Redis replied to a take of this instance that got `taken` tokens. */
  learn(name: string, state: BucketState, taken: number): void;
  /** How many are kept: those of the callers of the last seconds. */
  count(): number;
}

interface Known extends BucketState {
  /** When that was, by the clock of this instance. */
  readonly since: number;
  /** The tokens that this instance and the others took, of which old ones count less and less. */
  readonly ours: number;
  readonly others: number;
}

/** For each reply: so that the last fifty decide. */
const fading = 0.98;
const sweepEveryMs = 10_000;

/** Full buckets are removed; above a maximum, the least recently used are. */
export function createKnownBuckets(
  { rate, burst }: BucketSize,
  clock: () => number = () => performance.now(),
): KnownBuckets {
  const buckets = new Map<string, Known>();
  const perMs = rate / 1_000;
  let sweepAt = clock() + sweepEveryMs;

  const refilled = (left: number, ms: number): number => Math.min(burst, left + Math.max(0, ms) * perMs);
  const msFor = (tokens: number): number => Math.max(0, Math.ceil(tokens / perMs));

  function put(name: string, known: Known): void {
    keep(buckets, name, known);
    if (known.since < sweepAt) return;
    for (const [key, { left, since }] of buckets) if (refilled(left, known.since - since) >= burst) buckets.delete(key);
    sweepAt = known.since + sweepEveryMs;
  }

  return {
    count: () => buckets.size,
    state: (name) => buckets.get(name),
    learn(name, state, taken) {
      const before = buckets.get(name) ?? { left: burst, at: state.at, ours: 0, others: 0 };
      const byOthers = Math.max(0, refilled(before.left, state.at - before.at) - taken - state.left);
      const fade = taken + byOthers > 0 ? fading : 1;
      const [ours, others] = [before.ours * fade + taken, before.others * fade + byOthers];
      put(name, { ...state, since: clock(), ours, others });
    },
    take(name, tokens = 1) {
      const now = clock();
      // Redis is taken to have this machine's time until it reports its own.
      const fresh = { left: burst, at: performance.timeOrigin + now, since: now, ours: 0, others: 0 };
      const { ours, others, ...known } = buckets.get(name) ?? fresh;
      const left = refilled(known.left, now - known.since);
      // The others take theirs too, so a token of this instance stands for several.
      const cost = Math.min(burst, others > 0 ? tokens * (1 + others / ours) : tokens);
      const passes = left >= cost;
      const at = known.at + now - known.since;
      put(name, { left: passes ? left - cost : left, at, since: now, ours, others });
      return Promise.resolve(passes ? 0 : msFor(cost - left));
    },
  };
}
