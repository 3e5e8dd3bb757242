// Counts the timers that some work leaves behind, regardless of other activity in the process.
import { AsyncLocalStorage } from "node:async_hooks";

const work = new AsyncLocalStorage<Set<unknown>>();

/**
 * The number of timers of `run` that have neither fired nor been cleared when it settles. Intervals count until they
 * are cleared. Vitest's own count would include other files, because test files share a process. Needs fake timers.
 */
export async function timersLeftBy(run: () => Promise<unknown>): Promise<number> {
  const left = new Set<unknown>();
  const { setTimeout: set, clearTimeout: clear, setInterval: repeat, clearInterval: end } = globalThis;
  const counting = (callback: () => void, ms?: number): NodeJS.Timeout => {
    const own = work.getStore();
    const timer = set(() => {
      own?.delete(timer);
      callback();
    }, ms);
    own?.add(timer);
    return timer;
  };
  const repeating = (callback: () => void, ms?: number): NodeJS.Timeout => {
    const timer = repeat(callback, ms);
    work.getStore()?.add(timer);
    return timer;
  };
  // Not with spies, because `vi.restoreAllMocks` in another file would restore the fake timers.
  globalThis.setTimeout = counting as typeof setTimeout;
  globalThis.clearTimeout = ((timer?: NodeJS.Timeout) => {
    left.delete(timer);
    clear(timer);
  }) as typeof clearTimeout;
  globalThis.setInterval = repeating as typeof setInterval;
  globalThis.clearInterval = ((timer?: NodeJS.Timeout) => {
    left.delete(timer);
    end(timer);
  }) as typeof clearInterval;
  try {
    await work.run(left, run);
    return left.size;
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear, setInterval: repeat, clearInterval: end });
  }
}
