// 429: charges a request to its bucket, in Redis while it answers, else in a bucket of this instance's own (contract §6).
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import type { Bucket } from "./bucket.ts";
import type { Caller } from "./call.ts";

/** Charges one request, or fails with RATE_LIMITED. */
export type Throttle = (caller: Caller, address: string) => Promise<void>;

/** `shared` is undefined where there is no Redis at all; `onFallback` hears of every request that the own bucket decided. */
export function createThrottle(shared: Bucket | undefined, own: Bucket, onFallback: () => void): Throttle {
  async function take(name: string): Promise<number> {
    if (shared !== undefined) {
      try {
        return await shared.take(name);
      } catch {
        onFallback();
      }
    }
    return own.take(name);
  }
  return async (caller, address) => {
    const waitMs = await take(bucketOf(caller, address));
    if (waitMs <= 0) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    // The number stands in the text too: not every wire has `Retry-After`.
    fail(Reason.RATE_LIMITED, { retryAfterSeconds, message: `Too many requests: try again in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? "" : "s"}.` });
  };
}

function bucketOf(caller: Caller, address: string): string {
  if (caller.kind === "key") return `key:${caller.key.keyId.toHexString()}`;
  if (caller.kind === "person") return caller.person.account === undefined ? `session:${caller.person.sessionId}` : `account:${caller.person.account.id.toHexString()}`;
  if (caller.kind === "token") return `user:${caller.token.issuer} ${caller.token.subject}`;
  return `address:${address}`;
}
