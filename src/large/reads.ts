// Limits concurrent reads of an account whose results can be huge: the first result shows what size to expect of the
// others.
import type { Deadline } from "../deadline.ts";
import { requireNotPast } from "../deadline.ts";
import { timed } from "../tally.ts";
import { requireSlotIfExpected } from "./slots.ts";

/** The maximum number of concurrent reads of an account. Each can return 16 MB before it is known to be huge. */
export const maxReads = 4;

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

const lines = new Map<string, Line>();

/**
 * Runs the read once fewer than `maxReads` of the account are running. Fails with UNAVAILABLE if the account's results
 * meanwhile turned out to be huge and no slot is free. Fails with the deadline's reason once it has passed. Requests on
 * the internal listener are not limited.
 */
export async function limitConcurrentReads<T>(deadline: Deadline | undefined, read: () => Promise<T>): Promise<T> {
  const { tally } = deadline ?? {};
  if (deadline === undefined || tally?.onEnd === undefined) return read();
  const account = tally.account ?? "";
  const line = lineOf(account);
  if (line.running < maxReads) line.running += 1;
  else {
    const { waiting } = line;
    await timed(tally, "queueMs", "other reads of the account", () => new Promise<void>((go) => waiting.push(go)));
  }
  try {
    requireNotPast(deadline);
    requireSlotIfExpected(tally);
    return await read();
  } finally {
    leave(account, line);
  }
}

function lineOf(account: string): Line {
  const line = lines.get(account) ?? { running: 0, waiting: [] };
  lines.set(account, line);
  return line;
}

/** Passes the slot to the read that has waited longest. */
function leave(account: string, line: Line): void {
  const next = line.waiting.shift();
  if (next !== undefined) return next();
  line.running -= 1;
  if (line.running === 0) lines.delete(account);
}
