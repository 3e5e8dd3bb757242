// Retry policy: the failures that are retried, and the delay between attempts.
import type { RecordsError } from "./error.ts";

/**
 * The failures after which a request may be repeated. `rejected` includes only failures after which the service has
 * certainly not acted. `any` also includes those that leave this open. It is for requests that may safely act twice:
 * reads, and writes with an idempotency key.
 */
export type Repeatable = "any" | "rejected";

const firstDelay = 200;
const longestDelay = 5_000;
/** The maximum jitter, which spreads clients that received the same `Retry-After`. */
const spread = 250;

/** Whether another attempt is allowed and could succeed. */
export function isRetryable({ status, code }: RecordsError, repeatable: Repeatable): boolean {
  // Throttling comes before all other checks, so the request was not carried out.
  if (status === 429) return true;
  if (repeatable === "rejected") return false;
  // 502 and 504 come from proxies in front of the service.
  return status === undefined ? code !== "unreadable" : [502, 503, 504].includes(status);
}

/**
 * Returns the milliseconds to wait after an attempt (counted from 1). Uses `retryAfter` plus jitter if the response has
 * it. Otherwise returns a random time up to a bound that doubles (exponential backoff with full jitter). `random`
 * returns numbers from 0 to below 1.
 */
export function delayAfter(attempt: number, { retryAfter }: RecordsError, random: () => number): number {
  if (retryAfter !== undefined) return retryAfter * 1_000 + random() * spread;
  return random() * Math.min(longestDelay, firstDelay * 2 ** (attempt - 1));
}
