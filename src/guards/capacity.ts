// 503: limits concurrent work, so that accepted requests finish in time and the rest are rejected.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../deadline.ts";
import { requireTime } from "../deadline.ts";
import { timed } from "../tally.ts";
import { Failure } from "../errors.ts";

/** Whether the credential of a request is verified. */
export type Standing = "known" | "stranger";

/**
 * A limit on concurrent work. A request counts while it is processed, but not while its body arrives or its response is
 * sent.
 */
export interface Capacity {
  /** Fails with UNAVAILABLE if the queue is full even for requests with a known credential. */
  require(): void;
  /**
   * Runs the work once a slot is free. Requests without a verified credential get at most half of the slots. Fails with
   * UNAVAILABLE if the queue is full or after 3 seconds. Fails with the deadline's reason once it has passed. The work
   * has not started in these cases.
   */
  run<T>(standing: Standing, deadline: Deadline, work: () => Promise<T>): Promise<T>;
  /** Runs the work at once, even beyond the limit, and counts it. */
  count<T>(work: () => Promise<T>): Promise<T>;
}

/** The requests in progress and in the queues. */
export interface CapacityState {
  readonly working: Readonly<Record<Standing, number>>;
  readonly most: number;
  readonly waiting: number;
}

/** A capacity with a limit, which reports its state. */
export interface BoundedCapacity extends Capacity {
  state(): CapacityState;
}

/** No limit, for operators' requests. */
export const unlimited: Capacity = {
  require: () => undefined,
  run: (_standing, _deadline, work) => work(),
  count: (work) => work(),
};

/** The maximum length of each queue: enough for a short burst. */
const longestLine = 256;
/** The maximum wait. After a longer one, neither the request nor those behind it could finish in time. */
const longestWaitMs = 3_000;

interface Waiting {
  readonly number: number;
  begin(): void;
}

/**
 * Creates a capacity of `most` concurrent requests. `onRejection` is called for every request that is rejected because
 * the queue is full or the wait is over.
 */
export function createCapacity(most: number, onRejection: () => void, line = longestLine): BoundedCapacity {
  const { hasSlot, isFull, enter, leave, wait, state } = createSlots(most, line);

  function rejection(): Failure {
    onRejection();
    return new Failure(Reason.UNAVAILABLE, {
      message: "The service is handling too many requests. Try again.",
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
      if (hasSlot(standing)) enter(standing);
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

/** Creates `most` slots, and two queues of at most `line` requests: with and without a verified credential. */
function createSlots(most: number, line: number) {
  const limits = { known: most, stranger: Math.max(1, Math.floor(most / 2)) };
  const lines = { known: new Set<Waiting>(), stranger: new Set<Waiting>() };
  let working = 0;
  let strangers = 0;
  let numbers = 0;

  const hasSlot = (standing: Standing): boolean =>
    working < most && (standing === "known" || strangers < limits.stranger);
  const isFull = (standing: Standing): boolean => lines[standing].size >= line && !hasSlot(standing);
  const first = (standing: Standing): Waiting | undefined =>
    hasSlot(standing) ? lines[standing].values().next().value : undefined;

  function enter(standing: Standing): void {
    working += 1;
    if (standing === "stranger") strangers += 1;
  }

  /** Gives the slot to the longest-waiting request that may have it. */
  function leave(standing: Standing): void {
    working -= 1;
    if (standing === "stranger") strangers -= 1;
    const [known, stranger] = [first("known"), first("stranger")];
    if (known !== undefined && (stranger === undefined || known.number < stranger.number)) known.begin();
    else stranger?.begin();
  }

  /** Waits for a slot and takes it. Returns false if none is free in time. */
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
  return { hasSlot, isFull, enter, leave, wait, state };
}
