// When a failed attempt is made again, and after how long.
import type { RecordsError } from "./error.ts";

/**
 * Which failures a request may be repeated after. `any`: also those after which it is unknown whether the service
 * acted, because acting twice changes nothing (a read, or a write with an idempotency key).
 * `rejected`: only where the service has certainly not acted.
 */
export type Repeatable = "any" | "rejected";

const firstDelay = 200;
const longestDelay = 5_000;
/** Spreads clients that all received the same `Retry-After`. */
const spread = 250;

/** Whether another attempt could succeed. */
export function isRetryable({ status, code }: RecordsError, repeatable: Repeatable): boolean {
  // Throttling comes ahead of everything else: the request was not carried out.
  if (status === 429) return true;
  if (repeatable === "rejected") return false;
  // 502 and 504 come from proxies in front of the service.
  return status === undefined ? code !== "unreadable" : [502, 503, 504].includes(status);
}

/**
 * Milliseconds to wait after an attempt (counted from 1): as long as the service said, else a random time up to
 * a bound that doubles (exponential backoff with full jitter). `random` gives numbers from 0 up to 1.
 */
export function delayAfter(attempt: number, { retryAfter }: RecordsError, random: () => number): number {
  if (retryAfter !== undefined) return retryAfter * 1_000 + random() * spread;
  return random() * Math.min(longestDelay, firstDelay * 2 ** (attempt - 1));
}
