// Limits concurrent reads of an account whose results can be huge: the first result shows what size to expect of the
// others.
import type { Deadline } from "../call/deadline.ts";
import { failAtDeadline, onPassed, requireNotPast } from "../call/deadline.ts";
import { timed } from "../call/tally.ts";
import { takeSlotIfExpected } from "./slots.ts";

/** The maximum number of concurrent reads of an account. Each can return 16 MB before it is known to be huge. */
export const maxReads = 4;

interface ReadQueue {
  running: number;
  /** Starts the reads that wait, in their order. */
  readonly waiting: Set<() => void>;
}

type Queues = Map<string, ReadQueue>;

/** By account: the queues of all reads, and of those for which no slot is free. */
const allReads: Queues = new Map();
const withoutSlot: Queues = new Map();

/**
 * Runs the read once fewer than `maxReads` of the account are running. While huge results are expected of the account
 * and it has no free slot, only one of its reads runs: the size of its result decides. Fails with the deadline's reason
 * once it has passed. Requests on the internal listener are not limited.
 */
export async function limitConcurrentReads<T>(deadline: Deadline | undefined, read: () => Promise<T>): Promise<T> {
  const { tally } = deadline ?? {};
  if (deadline === undefined || tally?.onEnd === undefined) return read();
  return runInQueue(allReads, maxReads, deadline, () => {
    const releaseUnlessHuge = takeSlotIfExpected(tally);
    if (releaseUnlessHuge === undefined) return runInQueue(withoutSlot, 1, deadline, read);
    return read().finally(releaseUnlessHuge);
  });
}

/** Runs the read once fewer than `max` reads of the account are running in one of its queues. */
async function runInQueue<T>(queues: Queues, max: number, deadline: Deadline, read: () => Promise<T>): Promise<T> {
  const account = deadline.tally?.account ?? "";
  const queue = queues.get(account) ?? { running: 0, waiting: new Set() };
  queues.set(account, queue);
  if (queue.running < max) queue.running += 1;
  else if (!(await timed(deadline.tally, "queueMs", "other reads of the account", () => waitForTurn(queue, deadline))))
    failAtDeadline(deadline);
  try {
    requireNotPast(deadline);
    return await read();
  } finally {
    leave(queue);
    if (queue.running === 0) queues.delete(account);
  }
}

/** Waits for the turn of a read. Returns false if the deadline passes first. */
function waitForTurn({ waiting }: ReadQueue, deadline: Deadline): Promise<boolean> {
  return new Promise((resolve) => {
    const start = (): void => {
      ignoreDeadline();
      resolve(true);
    };
    waiting.add(start);
    const ignoreDeadline = onPassed(deadline, () => {
      waiting.delete(start);
      resolve(false);
    });
  });
}

/** Passes the place to the read that has waited longest. */
function leave(queue: ReadQueue): void {
  const [next] = queue.waiting;
  if (next === undefined) queue.running -= 1;
  else {
    queue.waiting.delete(next);
    next();
  }
}
