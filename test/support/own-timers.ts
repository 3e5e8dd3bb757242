// Counts the timers that a piece of work sets and leaves, whatever else the process has to do meanwhile.
import { AsyncLocalStorage } from "node:async_hooks";

const work = new AsyncLocalStorage<Set<unknown>>();

/**
 * How many timers `run` sets that have neither fired nor been cleared when it settles; an interval is left until it is
 * cleared. Files of tests share a process, so that vitest's own count has the timers of other files in it. Fake timers
 * have to be on.
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
  // No spies: `vi.restoreAllMocks` of another file would put the fake timers back.
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
