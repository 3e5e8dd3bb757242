// Repeats the work of a command while the service cannot respond.
import { setTimeout as sleep } from "node:timers/promises";
import { isPassing } from "./link.ts";

const attempts = 8;
const backoffMs = { first: 500, most: 15_000 };

/** How work is repeated. */
export interface Repeating {
  readonly stop: AbortSignal;
  /** Is called before each repetition. */
  readonly onRepeat: () => void;
  /** Whether the work can begin again. By default it always can. */
  readonly restart?: () => Promise<boolean>;
}

/** Does work again while it fails for a passing reason. */
export async function repeat<T>(
  { stop, onRepeat, restart = () => Promise.resolve(true) }: Repeating,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (stop.aborted || !isPassing(error) || attempt + 1 === attempts || !(await restart())) throw error;
      onRepeat();
      await sleep(Math.min(backoffMs.first * 2 ** attempt, backoffMs.most), undefined, { signal: stop });
    }
  }
}
