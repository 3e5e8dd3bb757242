// The token bucket of the throttle (contract §6): one in Redis that all instances share, and one of an instance's own.
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { RedisLink } from "../db/redis.ts";

/** How fast a bucket refills, and how much it holds. */
export interface BucketSize {
  /** Tokens a second. */
  readonly rate: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

/** A bucket for every name. */
export interface Bucket {
  /** Takes a token: 0 when there was one, otherwise the milliseconds until there is. Rejects when it cannot tell. */
  take(name: string): Promise<number>;
}

/**
 * Takes from the bucket by Redis's own clock, in one step. The arguments are the limiter's: points to take, whole units
 * of the duration, points of the limiter, duration; the answer is [points consumed, milliseconds to wait], where more
 * points than the limiter has mean a refusal.
 */
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local burst = tonumber(ARGV[3])
local rate = burst / tonumber(ARGV[4]) * 1000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local at = tonumber(bucket[2]) or now
local tokens = math.min(burst, (tonumber(bucket[1]) or burst) + math.max(0, now - at) * rate)
local consumed, wait = 1, 0
if tokens >= 1 then tokens = tokens - 1 else consumed, wait = burst + 1, math.ceil((1 - tokens) / rate) end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(math.max(at, now)))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate) + 1000)
return {consumed, wait}
`;

/** The bucket in Redis, shared by all instances. */
export function sharedBucket(redis: RedisLink, { rate, burst }: BucketSize): Bucket {
  const limiter = new RateLimiterRedis({
    storeClient: redis.client,
    keyPrefix: "throttle",
    points: burst,
    // In microseconds: below one whole unit the limiter would leave the script alone and count without end.
    duration: (burst / rate) * 1_000_000,
    customIncrTtlLuaScript: takeScript,
    rejectIfRedisNotReady: true,
  });
  return {
    async take(name) {
      const waitMs = await redis.attempt(async () => {
        try {
          await limiter.consume(name);
          return 0;
        } catch (error) {
          if (error instanceof RateLimiterRes) return Math.max(1, error.msBeforeNext);
          throw error;
        }
      });
      if (waitMs === undefined) throw new Error("Redis is away");
      return waitMs;
    },
  };
}

/** Buckets in this instance's own memory. */
export interface LocalBucket extends Bucket {
  /** How many are kept: those of the callers of the last seconds. */
  count(): number;
}

/** The bucket of this instance alone. Full buckets are forgotten, so that memory follows the callers of the last seconds. */
export function localBucket({ rate, burst }: BucketSize, now: () => number = () => performance.now()): LocalBucket {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = rate / 1000;
  let sweepAt = now() + sweepEveryMs;
  return {
    count: () => buckets.size,
    take(name) {
      const time = now();
      if (time >= sweepAt) {
        for (const [key, { tokens, at }] of buckets) if (tokens + (time - at) * perMs >= burst) buckets.delete(key);
        sweepAt = time + sweepEveryMs;
      }
      const bucket = buckets.get(name) ?? { tokens: burst, at: time };
      bucket.tokens = Math.min(burst, bucket.tokens + (time - bucket.at) * perMs);
      bucket.at = time;
      buckets.set(name, bucket);
      if (bucket.tokens < 1) return Promise.resolve(Math.ceil((1 - bucket.tokens) / perMs));
      bucket.tokens -= 1;
      return Promise.resolve(0);
    },
  };
}

const sweepEveryMs = 10_000;
