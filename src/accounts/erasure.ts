// Deletes accounts: out of service at once, then everything of it erased, and for 90 days the proof of it.
import { setTimeout as sleep } from "node:timers/promises";
import type { MongoClient, UUID } from "mongodb";
import { findAll, findFirst } from "../db/aggregate.ts";
import type { IndexSpec } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import type { Background, OnTrouble } from "../db/repeat.ts";
import { repeat } from "../db/repeat.ts";
import { transaction, write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import type { OperatorCaller } from "../guards/internal.ts";
import type { LeaseDocument } from "./erasure-lease.ts";
import { createErasureLeases, erasuresCollection } from "./erasure-lease.ts";
import type { PlaceLeft, SweepRight } from "./places.ts";
import { createPlaces } from "./places.ts";
import type { AccountDocument, IdentityDocument } from "./store.ts";
import { accountsCollection } from "./store.ts";

/** Who requested an erasure, and why: the account's own audit log is erased with it. */
export interface ErasureRequest extends OperatorCaller {
  readonly reason: string;
}

/** An account that is being erased, or was: all that is left of it. */
interface ErasureDocument {
  /** The id of the account. */
  _id: UUID;
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

/** How far the erasure of an account is. */
export interface Erasure {
  /** True once nothing is left, false while something may be. */
  readonly erased: boolean;
  readonly begunAt: Date;
  readonly reason: string;
  readonly token: string;
  /** Every place that was looked through. Redis is not among them while it does not respond. */
  readonly places: readonly { readonly place: string; readonly left: number; readonly deleted: number }[];
}

/** Deletes accounts. */
export interface Erasures {
  /**
   * Takes the account out of service at once and returns how far its erasure is. Sweeps in the background where no
   * other sweeper does, and waits for that until `untilMs` of `performance.now()`. Undefined when there is no such
   * account, nor was one that was erased in the last 90 days.
   */
  erase(id: UUID, untilMs: number, by?: ErasureRequest, deadline?: Deadline): Promise<Erasure | undefined>;
  /** Continues in the background with what other calls, or instances that ended, have begun. */
  follow(onTrouble: OnTrouble): Background;
  /**
   * For the metrics: the erasures that are not finished, as last seen, and the documents that this instance deleted.
   */
  counts(): { readonly running: number; readonly deleted: number };
  /** Resolves when this instance sweeps nothing. */
  idle(): Promise<unknown>;
}

/** Requests that were admitted before the deletion may write for this long; an internal batch tries longest. */
const stragglersMs = 40_000;
const everyMs = 5_000;
/**
 * Erasures that an instance works on in the background at once: each sends MongoDB and Redis one command after the
 * other.
 */
const mostAtOnce = 4;
/** For looking through Redis once what could be erased is erased. */
const lookMs = 700;
const keptSeconds = 90 * 24 * 3_600;

export const erasureIndexes: IndexSpec = {
  collection: erasuresCollection,
  indexes: [{ key: { finished_at: 1 }, name: "expiry", expireAfterSeconds: keptSeconds }],
};

/**
 * The erasures of a database; `redis` is undefined where there is none. `ease` prepares for the deletion of all notes
 * of an account.
 */
export function createErasures(
  client: MongoClient,
  redis: () => RedisLink | undefined,
  ease: (id: UUID) => Promise<void> = async () => undefined,
): Erasures {
  const db = client.db();
  const accounts = db.collection<AccountDocument>(accountsCollection);
  const erasures = db.collection<ErasureDocument>(erasuresCollection);
  const places = createPlaces(db, redis);
  const take = createErasureLeases(client);
  const sweeps = new Set<Promise<void>>();
  const counts = { running: 0, deleted: 0 };
  /** Nothing was left of them: only stragglers can have added something, which the last sweep erases. */
  const clean = new Set<string>();
  let stopped = false;
  const leavingOf = ({ _id, begun_at, identities }: ErasureDocument) => ({ id: _id, begunAt: begun_at, identities });
  const find = (id: UUID, deadline: Deadline): Promise<ErasureDocument | undefined> =>
    findFirst<ErasureDocument>(erasures, { _id: id }, { deadline });

  /** Sweeps until nothing is left, unless another sweeper does. */
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
    const right: SweepRight = {
      permit: hold.permit,
      count(place, deleted) {
        counts.deleted += deleted;
        hold.count(place, deleted);
      },
    };
    let isClean = false;
    clean.delete(nameOf(erasure._id));
    try {
      await ease(erasure._id);
      isClean = await places.sweep(leavingOf(erasure), right);
    } finally {
      await hold.release(isClean && isLast);
      if (isClean && !isLast) clean.add(nameOf(erasure._id));
    }
  }

  async function begin(id: UUID, by: ErasureRequest | undefined, deadline: Deadline): Promise<void> {
    await transaction(client, deadline, async (session) => {
      const account = await accounts.findOneAndDelete({ _id: id }, { session });
      if (account === null) return;
      const { identities = [] } = account;
      const requested = by && { reason: by.reason, token: by.token, address: by.address, request_id: by.requestId };
      await erasures.insertOne(
        { _id: id, begun_at: new Date(), ...(requested && { requested }), identities },
        { session },
      );
      // No key and no person of the account is let in from here on.
      await db.collection("api_keys").deleteMany({ account_id: id }, { session });
      for (const { issuer, subject } of identities)
        await db.collection("dashboard_sessions").deleteMany({ issuer, subject }, { session });
    });
  }

  return {
    async erase(id, untilMs, by, deadline = deadlineIn(deadlineMs)) {
      await begin(id, by, deadline);
      const erasure = await find(id, deadline);
      if (erasure === undefined) return undefined;
      const look = (): Promise<PlaceLeft[]> => places.look(leavingOf(erasure), performance.now() + lookMs, deadline);
      let seen = erasure.finished_at === undefined ? undefined : await look();
      if (seen === undefined || !isAllErased(seen)) {
        // What turns up after the end is erased in the background like the rest.
        if (erasure.finished_at !== undefined)
          await write(client, deadline, (options) =>
            erasures.updateOne({ _id: id }, { $unset: { finished_at: "" } }, options),
          );
        // A sweep that fails is begun again in the background, where the log hears of it.
        await Promise.race([sweep(erasure).catch(() => undefined), sleep(Math.max(0, untilMs - performance.now()))]);
        seen = await look();
      }
      const { deleted = {}, requested } = (await find(id, deadline)) ?? erasure;
      return {
        erased: isAllErased(seen),
        begunAt: erasure.begun_at,
        reason: requested?.reason ?? "",
        token: requested?.token ?? "",
        places: seen.flatMap(({ place, left }) =>
          left === undefined ? [] : [{ place, left, deleted: deleted[place] ?? 0 }],
        ),
      };
    },
    follow(onTrouble) {
      const running = new Set<string>();
      const watch = repeat(
        everyMs,
        async () => {
          const unfinished = await findAll<ErasureDocument>(
            erasures,
            { finished_at: { $exists: false } },
            { comment: "watch", deadline: undefined },
          );
          counts.running = unfinished.length;
          const names = new Set(unfinished.map(({ _id }) => nameOf(_id)));
          for (const name of clean) if (!names.has(name)) clean.delete(name);
          const due = shuffled(
            unfinished.filter((one) => !running.has(nameOf(one._id)) && (!clean.has(nameOf(one._id)) || isOver(one))),
          );
          async function work(): Promise<void> {
            for (let next = due.pop(); next !== undefined && !stopped; next = due.pop()) await continueWith(next);
          }
          // Nobody waits for these: an erasure that takes long, or cannot go on, holds up no other.
          for (let working = running.size; working < mostAtOnce; working++) void work();
        },
        (error) => onTrouble("the erasure of an account cannot go on", error),
      );
      async function continueWith(erasure: ErasureDocument): Promise<void> {
        const name = nameOf(erasure._id);
        running.add(name);
        try {
          await sweep(erasure);
        } catch (error) {
          if (!stopped) onTrouble("the erasure of an account cannot go on", error);
        } finally {
          running.delete(name);
        }
      }
      return {
        stop() {
          stopped = true;
          watch.stop();
        },
      };
    },
    counts: () => counts,
    idle: () => Promise.allSettled(sweeps),
  };
}

/** Whether the requests that were admitted before the deletion are over. */
function isOver({ begun_at: begunAt }: ErasureDocument): boolean {
  return Date.now() - begunAt.getTime() > stragglersMs;
}

function nameOf(id: UUID): string {
  return id.toHexString();
}

/** In another order on every instance, so that they do not all begin with the same one. */
function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => [Math.random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function isAllErased(seen: readonly PlaceLeft[]): boolean {
  return seen.every(({ left }) => left === 0);
}
