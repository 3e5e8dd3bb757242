// Background erasure of deleted accounts, with one sweeper for each account among all instances.
import type { MongoClient, UUID } from "mongodb";
import { findAll } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import type { ErasedAccount } from "../db/mongo.ts";
import { isAway } from "../db/mongo.ts";
import { databaseNow } from "../db/primary.ts";
import type { Background, OnTrouble } from "../db/run-periodically.ts";
import { runPeriodically } from "../db/run-periodically.ts";
import type { LeaseDocument } from "./erasure-lease.ts";
import { createErasureLeases } from "./erasure-lease.ts";
import type { Places } from "./places.ts";
import type { IdentityDocument } from "./store.ts";

/** The erasure of an account. When it is finished, this is all that is left of the account. */
export interface ErasureDocument {
  /** The id of the account. */
  _id: UUID;
  /** By the database's clock, which all instances share. */
  begun_at: Date;
  /** Missing in erasures of older releases. */
  requested?: { reason: string; token: string; address: string; request_id: string };
  /** The users whose sessions are erased. Removed when the erasure is finished. */
  identities?: IdentityDocument[];
  /** The lease of the current sweeper. `erasure-lease.ts` writes it, and the counts of deleted documents by place. */
  lease?: LeaseDocument;
  deleted?: Record<string, number>;
  finished_at?: Date;
}

/** The sweeper of an instance. */
export interface Sweeper {
  /** Sweeps an account unless another sweeper does. */
  sweep(erasure: ErasureDocument): Promise<void>;
  /** Resumes unfinished erasures in the background, including those of other calls and of ended instances. */
  follow(onTrouble: OnTrouble): Background;
  /** Returns the numbers of unfinished erasures, as last read, and of documents that this instance has deleted. */
  counts(): { readonly running: number; readonly deleted: number };
  /** Resolves when no sweep of this instance is running. */
  idle(): Promise<unknown>;
}

/**
 * The time for which requests admitted before the deletion may still write. An internal batch retries longest. A mark
 * that Redis did not store is set again for a shorter time (`storableMs` in `erased-marks.ts`).
 */
const lateWritesMs = 40_000;
const everyMs = 5_000;
/** The number of concurrent background erasures of an instance. */
const maxConcurrent = 4;

/** Creates the sweeper of a database's erasures. `prepare` is called before all notes of an account are deleted. */
export function createSweeper(client: MongoClient, places: Places, prepare: (id: UUID) => Promise<void>): Sweeper {
  const erasures = client.db().collection<ErasureDocument>(collections.erasures);
  const take = createErasureLeases(client);
  const sweeps = new Set<Promise<void>>();
  const counts = { running: 0, deleted: 0 };
  /** Accounts in which a sweep left nothing. Only late writes can add data, which the last sweep erases. */
  const clean = new Set<string>();
  let stopped = false;
  const isOver = (erasure: ErasureDocument): boolean => isOverAt(databaseNow(client), erasure);

  function sweep(erasure: ErasureDocument): Promise<void> {
    const sweeping = sweepAlone(erasure).finally(() => sweeps.delete(sweeping));
    sweeps.add(sweeping);
    return sweeping;
  }

  async function sweepAlone(erasure: ErasureDocument): Promise<void> {
    const lease = await take(erasure._id, () => stopped);
    if (lease === undefined) return;
    // Only a sweep that begins after the last late write erases everything.
    const isLast = isOver(erasure);
    const count = (place: string, deleted: number): void => {
      counts.deleted += deleted;
      lease.count(place, deleted);
    };
    let isClean = false;
    clean.delete(nameOf(erasure));
    try {
      await prepare(erasure._id);
      isClean = await places.sweep(erasedAccountOf(erasure), { permit: lease.permit, count });
    } finally {
      await lease.release(isClean && isLast);
      if (isClean && !isLast) clean.add(nameOf(erasure));
    }
  }

  /** Returns the unfinished erasures that are due. */
  function dueOf(unfinished: readonly ErasureDocument[]): ErasureDocument[] {
    counts.running = unfinished.length;
    const names = new Set(unfinished.map(nameOf));
    for (const name of clean) if (!names.has(name)) clean.delete(name);
    return unfinished.filter((one) => !clean.has(nameOf(one)) || isOver(one));
  }

  function follow(onTrouble: OnTrouble): Background {
    const running = new Set<string>();
    const trouble = (error: unknown): void => onTrouble("the erasure of an account cannot continue", error);

    async function continueWith(erasure: ErasureDocument): Promise<void> {
      running.add(nameOf(erasure));
      try {
        await sweep(erasure);
      } catch (error) {
        if (!stopped) trouble(error);
      } finally {
        running.delete(nameOf(erasure));
      }
    }

    const watch = runPeriodically(
      everyMs,
      async () => {
        const unfinished = await findAll<ErasureDocument>(
          erasures,
          { finished_at: { $exists: false } },
          { comment: "watch", deadline: undefined },
        );
        const due = shuffled(dueOf(unfinished).filter((one) => !running.has(nameOf(one))));
        async function work(): Promise<void> {
          for (let next = due.pop(); next !== undefined && !stopped; next = due.pop()) await continueWith(next);
        }
        // Not awaited, so that a slow or failing erasure does not delay the others.
        for (let working = running.size; working < maxConcurrent; working++) void work();
      },
      (error) => {
        if (counts.running > 0 || !isAway(error)) trouble(error);
      },
    );
    return {
      stop() {
        stopped = true;
        watch.stop();
      },
    };
  }

  return { sweep, follow, counts: () => counts, idle: () => Promise.allSettled(sweeps) };
}

/** Returns the account that an erasure concerns. */
export function erasedAccountOf({ _id, begun_at, identities }: ErasureDocument): ErasedAccount {
  return { id: _id, begunAt: begun_at, identities };
}

/** Whether all requests admitted before the deletion have ended. */
function isOverAt(now: Date, { begun_at: begunAt }: ErasureDocument): boolean {
  return now.getTime() - begunAt.getTime() > lateWritesMs;
}

function nameOf({ _id }: ErasureDocument): string {
  return _id.toHexString();
}

/** Returns the items in random order, so that instances do not all begin with the same one. */
function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => [Math.random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}
