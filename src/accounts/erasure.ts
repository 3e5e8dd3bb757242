// Deletes accounts: out of service at once, then everything of it erased, and for 90 days the proof of it.
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientSession, Collection, MongoClient, UUID } from "mongodb";
import type { ApiKeyStore } from "../api-keys/store.ts";
import { findFirst } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import type { RedisLink } from "../db/redis.ts";
import { databaseNow } from "../db/primary.ts";
import { transaction, write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import type { OperatorCaller } from "../guards/internal.ts";
import type { PlaceLeft } from "./places.ts";
import { createPlaces } from "./places.ts";
import type { AccountStore, IdentityDocument } from "./store.ts";
import type { ErasureDocument, Sweeper } from "./sweeper.ts";
import { createSweeper, leavingOf } from "./sweeper.ts";

/** Who requested an erasure, and why: the account's own audit log is erased with it. */
export interface ErasureRequest extends OperatorCaller {
  readonly reason: string;
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
export interface Erasures extends Pick<Sweeper, "follow" | "counts" | "idle"> {
  /**
   * Takes the account out of service at once and returns how far its erasure is. Sweeps in the background where no
   * other sweeper does, and waits for that until `untilMs` of `performance.now()`. The same for an account that is only
   * partly restored. Undefined when there is no such account, nor was one that was erased in the last 90 days.
   */
  erase(id: UUID, untilMs: number, by?: ErasureRequest, deadline?: Deadline): Promise<Erasure | undefined>;
}

/** For looking through Redis once what could be erased is erased. */
const lookMs = 700;
const keptSeconds = 90 * 24 * 3_600;

export const erasureCollection: CollectionSpec = {
  collection: collections.erasures,
  erasure: undefined,
  indexes: [{ key: { finished_at: 1 }, name: "expiry", expireAfterSeconds: keptSeconds }],
};

/** What erasures work on. */
export interface ErasureDependencies {
  readonly client: MongoClient;
  /** In the order in which an account is erased from them. */
  readonly specs: readonly CollectionSpec[];
  /** Undefined where there is none. */
  redis(): RedisLink | undefined;
  /** Prepares for the deletion of all notes of an account. */
  readonly ease: (id: UUID) => Promise<void>;
  /** Each removes within a transaction; without them, nobody of the account is let in any more. */
  readonly removeAccount: AccountStore["remove"];
  readonly removeKeys: ApiKeyStore["removeAll"];
  readonly removeSessions: (identities: readonly IdentityDocument[], session: ClientSession) => Promise<void>;
  /** Ends a restore within a transaction, so that no batch of it is written any more; false where there was none. */
  readonly removeRestore: (id: UUID, session: ClientSession) => Promise<boolean>;
}

/** The erasures of a database. */
export function createErasures(dependencies: ErasureDependencies): Erasures {
  const { client, specs, redis, ease } = dependencies;
  const erasures = client.db().collection<ErasureDocument>(collections.erasures);
  const places = createPlaces(client.db(), specs, redis);
  const { sweep, ...background } = createSweeper(client, places, ease);
  const find = (id: UUID, deadline: Deadline): Promise<ErasureDocument | undefined> =>
    findFirst<ErasureDocument>(erasures, { _id: id }, { deadline });

  const begin = createBegin(dependencies, erasures);

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
          await write(client, deadline, (options, fence) =>
            erasures.updateOne({ _id: id, ...fence }, { $unset: { finished_at: "" } }, options),
          );
        // A sweep that fails is begun again in the background, which logs it.
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

/** Takes an account out of service and begins its erasure. Does nothing without an account, or when it has begun. */
function createBegin(dependencies: ErasureDependencies, erasures: Collection<ErasureDocument>) {
  const { client, removeAccount, removeKeys, removeSessions, removeRestore } = dependencies;

  /** Whether there are records of an account that a restore has not completed, and that nothing erases yet. */
  async function isRestoreLeft(id: UUID, session: ClientSession): Promise<boolean> {
    if ((await erasures.findOne({ _id: id }, { session })) !== null) return false;
    return removeRestore(id, session);
  }

  return (id: UUID, by: ErasureRequest | undefined, deadline: Deadline): Promise<void> =>
    transaction(client, deadline, async (session) => {
      const account = await removeAccount(id, session);
      if (account === undefined && !(await isRestoreLeft(id, session))) return;
      const { identities = [] } = account ?? {};
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
