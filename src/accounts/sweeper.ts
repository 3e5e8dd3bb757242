// Sweeps the accounts that are being erased, one sweeper for each account among all instances.
import type { MongoClient, UUID } from "mongodb";
import { findAll } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import type { LeavingAccount } from "../db/mongo.ts";
import { databaseNow } from "../db/primary.ts";
import type { Background, OnTrouble } from "../db/repeat.ts";
import { repeat } from "../db/repeat.ts";
import type { LeaseDocument } from "./erasure-lease.ts";
import { createErasureLeases } from "./erasure-lease.ts";
import type { Places } from "./places.ts";
import type { IdentityDocument } from "./store.ts";

/** An account that is being erased, or was: all that is left of it. */
export interface ErasureDocument {
  /** The id of the account. */
  _id: UUID;
  /** By the database's clock, which all instances share. */
  begun_at: Date;
  /** Missing in erasures of older releases. */
  requested?: { reason: string; token: string; address: string; request_id: string };
  /** Whose sessions are to end; forgotten when the erasure is finished. */
  identities?: IdentityDocument[];
  /** The one sweeper; written by `erasure-lease.ts`, as is the count of deleted documents by place. */
  lease?: LeaseDocument;
  deleted?: Record<string, number>;
  finished_at?: Date;
}

/** The sweeper of an instance. */
export interface Sweeper {
  /** Sweeps until nothing is left, unless another sweeper does. */
  sweep(erasure: ErasureDocument): Promise<void>;
  /** Continues in the background with what other calls, or instances that ended, have begun. */
  follow(onTrouble: OnTrouble): Background;
  /**
   * For the metrics: the erasures that are not finished, as last seen, and the documents that this instance deleted.
   */
  counts(): { readonly running: number; readonly deleted: number };
  /** Resolves when this instance sweeps nothing. */
  idle(): Promise<unknown>;
}

/**
 * Requests that were admitted before the deletion may write for this long; an internal batch tries longest. A mark that
 * Redis did not take is set again for a shorter time (`storableMs` in `erased-marks.ts`).
 */
const stragglersMs = 40_000;
const everyMs = 5_000;
/**
 * Erasures that an instance works on in the background at once: each sends MongoDB and Redis one command after the
 * other.
 */
const mostAtOnce = 4;

/** Over the erasures of a database; `ease` prepares for the deletion of all notes of an account. */
export function createSweeper(client: MongoClient, places: Places, ease: (id: UUID) => Promise<void>): Sweeper {
  const take = createErasureLeases(client);
  const sweeps = new Set<Promise<void>>();
  const counts = { running: 0, deleted: 0 };
  /** Nothing was left of them: only stragglers can have added something, which the last sweep erases. */
  const clean = new Set<string>();
  let stopped = false;
  const isOver = (erasure: ErasureDocument): boolean => isOverAt(databaseNow(client), erasure);

  function sweep(erasure: ErasureDocument): Promise<void> {
    const sweeping = sweepAlone(erasure).finally(() => sweeps.delete(sweeping));
    sweeps.add(sweeping);
    return sweeping;
  }

  async function sweepAlone(erasure: ErasureDocument): Promise<void> {
    const hold = await take(erasure._id, () => stopped);
    if (hold === undefined) return;
    // Only a sweep that begins after the last straggler has found everything.
    const isLast = isOver(erasure);
    const count = (place: string, deleted: number): void => {
      counts.deleted += deleted;
      hold.count(place, deleted);
    };
    let isClean = false;
    clean.delete(nameOf(erasure));
    try {
      await ease(erasure._id);
      isClean = await places.sweep(leavingOf(erasure), { permit: hold.permit, count });
    } finally {
      await hold.release(isClean && isLast);
      if (isClean && !isLast) clean.add(nameOf(erasure));
    }
  }

  /** Those that are due among the unfinished ones. */
  function dueOf(unfinished: readonly ErasureDocument[]): ErasureDocument[] {
    counts.running = unfinished.length;
    const names = new Set(unfinished.map(nameOf));
    for (const name of clean) if (!names.has(name)) clean.delete(name);
    return unfinished.filter((one) => !clean.has(nameOf(one)) || isOver(one));
  }

  return {
    sweep,
    follow: (onTrouble) =>
      followUnfinished(client, onTrouble, {
        dueOf,
        sweep,
        isStopped: () => stopped,
        stop: () => {
          stopped = true;
        },
      }),
    counts: () => counts,
    idle: () => Promise.allSettled(sweeps),
  };
}

/** What is done with unfinished erasures. */
interface Followed {
  dueOf(unfinished: readonly ErasureDocument[]): ErasureDocument[];
  sweep(erasure: ErasureDocument): Promise<void>;
  isStopped(): boolean;
  stop(): void;
}

function followUnfinished(
  client: MongoClient,
  onTrouble: OnTrouble,
  { dueOf, sweep, isStopped, stop }: Followed,
): Background {
  const erasures = client.db().collection<ErasureDocument>(collections.erasures);
  const running = new Set<string>();
  const trouble = (error: unknown): void => onTrouble("the erasure of an account cannot continue", error);

  async function continueWith(erasure: ErasureDocument): Promise<void> {
    running.add(nameOf(erasure));
    try {
      await sweep(erasure);
    } catch (error) {
      if (!isStopped()) trouble(error);
    } finally {
      running.delete(nameOf(erasure));
    }
  }

  const watch = repeat(
    everyMs,
    async () => {
      const unfinished = await findAll<ErasureDocument>(
        erasures,
        { finished_at: { $exists: false } },
        { comment: "watch", deadline: undefined },
      );
      const due = shuffled(dueOf(unfinished).filter((one) => !running.has(nameOf(one))));
      async function work(): Promise<void> {
        for (let next = due.pop(); next !== undefined && !isStopped(); next = due.pop()) await continueWith(next);
      }
      // Nobody waits for these: an erasure that takes long, or cannot continue, delays no other.
      for (let working = running.size; working < mostAtOnce; working++) void work();
    },
    trouble,
  );
  return {
    stop() {
      stop();
      watch.stop();
    },
  };
}

/** The account that an erasure is of. */
export function leavingOf({ _id, begun_at, identities }: ErasureDocument): LeavingAccount {
  return { id: _id, begunAt: begun_at, identities };
}

/** Whether the requests that were admitted before the deletion are over. */
function isOverAt(now: Date, { begun_at: begunAt }: ErasureDocument): boolean {
  return now.getTime() - begunAt.getTime() > stragglersMs;
}

function nameOf({ _id }: ErasureDocument): string {
  return _id.toHexString();
}

/** In another order on every instance, so that they do not all begin with the same one. */
function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => [Math.random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}
