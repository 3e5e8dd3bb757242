// Token buckets by name (contract §6).
import type { Tally } from "../call/tally.ts";

/** The refill rate and the capacity of a bucket. */
export interface BucketSize {
  /** Tokens per second. */
  readonly rate: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

/** Token buckets, one for each name. */
export interface Bucket {
  /**
   * Takes this many tokens, one by default, and returns 0. If there are fewer, takes none and returns the milliseconds
   * until there are enough. Rejects if the bucket cannot be read. Adds the time spent in Redis to the tally.
   */
  take(name: string, tokens?: number, tally?: Tally): Promise<number>;
}
