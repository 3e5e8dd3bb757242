// Retries the work of a command while the service is unavailable.
import { setTimeout as sleep } from "node:timers/promises";
import { isTransient } from "./link.ts";

const attempts = 8;
const backoffMs = { first: 500, max: 15_000 };

/** Options of a retry. */
export interface RetryOptions {
  readonly stop: AbortSignal;
  /** Called before each retry. */
  readonly onRepeat: () => void;
  /** Prepares the work to start again. Returns false if it cannot. By default, it always can. */
  readonly restart?: () => Promise<boolean>;
}

/**
 * Runs the work, at most `attempts` times while it fails with a temporary error. Rejects with the last error, or when
 * `stop` aborts.
 */
export async function retryWhileUnavailable<T>(
  { stop, onRepeat, restart = () => Promise.resolve(true) }: RetryOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (stop.aborted || !isTransient(error) || attempt + 1 === attempts || !(await restart())) throw error;
      onRepeat();
      await sleep(Math.min(backoffMs.first * 2 ** attempt, backoffMs.max), undefined, { signal: stop });
    }
  }
}
