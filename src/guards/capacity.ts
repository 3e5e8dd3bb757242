// 503: limits the requests in progress, so that accepted ones finish in time and the rest are rejected at once.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Deadline } from "../call/deadline.ts";
import { requireNotPast } from "../call/deadline.ts";
import { timed } from "../call/tally.ts";
import { Failure } from "../call/errors.ts";
import type { SharedTotal } from "../call/shared-total.ts";
import { createSharedTotal } from "../call/shared-total.ts";

/** Whether the credential of a request is verified. */
export type CredentialState = "verified" | "unverified";

/**
 * A limit on the requests in progress. A request counts while its caller is identified and while it is processed, but
 * not while its body arrives or its response is sent.
 */
export interface Capacity {
  /** Identifies a caller: runs the work at once, and counts it. */
  identify<T>(credential: CredentialState, work: () => Promise<T>): Promise<T>;
  /**
   * Runs the work once a slot is free. Fails with UNAVAILABLE if the queue is full or the wait is too long. Fails with
   * the deadline's reason once it has passed. The work has not started in these cases.
   */
  run<T>(credential: CredentialState, deadline: Deadline, work: () => Promise<T>): Promise<T>;
  /** Runs the work at once, even beyond the limit, and counts it. */
  count<T>(work: () => Promise<T>): Promise<T>;
}

/** The requests that occupy slots, those in the queues, and those whose callers are being identified. */
export interface CapacityState {
  readonly working: Readonly<Record<CredentialState, number>>;
  readonly slots: number;
  readonly waiting: number;
  readonly identifying: number;
}

/** A capacity with a limit, which reports its state. */
export interface BoundedCapacity extends Capacity {
  /** Returns whether another request of this kind would be one too many. */
  isFull(credential: CredentialState): boolean;
  /**
   * Counts a request that has arrived, until the returned function is called because its turn has come. Returns
   * undefined if its caller would have more than two thirds of the places without having begun anything.
   */
  expect(credential: CredentialState, caller: string): (() => void) | undefined;
  /** Returns the number of requests of this caller that have arrived, and whose turn has not come. */
  expected(credential: CredentialState, caller: string): number;
  state(): CapacityState;
}

/** No limit, for operators' requests. */
export const unlimited: Capacity = {
  identify: (_credential, work) => work(),
  run: (_credential, _deadline, work) => work(),
  count: (work) => work(),
};

/** Returns the failure of a request that is rejected because too many are in progress. */
export function overload(): Failure {
  return new Failure(Reason.UNAVAILABLE, {
    message: "The service is handling too many requests. Try again.",
    because: "overload",
    waitingFor: "a slot",
  });
}

/** How many requests have a slot or wait for one, and how long they wait. */
export interface Queueing {
  readonly maxWorking: Readonly<Record<CredentialState, number>>;
  readonly maxWaiting: Readonly<Record<CredentialState, number>>;
  readonly maxWaitMs: Readonly<Record<CredentialState, number>>;
}

/**
 * Returns the queueing of requests. Known callers leave a quarter of the slots to others, so that users can sign in
 * while MongoDB does not respond. A full bucket of an account may wait; more would only delay each other. Of unknown
 * callers, all keys of an office may wait, which a new instance sees at once. After half a second, a client is better
 * served by another attempt; a look-up is needed only once.
 */
function queueingOf(slots: number): Queueing {
  return {
    maxWorking: { verified: Math.ceil((slots * 3) / 4), unverified: Math.max(1, Math.floor(slots / 2)) },
    maxWaiting: { verified: 24, unverified: 256 },
    maxWaitMs: { verified: 500, unverified: 3_000 },
  };
}

interface Waiting {
  readonly number: number;
  begin(): void;
}

/**
 * Creates a capacity of `slots` concurrent requests, with the queueing of requests unless `other` differs.
 * `onRejection` is called for every request that is rejected because the queue is full or the wait is over.
 */
export function createCapacity(slots: number, onRejection: () => void, other: Partial<Queueing> = {}): BoundedCapacity {
  const queueing: Queueing = { ...queueingOf(slots), ...other };
  const { maxWorking, maxWaiting } = queueing;
  const { free, enter, leave, wait, working, waiting } = createSlots(slots, queueing);
  const identifying = { verified: 0, unverified: 0 };
  // Callers without a credential need no slot, but they must not take the processor from the others.
  const maxUnknown = Math.ceil(slots / 2) + maxWaiting.verified;
  const expectedOf = (credential: CredentialState): SharedTotal =>
    createSharedTotal({
      total: Infinity,
      ofEach: Math.ceil(((maxWorking[credential] + maxWaiting[credential]) * 2) / 3),
    });
  const expected = { verified: expectedOf("verified"), unverified: expectedOf("unverified") };

  function rejection(): Failure {
    onRejection();
    return overload();
  }

  async function whileIn<T>(credential: CredentialState, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      leave(credential);
    }
  }

  return {
    state: () => ({
      working: { ...working },
      slots,
      waiting: waiting.verified.size + waiting.unverified.size,
      identifying: identifying.verified + identifying.unverified,
    }),
    isFull: (credential) =>
      identifying[credential] + expected[credential].taken() + waiting[credential].size >=
        free(credential) + maxWaiting[credential] ||
      (credential === "unverified" && identifying.unverified >= maxUnknown),
    expect: (credential, caller) => expected[credential].take(caller, 1),
    expected: (credential, caller) => expected[credential].taken(caller),
    async identify(credential, work) {
      identifying[credential] += 1;
      try {
        return await work();
      } finally {
        identifying[credential] -= 1;
      }
    },
    async run(credential, deadline, work) {
      requireNotPast(deadline);
      if (free(credential) > 0) {
        enter(credential);
        return whileIn(credential, work);
      }
      if (free(credential) + maxWaiting[credential] <= waiting[credential].size) throw rejection();
      if (!(await timed(deadline.tally, "queueMs", "a slot", () => wait(credential, deadline)))) {
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

/** Creates `slots` slots, and two queues: with and without a verified credential. */
function createSlots(slots: number, { maxWorking, maxWaitMs }: Queueing) {
  const waiting = { verified: new Set<Waiting>(), unverified: new Set<Waiting>() };
  const working = { verified: 0, unverified: 0 };
  let numbers = 0;

  /** Returns the number of free slots for such requests; negative if more work runs than there are slots. */
  const free = (credential: CredentialState): number =>
    Math.min(slots - working.verified - working.unverified, maxWorking[credential] - working[credential]);
  const first = (credential: CredentialState): Waiting | undefined =>
    free(credential) > 0 ? waiting[credential].values().next().value : undefined;

  function enter(credential: CredentialState): void {
    working[credential] += 1;
  }

  /** Gives the slot to the longest-waiting request that may have it. */
  function leave(credential: CredentialState): void {
    working[credential] -= 1;
    if (waiting.verified.size + waiting.unverified.size === 0) return;
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
          waiting[credential].delete(one);
          enter(credential);
          resolve(true);
        },
      };
      const timer = setTimeout(
        () => {
          waiting[credential].delete(one);
          resolve(false);
        },
        // A timer may fire up to a millisecond early, before the deadline has passed.
        Math.ceil(Math.min(maxWaitMs[credential], at - performance.now())) + 1,
      );
      waiting[credential].add(one);
    });
  }

  return { free, enter, leave, wait, working, waiting };
}
