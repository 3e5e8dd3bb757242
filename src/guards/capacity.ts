// 503: bounds concurrent work, so that accepted requests are served in time and the rest are rejected.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../deadline.ts";
import { requireTime } from "../deadline.ts";
import { timed } from "../tally.ts";
import { Failure } from "../errors.ts";

/** Whether a request has a credential that is known to be valid. */
export type Standing = "known" | "stranger";

/**
 * How much an instance works on at once. A request counts while it is worked on: not while its body comes in, or its
 * response goes out.
 */
export interface Capacity {
  /** Fails with UNAVAILABLE where even a request with a known credential would find the queue full. */
  require(): void;
  /**
   * Does the work when there is a place. Strangers get at most half of the places. Fails with UNAVAILABLE where the
   * queue is full or after 3 seconds, and with the deadline's reason once it has passed; the work was not started then.
   */
  run<T>(standing: Standing, deadline: Deadline, work: () => Promise<T>): Promise<T>;
  /** Counts the work, however much there is. */
  count<T>(work: () => Promise<T>): Promise<T>;
}

/** How much is worked on, and how much waits. */
export interface CapacityState {
  readonly working: Readonly<Record<Standing, number>>;
  readonly most: number;
  readonly waiting: number;
}

/** A capacity with a bound. */
export interface BoundedCapacity extends Capacity {
  state(): CapacityState;
}

/** For what an operator does, and what has been let in by another's count. */
export const unlimited: Capacity = {
  require: () => undefined,
  run: (_standing, _deadline, work) => work(),
  count: (work) => work(),
};

/** The length of the queue of each standing: enough for a short burst. */
const longestLine = 256;
/** A request that waits longer could not finish in time, nor could those behind it. */
const longestWaitMs = 3_000;

interface Waiting {
  readonly number: number;
  begin(): void;
}

/** `most` is how many requests are worked on at once; `onRejection` is called for every one that was too much. */
export function createCapacity(most: number, onRejection: () => void, line = longestLine): BoundedCapacity {
  const { hasPlace, isFull, enter, leave, wait, state } = createPlaces(most, line);

  function rejection(): Failure {
    onRejection();
    return new Failure(Reason.UNAVAILABLE, {
      message: "The service has too many requests at once. Try again.",
      because: "overload",
      waitingFor: "a place",
    });
  }

  async function whileIn<T>(standing: Standing, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      leave(standing);
    }
  }

  return {
    state,
    require() {
      if (isFull("known")) throw rejection();
    },
    async run(standing, deadline, work) {
      requireTime(deadline);
      if (isFull(standing)) throw rejection();
      if (hasPlace(standing)) enter(standing);
      else if (!(await timed(deadline.tally, "queueMs", "a place", () => wait(standing, deadline)))) {
        const failure = rejection();
        requireTime(deadline);
        throw failure;
      }
      return whileIn(standing, () => {
        requireTime(deadline);
        return work();
      });
    },
    async count(work) {
      enter("known");
      return whileIn("known", work);
    },
  };
}

/** The places for work, and for each standing the requests that wait for one: at most `line`. */
function createPlaces(most: number, line: number) {
  const limits = { known: most, stranger: Math.max(1, Math.floor(most / 2)) };
  const lines = { known: new Set<Waiting>(), stranger: new Set<Waiting>() };
  let working = 0;
  let strangers = 0;
  let numbers = 0;

  const hasPlace = (standing: Standing): boolean =>
    working < most && (standing === "known" || strangers < limits.stranger);
  const isFull = (standing: Standing): boolean => lines[standing].size >= line && !hasPlace(standing);
  const first = (standing: Standing): Waiting | undefined =>
    hasPlace(standing) ? lines[standing].values().next().value : undefined;

  function enter(standing: Standing): void {
    working += 1;
    if (standing === "stranger") strangers += 1;
  }

  /** Gives the place to the request that has waited longest and may have it. */
  function leave(standing: Standing): void {
    working -= 1;
    if (standing === "stranger") strangers -= 1;
    const [known, stranger] = [first("known"), first("stranger")];
    if (known !== undefined && (stranger === undefined || known.number < stranger.number)) known.begin();
    else stranger?.begin();
  }

  /** Waits for a place and takes it; false where there was none in time. */
  function wait(standing: Standing, { at }: Deadline): Promise<boolean> {
    return new Promise((resolve) => {
      const one: Waiting = {
        number: ++numbers,
        begin() {
          clearTimeout(timer);
          lines[standing].delete(one);
          enter(standing);
          resolve(true);
        },
      };
      const timer = setTimeout(
        () => {
          lines[standing].delete(one);
          resolve(false);
        },
        // A timer may fire up to a millisecond early, before the deadline has passed.
        Math.ceil(Math.min(longestWaitMs, at - performance.now())) + 1,
      );
      lines[standing].add(one);
    });
  }

  const state = (): CapacityState => ({
    working: { known: working - strangers, stranger: strangers },
    most,
    waiting: lines.known.size + lines.stranger.size,
  });
  return { hasPlace, isFull, enter, leave, wait, state };
}
