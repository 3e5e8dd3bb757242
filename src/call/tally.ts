// Tally of one request: its time in MongoDB, Redis, the queue and the identity provider, and its current wait.

/** The times of a request so far, in milliseconds, and its reads. The times of concurrent commands are added up. */
export interface Tally {
  dbMs: number;
  dbCommands: number;
  /** The size of the rows that were read, in bytes. */
  dbBytes: number;
  redisMs: number;
  queueMs: number;
  providerMs: number;
  /**
   * Registers a callback for the end of the request. Returns false if the request has already ended. Undefined for a
   * request whose memory is not bounded.
   */
  onEnd: ((release: () => void) => boolean) | undefined;
  /** The account of the request, once it is known. */
  account: string | undefined;
  /** The slot for huge responses that the request occupies: for an expected size, or for a measured one. */
  hugeSlot: "expected" | "measured" | undefined;
  /** The number of records or items in the response; undefined if it contains no list. */
  rows: number | undefined;
  /** The current waits of the request, innermost last. */
  readonly waits: Wait[];
  /** The name of the last wait that ended. */
  lastWait: string | undefined;
  /** The last error that ended a wait, and the innermost wait that it ended. */
  failed: { readonly error: unknown; readonly what: string } | undefined;
}

/** The total to which the time of a wait is added. */
export type Spent = "dbMs" | "redisMs" | "queueMs" | "providerMs";

interface Wait {
  readonly what: string;
  /** Undefined for a wait within another one, which counts the time. */
  readonly spent: Spent | undefined;
  readonly startedAt: number;
}

/** Creates an empty tally. */
export function createTally(): Tally {
  return {
    dbMs: 0,
    dbCommands: 0,
    dbBytes: 0,
    redisMs: 0,
    queueMs: 0,
    providerMs: 0,
    onEnd: undefined,
    account: undefined,
    hugeSlot: undefined,
    rows: undefined,
    waits: [],
    lastWait: undefined,
    failed: undefined,
  };
}

/** Runs the work and adds its time to the tally. The name `what` is logged, so it must not contain a caller's text. */
export async function timed<T>(
  tally: Tally | undefined,
  spent: Spent,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  if (tally === undefined) return work();
  const end = beginWait(tally, what, spent);
  try {
    return await work();
  } catch (error) {
    if (tally.failed?.error !== error) tally.failed = { error, what };
    throw error;
  } finally {
    end();
  }
}

/** Runs one MongoDB command as `timed` does, and counts it. */
export function timedCommand<T>(tally: Tally | undefined, what: string, work: () => Promise<T>): Promise<T> {
  if (tally !== undefined) tally.dbCommands += 1;
  return timed(tally, "dbMs", what, work);
}

/** Records the start of a wait. Returns a function that records its end and adds its time to `spent`. */
export function beginWait(tally: Tally, what: string, spent?: Spent): () => void {
  const { waits } = tally;
  const wait = { what, spent, startedAt: performance.now() };
  waits.push(wait);
  return () => {
    if (spent !== undefined) tally[spent] += performance.now() - wait.startedAt;
    waits.splice(waits.lastIndexOf(wait), 1);
    tally.lastWait = what;
  };
}

/** Returns the times so far, including current waits, because a request may get its response before they end. */
export function spentBy({ dbMs, redisMs, queueMs, providerMs, waits }: Tally): Readonly<Record<Spent, number>> {
  const total = { dbMs, redisMs, queueMs, providerMs };
  for (const { spent, startedAt } of waits) if (spent !== undefined) total[spent] += performance.now() - startedAt;
  return total;
}

/** Returns the name of the wait during which a request failed, for the log. */
export function waitOf(tally: Tally | undefined): string | undefined {
  return tally?.waits.at(-1)?.what ?? tally?.failed?.what ?? tally?.lastWait;
}
