// Tally of one request: how long it waited for MongoDB, Redis, a place and the identity provider, and what it waits
// for.

/** What a request has spent so far, in milliseconds. The times of commands that run at once are added up. */
export interface Tally {
  dbMs: number;
  dbCommands: number;
  /** The bytes of the rows that were read. */
  dbBytes: number;
  redisMs: number;
  queueMs: number;
  providerMs: number;
  /**
   * Has something done once the request has ended, and returns false where it has ended already; undefined for a
   * request that is not bounded in memory.
   */
  onEnd: ((release: () => void) => boolean) | undefined;
  /** Whose request it is, once that is known. */
  account: string | undefined;
  /** Its response has one of the places for huge ones. */
  isHuge: boolean;
  /** The records or items in the response; undefined where it holds no list. */
  rows: number | undefined;
  /** What the request waits for now, the innermost last. */
  readonly waits: Wait[];
  /** What it waited for last. */
  lastWait: string | undefined;
  /** The last error that ended a wait, and the innermost wait that it ended. */
  failed: { readonly error: unknown; readonly what: string } | undefined;
}

/** The time to which a wait is added. */
export type Spent = "dbMs" | "redisMs" | "queueMs" | "providerMs";

interface Wait {
  readonly what: string;
  /** Undefined within another wait, which counts the time. */
  readonly spent: Spent | undefined;
  readonly startedAt: number;
}

/** A tally of nothing. */
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
    isHuge: false,
    rows: undefined,
    waits: [],
    lastWait: undefined,
    failed: undefined,
  };
}

/**
 * Does the work and adds its time to the tally. `what` names it in the log: it must not contain anything of a caller's.
 */
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

/** The same for one command to MongoDB, which is counted. */
export function timedCommand<T>(tally: Tally | undefined, what: string, work: () => Promise<T>): Promise<T> {
  if (tally !== undefined) tally.dbCommands += 1;
  return timed(tally, "dbMs", what, work);
}

/** Notes what a request begins to wait for; the result notes that it no longer does, and adds the time to `spent`. */
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

/** The time until now, with that of what still runs: a request may have its response before. */
export function spentOn(tally: Tally, kind: Spent): number {
  const now = performance.now();
  return tally.waits.reduce((sum, { spent, startedAt }) => (spent === kind ? sum + now - startedAt : sum), tally[kind]);
}

/** What a request that failed was waiting for. */
export function waitOf(tally: Tally | undefined): string | undefined {
  return tally?.waits.at(-1)?.what ?? tally?.failed?.what ?? tally?.lastWait;
}

const bySession = new WeakMap<object, Tally>();

/**
 * Has the commands of a MongoDB session counted in a tally, until the result is called. `lsid` is the driver's own
 * object, which goes with each of them: the driver uses it again for another request.
 */
export function tallySession(lsid: object | undefined, tally: Tally | undefined): () => void {
  if (lsid === undefined || tally === undefined) return () => undefined;
  bySession.set(lsid, tally);
  return () => void bySession.delete(lsid);
}

/** The tally in which a command with this `lsid` counts; undefined for one outside a transaction. */
export function tallyOfSession(lsid: unknown): Tally | undefined {
  return typeof lsid === "object" && lsid !== null ? bySession.get(lsid) : undefined;
}
