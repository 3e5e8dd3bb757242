// Who may ask, and how often, as the peers in TypeScript do it by hand: the key by its hash, and a token bucket in
// Redis.
import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import type { Db, UUID } from "mongodb";
import { Binary } from "mongodb";
import { redisUrl, setting } from "./surroundings.ts";

/** What became of a request's key: the account that it opens, or the HTTP status of the refusal. */
export type Access = { readonly account: UUID; readonly readOnly: boolean } | { readonly refused: 401 | 429 };

/** Rate and burst, as the service's settings are called. */
export const rate = Number(setting("RATE_LIMIT"));
const burst = Number(setting("RATE_BURST"));

const takeToken = `
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

/** Asks MongoDB for the key and Redis for a token, both at once. */
export function createAccess(db: Db): (authorization: string | null | undefined) => Promise<Access> {
  const redis = new Redis(redisUrl);
  redis.defineCommand("takeToken", { numberOfKeys: 1, lua: takeToken });
  const take = redis as Redis & { takeToken(name: string, rate: number, burst: number): Promise<number> };
  const keys = db.collection<{ _id: Binary; account_id: UUID; access: string }>("api_keys");
  return async (authorization) => {
    if (authorization?.startsWith("Bearer ") !== true) return { refused: 401 };
    const hash = createHash("sha256").update(authorization.slice(7)).digest();
    const [token, key] = await Promise.all([
      take.takeToken(`bench:${hash.toString("base64")}`, rate, burst),
      keys.findOne({ _id: new Binary(hash), active: true }),
    ]);
    if (token === 0) return { refused: 429 };
    return key === null ? { refused: 401 } : { account: key.account_id, readOnly: key.access === "read_only" };
  };
}
