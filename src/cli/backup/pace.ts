// Limits the rate at which the documents of a backup are read.
import { setTimeout as sleep } from "node:timers/promises";

/** Waits until the rate allows `count` more documents. */
export type Pace = (count: number) => Promise<void>;

/** Creates a pace of `rate` documents per second. A wait rejects when `stop` aborts. */
export function createPace(rate: number, stop: AbortSignal): Pace {
  let due = performance.now();
  return async (count) => {
    due = Math.max(due, performance.now()) + (count * 1_000) / rate;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: stop });
  };
}
