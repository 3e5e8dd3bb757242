// Repeats a call of a backup while the service cannot respond, and spreads calls over time.
import { setTimeout as sleep } from "node:timers/promises";
import { isPassing } from "../link.ts";

const attempts = 8;
const backoffMs = { first: 500, most: 15_000 };

/** Does work again while it fails for a passing reason. `onRepeat` is called before each repetition. */
export async function repeat<T>(stop: AbortSignal, onRepeat: () => void, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (stop.aborted || !isPassing(error) || attempt + 1 === attempts) throw error;
      onRepeat();
      await sleep(Math.min(backoffMs.first * 2 ** attempt, backoffMs.most), undefined, { signal: stop });
    }
  }
}

/** Waits until so many more may be taken, at `rate` a second. */
export type Pace = (count: number) => Promise<void>;

export function createPace(rate: number, stop: AbortSignal): Pace {
  let due = performance.now();
  return async (count) => {
    due = Math.max(due, performance.now()) + (count * 1_000) / rate;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: stop });
  };
}
