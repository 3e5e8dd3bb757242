// Lanes that tests which run at once share: each has one for itself while it runs.
import type { Lane } from "./lane.ts";

/** Lends lanes. */
export interface Lanes {
  readonly all: readonly Lane[];
  /** Does the work on a lane that is free. */
  use<T>(work: (lane: Lane) => Promise<T>): Promise<T>;
}

/** Lends these. */
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
