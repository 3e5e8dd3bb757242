// Token bucket in Redis that all instances share (contract §6).
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { RedisLink, ScriptedClient } from "../db/redis.ts";
import type { Tally } from "../call/tally.ts";
import type { Bucket, BucketSize } from "./bucket.ts";
import type { KnownBuckets } from "./known-buckets.ts";

/**
 * Takes from the bucket in one step, by Redis's clock. After a failover, that is another server's clock. If it is
 * behind, time continues from there. A replica that became the master may lack the last takes, or have a clock that is
 * ahead. Therefore, the instance sends the maximum number of tokens that the bucket can have, as far as it knows.
 *
 * The first four arguments are the limiter's: points to take, duration in whole units, points of the limiter, duration.
 * Then come the maximum number of tokens, empty if unknown, and the tokens that were debited before. The result is
 * points consumed, milliseconds to wait, tokens left, and the time. The request is rejected if the points consumed
 * exceed the limiter's. A foreign value, such as one of another type, counts as a full bucket.
 */
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local points = tonumber(ARGV[1])
local burst = tonumber(ARGV[3])
local rate = burst / tonumber(ARGV[4]) * 1000
local bucket = redis.pcall('HMGET', KEYS[1], 'tokens', 'at')
if bucket.err then redis.call('DEL', KEYS[1]) bucket = {} end
local at = math.min(tonumber(bucket[2]) or now, now)
local tokens = math.min(tonumber(ARGV[5]) or burst, (tonumber(bucket[1]) or burst) + (now - at) * rate)
if tokens ~= tokens or tokens < 0 then tokens = burst end
tokens = math.max(0, tokens - tonumber(ARGV[6]))
local consumed, wait = 1, 0
if tokens >= points then tokens = tokens - points else consumed, wait = burst + 1, math.ceil((points - tokens) / rate) end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate) + 1000)
return {consumed, wait, tostring(tokens), tostring(now)}
`;

/** The timeout of a Redis command. It limits how many tokens are added while requests wait for Redis. */
const patienceMs = 50;

/** A bucket in Redis. `wait` is that of the known buckets. */
export interface SharedBucket extends Bucket {
  wait(name: string, tokens: number, before?: number): number;
}

/** Options that distinguish the buckets in one Redis. */
export interface SharedBucketOptions {
  /** The prefix of the names in Redis. */
  readonly prefix?: string;
  /** Called for every rejection that needed no Redis command. */
  readonly onRemembered?: () => void;
}

/**
 * Creates the bucket in Redis, shared by all instances. `known` stores Redis's replies. While a bucket is known to be
 * empty, requests are rejected without a Redis command. It is known to be empty during the wait that Redis returned,
 * and while as many takes are in flight as there can be tokens.
 */
export function sharedBucket(
  redis: RedisLink,
  { rate, burst }: BucketSize,
  known: KnownBuckets,
  { prefix = "throttle", onRemembered = () => undefined }: SharedBucketOptions = {},
): SharedBucket {
  const options = {
    storeClient: sendingKnown(redis.client, known, (key) => key.slice(prefix.length + 1)),
    keyPrefix: prefix,
    points: burst,
    // In microseconds: for less than one whole unit, the limiter skips the script and counts without an expiry.
    duration: (burst / rate) * 1_000_000,
    customIncrTtlLuaScript: takeScript,
    rejectIfRedisNotReady: true,
  };
  const limiter = new RateLimiterRedis(options);
  const maxWaiting = burst + Math.ceil((rate * patienceMs) / 1_000);
  const underway = new Map<string, number>();
  const waitMs = Math.ceil(1_000 / rate);
  const isUsedUp = (name: string): boolean => (underway.get(name) ?? 0) >= maxWaiting;

  async function takeShared(name: string, tokens: number, tally: Tally | undefined): Promise<number> {
    const waitMs = await redis.attempt(
      limiter.getKey(name),
      async () => {
        // The limiter can also remember rejections, but by the wall clock: setting it back would prolong them.
        const remembered = known.wait(name, tokens);
        if (remembered > 0) {
          onRemembered();
          return remembered;
        }
        return waitFor(limiter.consume(name, tokens));
      },
      tally,
    );
    if (waitMs === undefined) throw new Error("Redis is unavailable");
    return waitMs;
  }

  return {
    // What is underway takes its tokens first, from Redis or, if it fails, from what is known.
    wait: (name, tokens, before = 0) => known.wait(name, tokens, before + (underway.get(name) ?? 0)),
    async take(name, tokens = 1, tally) {
      if (tokens > 1) return takeShared(name, tokens, tally);
      if (isUsedUp(name)) {
        onRemembered();
        return waitMs;
      }
      underway.set(name, (underway.get(name) ?? 0) + 1);
      try {
        return await takeShared(name, 1, tally);
      } finally {
        const others = (underway.get(name) ?? 1) - 1;
        if (others > 0) underway.set(name, others);
        else underway.delete(name);
      }
    },
  };
}

/** Converts the limiter's result into the milliseconds to wait; 0 if it took the tokens. */
async function waitFor(result: Promise<unknown>): Promise<number> {
  try {
    await result;
    return 0;
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    return Math.max(1, error.msBeforeNext);
  }
}

/** The limiter's command that runs the script. */
type Take = (args: readonly string[]) => Promise<readonly [consumed: number, waitMs: number, left: string, at: string]>;

/**
 * Returns a client for the limiter. It sends the known maximum of the bucket, and stores the state in Redis's reply.
 */
function sendingKnown(client: ScriptedClient, known: KnownBuckets, nameOf: (key: string) => string): object {
  // The limiter defines this command.
  const scripted = client as ScriptedClient & { readonly rlflxIncr: Take };
  return {
    get status() {
      return client.status;
    },
    defineCommand: client.defineCommand.bind(client),
    async rlflxIncr(args: readonly [key: string, points: string, ...string[]]) {
      const { maxTokens = "", debited, learn } = known.send(nameOf(args[0]));
      const [consumed, waitMs, left, at] = await scripted.rlflxIncr([...args, String(maxTokens), String(debited)]);
      learn({ left: Number(left), at: Number(at) }, debited + (waitMs > 0 ? 0 : Number(args[1])));
      return [consumed, waitMs];
    },
  };
}
