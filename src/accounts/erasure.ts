// Erases everything of an account: what it owns in MongoDB, and what Redis keeps of it.
import type { Db, Document, MongoClient } from "mongodb";
import type { UUID } from "mongodb";
import { MaxKey, MinKey } from "mongodb";
import { commandLimitMs } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import { claimsCollection, transaction } from "../db/write.ts";
import { keptAnswer } from "../guards/reservations.ts";
import type { AccountDocument } from "./store.ts";
import { accountsCollection } from "./store.ts";

/** An account that is being erased: all that is left of it while that takes. */
interface ErasureDocument {
  /** The id of the account. */
  _id: UUID;
  begun_at: Date;
}

/** Deletes accounts. */
export interface Erasures {
  /**
   * Takes the account out of service at once and erases what it can until `untilMs` of `performance.now()`; the rest
   * follows in the background. True once nothing is left, false while something may be; undefined when there is no such
   * account.
   */
  erase(id: UUID, untilMs: number): Promise<boolean | undefined>;
  /** Goes on in the background with what other calls, or instances that ended, have begun. */
  follow(): { stop(): void };
}

/** Requests that were admitted before the deletion may write for this long; an internal batch tries longest. */
const stragglersMs = 40_000;
const everyMs = 5_000;
const batch = 1_000;
const erasuresCollection = "erasures";

/** By account, but for claims, whose account stands within their id. What refers to others goes first. */
const owned = ["notes", "transcripts", "sessions", "contacts", "api_keys", "audit_log"] as const;

/** The erasures of a database; `redis` is undefined where there is none. */
export function createErasures(client: MongoClient, redis: () => RedisLink | undefined): Erasures {
  const db = client.db();
  const accounts = db.collection<AccountDocument>(accountsCollection);
  const erasures = db.collection<ErasureDocument>(erasuresCollection);

  /** Erases as much as there is time for; true when nothing was left. */
  async function sweep(id: UUID, untilMs: number): Promise<boolean> {
    if (!(await sweepClaims(id, untilMs))) return false;
    for (const collection of owned) if (!(await sweepCollection(db, collection, { account_id: id }, untilMs))) return false;
    return true;
  }

  async function sweepClaims(id: UUID, untilMs: number): Promise<boolean> {
    const claims = db.collection(claimsCollection);
    const ofAccount: Document = { _id: { $gte: { account_id: id, key: new MinKey() }, $lte: { account_id: id, key: new MaxKey() } } };
    while (performance.now() < untilMs) {
      const found = await claims.find(ofAccount, { projection: { _id: 1 }, limit: batch, maxTimeMS: commandLimitMs }).toArray();
      if (found.length === 0) return true;
      const keys = found.map(({ _id }) => (_id as unknown as { readonly key: string }).key);
      await redis()?.attempt((connection) => connection.del(keys.map((key) => keptAnswer(id, key))));
      await claims.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
    }
    return false;
  }

  async function finish({ _id, begun_at }: ErasureDocument): Promise<void> {
    const clean = await sweep(_id, performance.now() + everyMs);
    if (clean && Date.now() - begun_at.getTime() > stragglersMs) await erasures.deleteOne({ _id });
  }

  return {
    async erase(id, untilMs) {
      await transaction(client, async (session) => {
        const account = await accounts.findOneAndDelete({ _id: id }, { session });
        if (account === null) return;
        await erasures.insertOne({ _id: id, begun_at: new Date() }, { session });
        // No key and no person of the account is let in from here on.
        await db.collection("api_keys").deleteMany({ account_id: id }, { session });
        for (const { issuer, subject } of account.identities ?? []) await db.collection("dashboard_sessions").deleteMany({ issuer, subject }, { session });
      });
      if ((await erasures.countDocuments({ _id: id }, { limit: 1 })) === 0) return undefined;
      return sweep(id, untilMs);
    },
    follow() {
      let timer: NodeJS.Timeout | undefined;
      let stopped = false;
      const look = async (): Promise<void> => {
        for (const erasure of await erasures.find({}, { comment: "watch", maxTimeMS: commandLimitMs }).toArray()) {
          if (!stopped) await finish(erasure);
        }
      };
      const wait = (): void => {
        timer = setTimeout(() => void look().catch(() => undefined).then(() => stopped || wait()), everyMs).unref();
      };
      wait();
      return {
        stop() {
          stopped = true;
          clearTimeout(timer);
        },
      };
    },
  };
}

/** Deletes by batches, so that each command stays short however much there is. */
async function sweepCollection(db: Db, name: string, filter: Document, untilMs: number): Promise<boolean> {
  const collection = db.collection(name);
  while (performance.now() < untilMs) {
    const found = await collection.find(filter, { projection: { _id: 1 }, limit: batch, maxTimeMS: commandLimitMs }).toArray();
    if (found.length === 0) return true;
    await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
  }
  return false;
}
