// Account erasure: revokes all access at once, erases the data in the background, and keeps proof for 90 days.
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientSession, Collection, MongoClient, UUID } from "mongodb";
import type { ApiKeyStore } from "../api-keys/store.ts";
import { findFirst } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import { databaseNow } from "../db/primary.ts";
import { transaction, write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import type { OperatorCaller } from "../guards/internal.ts";
import type { PlaceLeft } from "./places.ts";
import { createPlaces } from "./places.ts";
import type { AccountStore, IdentityDocument } from "./store.ts";
import type { ErasureDocument, Sweeper } from "./sweeper.ts";
import { identitiesOf } from "./store.ts";
import { createSweeper, erasedAccountOf } from "./sweeper.ts";

/**
 * The operator who requests an erasure, and the reason. The erasure keeps both, because it erases the account's audit
 * log.
 */
export interface ErasureRequest extends OperatorCaller {
  readonly reason: string;
}

/** The progress of an account's erasure. */
export interface Erasure {
  /** True if nothing is left; false if something may be left. */
  readonly erased: boolean;
  readonly begunAt: Date;
  readonly reason: string;
  readonly token: string;
  /** Every place that was checked. Redis is missing if it did not respond. */
  readonly places: readonly { readonly place: string; readonly left: number; readonly deleted: number }[];
}

/** Erases accounts. */
export interface Erasures extends Pick<Sweeper, "follow" | "counts" | "idle"> {
  /**
   * Revokes all access to the account at once and returns the progress of its erasure. Sweeps in the background unless
   * another sweeper does, and waits for the sweep until `untilMs` of `performance.now()`. Also erases a partly restored
   * account. Returns undefined if there is no such account and no erasure of it in the last 90 days.
   */
  erase(id: UUID, untilMs: number, by?: ErasureRequest, deadline?: Deadline): Promise<Erasure | undefined>;
}

/** The time limit of the check of Redis after a sweep, in milliseconds. */
const lookMs = 700;
const keptSeconds = 90 * 24 * 3_600;

export const erasureCollection: CollectionSpec = {
  collection: collections.erasures,
  erasure: undefined,
  indexes: [{ key: { finished_at: 1 }, name: "expiry", expireAfterSeconds: keptSeconds }],
};

/** The dependencies of `createErasures`. */
export interface ErasureDependencies {
  readonly client: MongoClient;
  /** The collections, in the order in which an account is erased from them. */
  readonly specs: readonly CollectionSpec[];
  /** Returns undefined if the service has no Redis. */
  redis(): RedisLink | undefined;
  /** Prepares for the deletion of all notes of an account. */
  readonly prepareNoteDeletion: (id: UUID) => Promise<void>;
  /** Each removes documents within a transaction. Without them, every credential of the account is rejected. */
  readonly removeAccount: AccountStore["remove"];
  readonly removeKeys: ApiKeyStore["removeAll"];
  readonly removeSessions: (identities: readonly IdentityDocument[], session: ClientSession) => Promise<void>;
  /**
   * Ends a restore within a transaction, so that no later batch of it is written. Returns false if there is no restore.
   */
  readonly removeRestore: (id: UUID, session: ClientSession) => Promise<boolean>;
}

/** Creates the erasures of a database. */
export function createErasures(dependencies: ErasureDependencies): Erasures {
  const { client, specs, redis, prepareNoteDeletion } = dependencies;
  const erasures = client.db().collection<ErasureDocument>(collections.erasures);
  const places = createPlaces(client.db(), specs, redis);
  const { sweep, ...background } = createSweeper(client, places, prepareNoteDeletion);
  const find = (id: UUID, deadline: Deadline): Promise<ErasureDocument | undefined> =>
    findFirst<ErasureDocument>(erasures, { _id: id }, { deadline });

  const begin = createBegin(dependencies, erasures);

  return {
    async erase(id, untilMs, by, deadline = deadlineIn(deadlineMs)) {
      await begin(id, by, deadline);
      const erasure = await find(id, deadline);
      if (erasure === undefined) return undefined;
      const look = (): Promise<PlaceLeft[]> =>
        places.look(erasedAccountOf(erasure), performance.now() + lookMs, deadline);
      let seen = erasure.finished_at === undefined ? undefined : await look();
      if (seen === undefined || !isAllErased(seen)) {
        // Data found after the end is erased in the background like the rest.
        if (erasure.finished_at !== undefined)
          await write(client, deadline, (options, fence) =>
            erasures.updateOne({ _id: id, ...fence }, { $unset: { finished_at: "" } }, options),
          );
        // The background task repeats a failed sweep and logs the failure.
        const sweeping = sweep(erasure).catch(() => undefined);
        await Promise.race([sweeping, sleep(Math.max(0, untilMs - performance.now()))]);
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
    ...background,
  };
}

/**
 * Creates the function that revokes all access to an account and begins its erasure. It does nothing if there is no
 * account or the erasure has begun.
 */
function createBegin(dependencies: ErasureDependencies, erasures: Collection<ErasureDocument>) {
  const { client, removeAccount, removeKeys, removeSessions, removeRestore } = dependencies;

  /** Whether an incomplete restore left records of an account that no erasure covers yet. Ends the restore. */
  async function isRestoreLeft(id: UUID, session: ClientSession): Promise<boolean> {
    if ((await erasures.findOne({ _id: id }, { session })) !== null) return false;
    return removeRestore(id, session);
  }

  return (id: UUID, by: ErasureRequest | undefined, deadline: Deadline): Promise<void> =>
    transaction(client, deadline, async (session) => {
      const account = await removeAccount(id, session);
      if (account === undefined && !(await isRestoreLeft(id, session))) return;
      const identities = account === undefined ? [] : identitiesOf(account);
      const requested = by && { reason: by.reason, token: by.token, address: by.address, request_id: by.requestId };
      const erasure = { _id: id, begun_at: databaseNow(client), ...(requested && { requested }), identities };
      await erasures.insertOne(erasure, { session });
      await removeKeys(id, { session });
      await removeSessions(identities, session);
    });
}

function isAllErased(seen: readonly PlaceLeft[]): boolean {
  return seen.every(({ left }) => left === 0);
}
