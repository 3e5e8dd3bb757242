// A token bucket in Redis for the peers.
import { Redis } from "ioredis";
import { redisUrl, setting } from "./surroundings.ts";

/** Rate and burst have the names of the service's settings. */
export const rate = Number(setting("RATE_LIMIT"));
const burst = Number(setting("RATE_BURST"));

const script = `
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local tokens = math.min(burst, (tonumber(bucket[1]) or burst) + (now - (tonumber(bucket[2]) or now)) * rate)
if tokens < 1 then return 0 end
redis.call('HSET', KEYS[1], 'tokens', tokens - 1, 'at', now)
redis.call('EXPIRE', KEYS[1], 60)
return 1
`;

/** Takes a token from the bucket with this name; false if it is empty. */
export function createBucket(): (name: string) => Promise<boolean> {
  const redis = new Redis(redisUrl);
  redis.defineCommand("takeToken", { numberOfKeys: 1, lua: script });
  const take = redis as Redis & { takeToken(name: string, rate: number, burst: number): Promise<number> };
  return async (name) => (await take.takeToken(`bench:${name}`, rate, burst)) === 1;
}
