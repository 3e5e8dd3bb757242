// Limits concurrent reads of an account whose results can be huge: the first result shows what size to expect of the
// others.
import type { Deadline } from "../deadline.ts";
import { failAtDeadline, onPassed, requireNotPast } from "../deadline.ts";
import { timed } from "../tally.ts";
import { requireSlotIfExpected } from "./slots.ts";

/** The maximum number of concurrent reads of an account. Each can return 16 MB before it is known to be huge. */
export const maxReads = 4;

interface ReadQueue {
  running: number;
  /** Starts the reads that wait, in their order. */
  readonly waiting: Set<() => void>;
}

const queues = new Map<string, ReadQueue>();

/**
 * Runs the read once fewer than `maxReads` of the account are running. Fails with UNAVAILABLE if the account's results
 * meanwhile turned out to be huge and no slot is free. Fails with the deadline's reason once it has passed. Requests on
 * the internal listener are not limited.
 */
export async function limitConcurrentReads<T>(deadline: Deadline | undefined, read: () => Promise<T>): Promise<T> {
  const { tally } = deadline ?? {};
  if (deadline === undefined || tally?.onEnd === undefined) return read();
  const account = tally.account ?? "";
  const queue = queueOf(account);
  if (queue.running < maxReads) queue.running += 1;
  else if (!(await timed(tally, "queueMs", "other reads of the account", () => turnIn(queue, deadline))))
    failAtDeadline(deadline);
  try {
    requireNotPast(deadline);
    const releaseUnlessHuge = requireSlotIfExpected(tally);
    return await read().finally(releaseUnlessHuge);
  } finally {
    leave(account, queue);
  }
}

function queueOf(account: string): ReadQueue {
  const queue = queues.get(account) ?? { running: 0, waiting: new Set() };
  queues.set(account, queue);
  return queue;
}

/** Waits for the turn of a read. Returns false if the deadline passes first. */
function turnIn({ waiting }: ReadQueue, deadline: Deadline): Promise<boolean> {
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
function leave(account: string, queue: ReadQueue): void {
  const [next] = queue.waiting;
  if (next !== undefined) {
    queue.waiting.delete(next);
    return next();
  }
  queue.running -= 1;
  if (queue.running === 0) queues.delete(account);
}
