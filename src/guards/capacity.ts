// 503 before all else: what an instance could only answer late it refuses at once, so that what it takes is answered in time.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";

/** How much an instance works on at once. A request counts while it is worked on: not while its body comes in, or its answer goes out. */
export interface Capacity {
  /** Fails with UNAVAILABLE when there is as much as may be. */
  require(): void;
  /** Counts the work, however much there is. */
  count<T>(work: () => Promise<T>): Promise<T>;
}

/** For what an operator does, and what has been let in by another's count. */
export const unlimited: Capacity = { require: () => undefined, count: (work) => work() };

/** `most` is how many requests are worked on at once; `onRefusal` hears of every one that was too much. */
export function createCapacity(most: number, onRefusal: () => void): Capacity {
  let working = 0;
  return {
    require() {
      if (working < most) return;
      onRefusal();
      fail(Reason.UNAVAILABLE, { message: "The service has too many requests at once; try again." });
    },
    async count(work) {
      working += 1;
      try {
        return await work();
      } finally {
        working -= 1;
      }
    },
  };
}
