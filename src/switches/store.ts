// The operator's switches and their changes in MongoDB, and the watch by which every instance follows the switches.
import type { MongoClient } from "mongodb";
import { ObjectId } from "mongodb";
import { collections } from "../db/collections.ts";
import { findAll } from "../db/aggregate.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { leaseMs } from "../db/lease.ts";
import type { Primary } from "../db/primary.ts";
import { transaction } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import { createFairQueue } from "../call/fair-queue.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { OperatorCaller } from "../guards/internal.ts";
import type { SwitchState } from "../guards/switches.ts";

/** A stored switch. A switch that was never set has no document, and is on. */
export interface SwitchDocument {
  _id: keyof SwitchState;
  enabled: boolean;
  reason: string;
  changed_at: Date;
}

/** The requested state of a switch, and the reason. */
export interface SwitchSetting {
  readonly switch: keyof SwitchState;
  readonly enabled: boolean;
  readonly reason: string;
}

/** A stored record that a switch was set. It never changes. */
export interface SwitchChangeDocument extends SwitchSetting {
  /** Orders two changes by one instance in the same millisecond. */
  _id: ObjectId;
  changed_at: Date;
  address: string;
  token: string;
  request_id: string;
}

/** The switches, which all instances share. */
export interface SwitchStore {
  read(deadline: Deadline): Promise<SwitchDocument[]>;
  /** Sets a switch and records who did so, in one transaction. Returns whether the switch changed. */
  set(setting: SwitchSetting, caller: OperatorCaller, deadline: Deadline): Promise<boolean>;
  /** Returns the records of how the switches were set, the latest first. */
  changes(limit: number, deadline: Deadline): Promise<SwitchChangeDocument[]>;
}

/** The switches and MongoDB, as an instance last saw them. */
export interface SwitchWatch {
  /** Returns the switches as last read. */
  state(): SwitchState;
  /**
   * Fails with UNAVAILABLE unless the switches were read within the duration of a lease, because they may have changed
   * since.
   */
  requireFresh(): void;
  /**
   * Resolves once the switches are fresh, or after a second without. Returns undefined if they are fresh now, or have
   * been stale for so long that MongoDB is not expected to reply, or if too many requests wait.
   */
  waitUntilFresh(): Promise<void> | undefined;
  /** Returns whether MongoDB replied to the last proof, and the lease is held. */
  reachable(): boolean;
  /** Reads the switches now. */
  refresh(): Promise<void>;
}

export const switchCollection: CollectionSpec = {
  collection: collections.switchChanges,
  erasure: undefined,
  indexes: [{ key: { changed_at: -1, _id: -1 }, name: "list" }],
};

/**
 * How long a request waits for fresh switches: a process that stood still, or a slow reply, makes them stale for a
 * moment.
 */
const waitMs = 1_000;
/** More requests than these fail at once: the instance could not process them all in time. */
const maxWaiting = 512;
/** From this age of the switches on, MongoDB is away, and requests fail at once. */
const awayMs = 5_000;

/** Creates the store of the switches in a database. */
export function createSwitchStore(client: MongoClient): SwitchStore {
  const switches = client.db().collection<SwitchDocument>(collections.switches);
  const changes = client.db().collection<SwitchChangeDocument>(collections.switchChanges);
  return {
    read: (deadline) => findAll<SwitchDocument>(switches, {}, { deadline }),
    set(setting, { address, token, requestId }, deadline) {
      return transaction(client, deadline, async (session) => {
        const { switch: _id, enabled, reason } = setting;
        const before = await switches.findOne({ _id }, { session });
        // Later than the previous change even if instances' clocks differ: the latest must be first in the record.
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
 * Follows the switches, which every proof of the primary reads (contract §9). While MongoDB cannot be reached, they
 * keep their last state. Once that is too old, requests that depend on them are rejected. `because` returns why while
 * the lease is held, in a word or two for the log.
 */
export async function watchSwitches(
  primary: Pick<Primary, "onProof" | "prove" | "require" | "status">,
  because = () => "stale switches",
): Promise<SwitchWatch> {
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
    if (isFresh()) waiting.release();
  });
  const isFresh = (): boolean => performance.now() - asOf < leaseMs;
  const waiting = createWaitingRoom(waitMs, maxWaiting);
  await primary.prove();
  return {
    state: () => state,
    requireFresh() {
      if (isFresh()) return;
      primary.require();
      fail(Reason.UNAVAILABLE, { because: because(), waitingFor: "the primary's lease" });
    },
    waitUntilFresh: () => (isFresh() || performance.now() - asOf > awayMs ? undefined : waiting.enter()),
    reachable: () => reachable && primary.status().held,
    refresh: primary.prove,
  };
}

/** Callers that wait for the same event. */
interface WaitingRoom {
  /** Resolves at the next release, or when the time limit has passed. Returns undefined if the room is full. */
  enter(): Promise<void> | undefined;
  release(): void;
}

/** Creates a waiting room. Those who leave it continue one by one. */
function createWaitingRoom(limitMs: number, maxWaiters: number): WaitingRoom {
  // Requests that all continued at once would keep the event loop from the next proof.
  const schedule = createFairQueue(0);
  /** Those who have entered and do not continue yet. */
  let count = 0;
  const waiting = new Set<() => void>();

  return {
    enter() {
      if (count >= maxWaiters) return undefined;
      count += 1;
      return new Promise((resolve) => {
        const leave = (): void => {
          clearTimeout(timer);
          waiting.delete(leave);
          schedule(() => {
            count -= 1;
            resolve();
          });
        };
        const timer = setTimeout(leave, limitMs).unref();
        waiting.add(leave);
      });
    },
    release() {
      for (const leave of waiting) leave();
    },
  };
}
