// A pool of lanes for concurrent tests. Each test has exclusive use of a lane while it runs.
import type { Lane } from "./lane.ts";

export interface Lanes {
  readonly all: readonly Lane[];
  /** Runs the work on a free lane. */
  use<T>(work: (lane: Lane) => Promise<T>): Promise<T>;
}

/** Creates a pool of these lanes. */
export function lend(all: readonly Lane[]): Lanes {
  const free = [...all];
  const waiting: ((lane: Lane) => void)[] = [];
  return {
    all,
    async use(work) {
      const lane = free.pop() ?? (await new Promise<Lane>((resolve) => waiting.push(resolve)));
      try {
        return await work(lane);
      } finally {
        const next = waiting.shift();
        if (next === undefined) free.push(lane);
        else next(lane);
      }
    },
  };
}
