// Deletes accounts: out of service at once, then everything of it erased, and for 90 days the proof of it.
import type { MongoClient, UUID } from "mongodb";
import { findAll, findFirst } from "../db/aggregate.ts";
import type { IndexSpec } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import type { Background, OnTrouble } from "../db/repeat.ts";
import { repeat } from "../db/repeat.ts";
import { transaction, write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import type { PlaceLeft } from "./places.ts";
import { createPlaces } from "./places.ts";
import type { AccountDocument, IdentityDocument } from "./store.ts";
import { accountsCollection } from "./store.ts";

/** An account that is being erased, or was: all that is left of it. */
interface ErasureDocument {
  /** The id of the account. */
  _id: UUID;
  begun_at: Date;
  /** Whose sessions are to end; forgotten when the erasure is finished. */
  identities?: IdentityDocument[];
  finished_at?: Date;
}

/** How far the erasure of an account is. */
export interface Erasure {
  /** True once nothing is left, false while something may be. */
  readonly erased: boolean;
  readonly begunAt: Date;
  /** Every place that was looked through, and what is left there. Redis is not among them while it does not answer. */
  readonly places: readonly PlaceLeft[];
}

/** Deletes accounts. */
export interface Erasures {
  /**
   * Takes the account out of service at once, erases what it can until `untilMs` of `performance.now()`, and then looks
   * everywhere; the rest follows in the background. Undefined when there is no such account, nor was one that was erased
   * in the last 90 days.
   */
  erase(id: UUID, untilMs: number, deadline?: Deadline): Promise<Erasure | undefined>;
  /** Goes on in the background with what other calls, or instances that ended, have begun. */
  follow(onTrouble: OnTrouble): Background;
}

/** Requests that were admitted before the deletion may write for this long; an internal batch tries longest. */
const stragglersMs = 40_000;
const everyMs = 5_000;
/** For looking through Redis once what could be erased is erased. */
const lookMs = 700;
const keptSeconds = 90 * 24 * 3_600;
const erasuresCollection = "erasures";

export const erasureIndexes: IndexSpec = {
  collection: erasuresCollection,
  indexes: [{ key: { finished_at: 1 }, name: "expiry", expireAfterSeconds: keptSeconds }],
};

/** The erasures of a database; `redis` is undefined where there is none. */
export function createErasures(client: MongoClient, redis: () => RedisLink | undefined): Erasures {
  const db = client.db();
  const accounts = db.collection<AccountDocument>(accountsCollection);
  const erasures = db.collection<ErasureDocument>(erasuresCollection);
  const places = createPlaces(db, redis);
  const leavingOf = ({ _id, begun_at, identities }: ErasureDocument) => ({ id: _id, begunAt: begun_at, identities });

  async function finish(erasure: ErasureDocument): Promise<void> {
    const { _id, begun_at } = erasure;
    const clean = await places.sweep(leavingOf(erasure), deadlineIn(everyMs));
    if (!clean || Date.now() - begun_at.getTime() <= stragglersMs) return;
    const finished = { $set: { finished_at: new Date() }, $unset: { identities: "" } } as const;
    await write(client, deadlineIn(deadlineMs), (options) => erasures.updateOne({ _id }, finished, options));
  }

  return {
    async erase(id, untilMs, deadline = deadlineIn(deadlineMs)) {
      await transaction(client, deadline, async (session) => {
        const account = await accounts.findOneAndDelete({ _id: id }, { session });
        if (account === null) return;
        const { identities = [] } = account;
        await erasures.insertOne({ _id: id, begun_at: new Date(), identities }, { session });
        // No key and no person of the account is let in from here on.
        await db.collection("api_keys").deleteMany({ account_id: id }, { session });
        for (const { issuer, subject } of identities) await db.collection("dashboard_sessions").deleteMany({ issuer, subject }, { session });
      });
      const erasure = await findFirst<ErasureDocument>(erasures, { _id: id });
      if (erasure === undefined) return undefined;
      const swept = await places.sweep(leavingOf(erasure), deadlineIn(untilMs - performance.now()));
      const seen = await places.look(leavingOf(erasure), performance.now() + lookMs);
      const erased = swept && seen.every(({ left }) => left === 0);
      // What turns up after the end is erased in the background like the rest.
      if (!erased && erasure.finished_at !== undefined) await write(client, deadline, (options) => erasures.updateOne({ _id: id }, { $unset: { finished_at: "" } }, options));
      return { erased, begunAt: erasure.begun_at, places: seen.flatMap(({ place, left }) => (left === undefined ? [] : [{ place, left }])) };
    },
    follow: (onTrouble) =>
      repeat(everyMs, async (isStopped) => {
        const failures: unknown[] = [];
        for (const erasure of await findAll<ErasureDocument>(erasures, { finished_at: { $exists: false } }, { comment: "watch" })) {
          // One that cannot go on is tried again next time, and holds up no other.
          if (!isStopped()) await finish(erasure).catch((error: unknown) => failures.push(error));
        }
        if (failures.length > 0) throw failures[0];
      }, (error) => onTrouble("the erasure of an account cannot go on", error)),
  };
}
