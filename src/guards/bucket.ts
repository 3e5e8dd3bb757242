// Token buckets: one in Redis that all instances share, and one in an instance's own memory (contract §6).
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { RedisLink } from "../db/redis.ts";
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

/**
 * Takes from the bucket by Redis's own clock, in one step. After a failover that is another server's: where it is
 * behind, time continues from there. The arguments are the limiter's: points to take, whole units
 * of the duration, points of the limiter, duration; the response is [points consumed, milliseconds to wait], where more
 * points than the limiter has mean a rejection.
 */
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local points = tonumber(ARGV[1])
local burst = tonumber(ARGV[3])
local rate = burst / tonumber(ARGV[4]) * 1000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local at = math.min(tonumber(bucket[2]) or now, now)
local tokens = math.min(burst, (tonumber(bucket[1]) or burst) + (now - at) * rate)
local consumed, wait = 1, 0
if tokens >= points then tokens = tokens - points else consumed, wait = burst + 1, math.ceil((points - tokens) / rate) end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate) + 1000)
return {consumed, wait}
`;

/** The timeout of a Redis command: it bounds how much refills while requests wait for Redis. */
const patienceMs = 50;

/** What differs between the buckets in one Redis. */
export interface SharedBucketOptions {
  /** The prefix of the names in Redis. */
  readonly prefix?: string;
  /** Called for every rejection that needed no Redis command. */
  readonly onRemembered?: () => void;
}

/**
 * The bucket in Redis, shared by all instances. While a bucket is known to be empty, requests are rejected without a
 * Redis command: during the wait that Redis returned with a rejection, and while as many takes are in flight as there can
 * be tokens.
 */
export function sharedBucket(
  redis: RedisLink,
  { rate, burst }: BucketSize,
  { prefix = "throttle", onRemembered = () => undefined }: SharedBucketOptions = {},
): Bucket {
  const options = {
    storeClient: redis.client,
    keyPrefix: prefix,
    points: burst,
    // In microseconds: below one whole unit the limiter would leave the script alone and count without end.
    duration: (burst / rate) * 1_000_000,
    customIncrTtlLuaScript: takeScript,
    rejectIfRedisNotReady: true,
  };
  const single = new RateLimiterRedis({ ...options, inMemoryBlockOnConsumed: burst + 1 });
  // A bucket with too few tokens for several may have one: such a rejection is not remembered.
  const several = new RateLimiterRedis(options);
  const most = burst + Math.ceil((rate * patienceMs) / 1_000);
  const underway = new Map<string, number>();

  async function ask(name: string, tokens: number, tally: Tally | undefined): Promise<number> {
    const waitMs = await redis.attempt(
      single.getKey(name),
      async () => {
        try {
          await (tokens === 1 ? single : several).consume(name, tokens);
          return 0;
        } catch (error) {
          if (!(error instanceof RateLimiterRes)) throw error;
          // A rejection from the limiter's memory has consumed nothing; one from the script reports more than the burst.
          if (error.consumedPoints === 0) onRemembered();
          return Math.max(1, error.msBeforeNext);
        }
      },
      tally,
    );
    if (waitMs === undefined) throw new Error("Redis is away");
    return waitMs;
  }

  return {
    async take(name, tokens = 1, tally) {
      if (tokens > 1) return ask(name, tokens, tally);
      const asking = underway.get(name) ?? 0;
      if (asking >= most) {
        onRemembered();
        return Math.ceil(1_000 / rate);
      }
      underway.set(name, asking + 1);
      try {
        return await ask(name, 1, tally);
      } finally {
        const others = (underway.get(name) ?? 1) - 1;
        if (others > 0) underway.set(name, others);
        else underway.delete(name);
      }
    },
  };
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
