// 503: limits concurrent work, so that accepted requests finish in time and the rest are rejected.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../deadline.ts";
import { requireNotPast } from "../deadline.ts";
import { timed } from "../tally.ts";
import { Failure } from "../errors.ts";

/** Whether the credential of a request is verified. */
export type CredentialState = "verified" | "unverified";

/**
 * A limit on concurrent work. A request counts while it is processed, but not while its body arrives or its response is
 * sent.
 */
export interface Capacity {
  /** Fails with UNAVAILABLE if the queue for such requests is full. */
  require(credential: CredentialState): void;
  /**
   * Runs the work once a slot is free. Requests without a verified credential get at most half of the slots. Fails with
   * UNAVAILABLE if the queue is full or after 3 seconds. Fails with the deadline's reason once it has passed. The work
   * has not started in these cases.
   */
  run<T>(credential: CredentialState, deadline: Deadline, work: () => Promise<T>): Promise<T>;
  /** Runs the work at once, even beyond the limit, and counts it. */
  count<T>(work: () => Promise<T>): Promise<T>;
}

/** The requests in progress and in the queues. */
export interface CapacityState {
  readonly working: Readonly<Record<CredentialState, number>>;
  readonly slots: number;
  readonly waiting: number;
}

/** A capacity with a limit, which reports its state. */
export interface BoundedCapacity extends Capacity {
  state(): CapacityState;
}

/** No limit, for operators' requests. */
export const unlimited: Capacity = {
  require: () => undefined,
  run: (_credential, _deadline, work) => work(),
  count: (work) => work(),
};

/** The maximum length of each queue: enough for a short burst. */
const usualQueue = 256;
/** The maximum wait. After a longer one, neither the request nor those behind it could finish in time. */
const maxWaitMs = 3_000;

interface Waiting {
  readonly number: number;
  begin(): void;
}

/**
 * Creates a capacity of `slots` concurrent requests. `onRejection` is called for every request that is rejected because
 * the queue is full or the wait is over.
 */
export function createCapacity(slots: number, onRejection: () => void, maxQueued = usualQueue): BoundedCapacity {
  const { hasSlot, isFull, enter, leave, wait, state } = createSlots(slots, maxQueued);

  function rejection(): Failure {
    onRejection();
    return new Failure(Reason.UNAVAILABLE, {
      message: "The service is handling too many requests. Try again.",
      because: "overload",
      waitingFor: "a slot",
    });
  }

  async function whileIn<T>(credential: CredentialState, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      leave(credential);
    }
  }

  return {
    state,
    require(credential) {
      if (isFull(credential)) throw rejection();
    },
    async run(credential, deadline, work) {
      requireNotPast(deadline);
      if (isFull(credential)) throw rejection();
      if (hasSlot(credential)) enter(credential);
      else if (!(await timed(deadline.tally, "queueMs", "a slot", () => wait(credential, deadline)))) {
        const failure = rejection();
        requireNotPast(deadline);
        throw failure;
      }
      return whileIn(credential, () => {
        requireNotPast(deadline);
        return work();
      });
    },
    async count(work) {
      enter("verified");
      return whileIn("verified", work);
    },
  };
}

/** Creates `slots` slots, and two queues of at most `maxQueued` requests: with and without a verified credential. */
function createSlots(slots: number, maxQueued: number) {
  const maxWorking = { verified: slots, unverified: Math.max(1, Math.floor(slots / 2)) };
  const queues = { verified: new Set<Waiting>(), unverified: new Set<Waiting>() };
  const working = { verified: 0, unverified: 0 };
  let numbers = 0;

  const hasSlot = (credential: CredentialState): boolean =>
    working.verified + working.unverified < slots && working[credential] < maxWorking[credential];
  const isFull = (credential: CredentialState): boolean => queues[credential].size >= maxQueued && !hasSlot(credential);
  const first = (credential: CredentialState): Waiting | undefined =>
    hasSlot(credential) ? queues[credential].values().next().value : undefined;

  function enter(credential: CredentialState): void {
    working[credential] += 1;
  }

  /** Gives the slot to the longest-waiting request that may have it. */
  function leave(credential: CredentialState): void {
    working[credential] -= 1;
    const [verified, unverified] = [first("verified"), first("unverified")];
    if (verified !== undefined && (unverified === undefined || verified.number < unverified.number)) verified.begin();
    else unverified?.begin();
  }

  /** Waits for a slot and takes it. Returns false if none is free in time. */
  function wait(credential: CredentialState, { at }: Deadline): Promise<boolean> {
    return new Promise((resolve) => {
      const one: Waiting = {
        number: ++numbers,
        begin() {
          clearTimeout(timer);
          queues[credential].delete(one);
          enter(credential);
          resolve(true);
        },
      };
      const timer = setTimeout(
        () => {
          queues[credential].delete(one);
          resolve(false);
        },
        // A timer may fire up to a millisecond early, before the deadline has passed.
        Math.ceil(Math.min(maxWaitMs, at - performance.now())) + 1,
      );
      queues[credential].add(one);
    });
  }

  const state = (): CapacityState => ({
    working: { ...working },
    slots,
    waiting: queues.verified.size + queues.unverified.size,
  });
  return { hasSlot, isFull, enter, leave, wait, state };
}
