// Token buckets by name (contract §6).
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
