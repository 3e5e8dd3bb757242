// The operator's switches in MongoDB with the record of how they were set, and the watch by which every instance
// follows them.
import type { MongoClient } from "mongodb";
import { ObjectId } from "mongodb";
import { collections } from "../db/collections.ts";
import { findAll } from "../db/aggregate.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { leaseMs } from "../db/lease.ts";
import type { Primary } from "../db/primary.ts";
import { transaction } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { OperatorCaller } from "../guards/internal.ts";
import type { SwitchState } from "../guards/switches.ts";

/** One switch as it is stored; one that was never set is on. */
export interface SwitchDocument {
  _id: keyof SwitchState;
  enabled: boolean;
  reason: string;
  changed_at: Date;
}

/** How a switch is to be set, and why. */
export interface SwitchSetting {
  readonly switch: keyof SwitchState;
  readonly enabled: boolean;
  readonly reason: string;
}

/** A switch that was set, as it is stored: added once, never changed. */
export interface SwitchChangeDocument extends SwitchSetting {
  /** Of two in one millisecond it shows which was the later, where one instance made both. */
  _id: ObjectId;
  changed_at: Date;
  address: string;
  token: string;
  request_id: string;
}

/** The switches of all instances. */
export interface SwitchStore {
  read(deadline: Deadline): Promise<SwitchDocument[]>;
  /** Sets a switch and records who did, both or neither; whether it was the other way before. */
  set(setting: SwitchSetting, caller: OperatorCaller, deadline: Deadline): Promise<boolean>;
  /** How the switches were set, the latest first. */
  changes(limit: number, deadline: Deadline): Promise<SwitchChangeDocument[]>;
}

/** What an instance knows of the switches, and of MongoDB. */
export interface SwitchWatch {
  /** The switches as they were read last. */
  state(): SwitchState;
  /**
   * For what depends on them: fails with UNAVAILABLE where they were not read within the lease, for they may have been
   * set since.
   */
  requireFresh(): void;
  /** Whether MongoDB replied to the last proof, a short time ago. */
  reachable(): boolean;
  /** Reads them at once. */
  refresh(): Promise<void>;
}

export const switchCollection: CollectionSpec = {
  collection: collections.switchChanges,
  erasure: undefined,
  indexes: [{ key: { changed_at: -1, _id: -1 }, name: "list" }],
};

/** The switches of a database. */
export function createSwitchStore(client: MongoClient): SwitchStore {
  const switches = client.db().collection<SwitchDocument>(collections.switches);
  const changes = client.db().collection<SwitchChangeDocument>(collections.switchChanges);
  return {
    read: (deadline) => findAll<SwitchDocument>(switches, {}, { deadline }),
    set(setting, { address, token, requestId }, deadline) {
      return transaction(client, deadline, async (session) => {
        const { switch: _id, enabled, reason } = setting;
        const before = await switches.findOne({ _id }, { session });
        // Later than the change before, whatever the clock of that instance said: the latest is first in the
        // record.
        const changed_at = new Date(Math.max(Date.now(), (before?.changed_at.getTime() ?? 0) + 1));
        await switches.updateOne({ _id }, { $set: { enabled, reason, changed_at } }, { upsert: true, session });
        await changes.insertOne(
          { _id: new ObjectId(), ...setting, changed_at, address, token, request_id: requestId },
          { session },
        );
        return (before?.enabled ?? true) !== enabled;
      });
    },
    changes: (limit, deadline) =>
      findAll<SwitchChangeDocument>(changes, {}, { sort: { changed_at: -1, _id: -1 }, limit, deadline }),
  };
}

/**
 * Follows the switches: every proof of the primary reads them (contract §9). While MongoDB cannot be reached they stay
 * as they were, and nothing that depends on them is served once they are too old.
 */
export async function watchSwitches(primary: Pick<Primary, "onProof" | "prove" | "status">): Promise<SwitchWatch> {
  let state: SwitchState = { publicInterface: true, writes: true };
  let reachable = false;
  let asOf = -Infinity;
  primary.onProof((documents, sentAt) => {
    reachable = documents !== undefined;
    if (documents === undefined) return;
    asOf = sentAt;
    const on = (name: keyof SwitchState): boolean =>
      (documents as SwitchDocument[]).find(({ _id }) => _id === name)?.enabled ?? true;
    state = { publicInterface: on("publicInterface"), writes: on("writes") };
  });
  await primary.prove();
  return {
    state: () => state,
    requireFresh: () =>
      void (
        performance.now() - asOf < leaseMs ||
        fail(Reason.UNAVAILABLE, { because: "stale switches", waitingFor: "the primary's lease" })
      ),
    reachable: () => reachable && primary.status().held,
    refresh: primary.prove,
  };
}
