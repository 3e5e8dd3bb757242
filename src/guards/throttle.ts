// 429: takes tokens from Redis, or from this instance's own bucket while Redis is unavailable (contract §6).
import type { UUID } from "mongodb";
import { networkOf } from "../config/address.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { Failure } from "../call/errors.ts";
import type { Tally } from "../call/tally.ts";
import type { Bucket } from "./bucket.ts";

/**
 * Takes tokens, one by default, from the bucket of this name. Fails with RATE_LIMITED and the wait until
 * the request can be sent again. Sending it again takes `repeated` tokens, by default `tokens`. Adds the time spent in
 * Redis to the tally.
 */
export type Throttle = (bucket: string, tally?: Tally, tokens?: number, repeated?: number) => Promise<void>;

/**
 * Creates a throttle over buckets that refill at `rate` tokens per second. `shared` is undefined if there is no Redis
 * at all. `onFallback` is called for every request that the own bucket decides because Redis failed, and `onEmpty` for
 * every one that is rejected, with the milliseconds until its bucket has the tokens.
 */
export function createThrottle(
  shared: Bucket | undefined,
  own: Bucket,
  rate: number,
  onFallback: () => void,
  onEmpty: (waitMs: number) => void = () => undefined,
): Throttle {
  async function take(name: string, tally: Tally | undefined, tokens: number | undefined): Promise<number> {
    if (shared !== undefined) {
      try {
        return await shared.take(name, tokens, tally);
      } catch {
        onFallback();
      }
    }
    return own.take(name, tokens);
  }
  return async (bucket, tally, tokens = 1, repeated = tokens) => {
    const waitMs = await take(bucket, tally, tokens);
    if (waitMs === 0) return;
    onEmpty(waitMs);
    rejectFor(waitMs + ((repeated - tokens) * 1_000) / rate);
  };
}

/** Fails with RATE_LIMITED, and states the wait in whole seconds. */
export function rejectFor(waitMs: number): never {
  throw rateLimited(waitMs);
}

/** Returns the failure of a request that can be sent again after `waitMs`. */
export function rateLimited(waitMs: number): Failure {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  // The message repeats the number, because not every wire has `Retry-After`.
  return new Failure(Reason.RATE_LIMITED, {
    retryAfterSeconds,
    message: `Too many requests. Try again in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? "" : "s"}.`,
  });
}

const accountBuckets = new WeakMap<UUID, string>();

/** Returns the bucket name of an account. All of its credentials share the bucket. */
export function accountBucket(accountId: UUID): string {
  const name = accountBuckets.get(accountId) ?? `account:${accountId.toHexString()}`;
  accountBuckets.set(accountId, name);
  return name;
}

/** Returns the id of the account whose bucket has this name; undefined for another bucket. */
export function accountOfBucket(bucket: string): string | undefined {
  return bucket.startsWith("account:") ? bucket.slice("account:".length) : undefined;
}

/** Returns the bucket name of a client without an account. All clients in its network share the bucket. */
export function addressBucket(address: string): string {
  return `address:${networkOf(address)}`;
}
