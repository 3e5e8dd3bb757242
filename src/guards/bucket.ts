// Token buckets in the memory of one instance (contract §6).
import { keep } from "../remembered.ts";
import type { Tally } from "../tally.ts";

/** How fast a bucket refills, and how much it holds. */
export interface BucketSize {
  /** Tokens a second. */
  readonly rate: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

/** A bucket for every name. */
export interface Bucket {
  /**
   * Takes this many tokens, one by default, and returns 0. Where there are fewer it takes none, and returns the
   * milliseconds until there are enough. Rejects when the bucket cannot be read. The time in Redis counts in the tally.
   */
  take(name: string, tokens?: number, tally?: Tally): Promise<number>;
}

/** Buckets in this instance's own memory. */
export interface LocalBucket extends Bucket {
  /** The same as `take`, synchronously. */
  takeNow(name: string, tokens?: number): number;
  /** Returns one token. */
  giveBack(name: string): void;
  /** How many are kept: those of the callers of the last seconds. */
  count(): number;
}

/**
 * The bucket of this instance alone. Full buckets are removed, so that memory use follows the callers of the last
 * seconds. Above a maximum the least recently used buckets are removed.
 */
export function localBucket({ rate, burst }: BucketSize, now: () => number = () => performance.now()): LocalBucket {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = rate / 1000;
  let sweepAt = now() + sweepEveryMs;

  function takeNow(name: string, tokens = 1): number {
    const time = now();
    if (time >= sweepAt) {
      for (const [key, { tokens: left, at }] of buckets) if (left + (time - at) * perMs >= burst) buckets.delete(key);
      sweepAt = time + sweepEveryMs;
    }
    const bucket = buckets.get(name) ?? { tokens: burst, at: time };
    bucket.tokens = Math.min(burst, bucket.tokens + (time - bucket.at) * perMs);
    bucket.at = time;
    keep(buckets, name, bucket);
    if (bucket.tokens < tokens) return Math.ceil((tokens - bucket.tokens) / perMs);
    bucket.tokens -= tokens;
    return 0;
  }

  return {
    count: () => buckets.size,
    takeNow,
    take: (name, tokens) => Promise.resolve(takeNow(name, tokens)),
    giveBack(name) {
      const bucket = buckets.get(name);
      if (bucket !== undefined) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}

const sweepEveryMs = 10_000;
