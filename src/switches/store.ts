// The operator's switches in MongoDB with the record of how they were set, and the watch by which every instance follows them.
import type { MongoClient } from "mongodb";
import { ObjectId } from "mongodb";
import type { IndexSpec } from "../db/mongo.ts";
import { commandLimitMs } from "../db/mongo.ts";
import { transaction } from "../db/write.ts";
import { within } from "../guards/deadline.ts";
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
  /** Of two in one millisecond it tells which was the later, where one instance made both. */
  _id: ObjectId;
  changed_at: Date;
  address: string;
  token: string;
  request_id: string;
}

/** The switches of all instances. */
export interface SwitchStore {
  read(): Promise<SwitchDocument[]>;
  /** Sets a switch and records who did, both or neither; whether it was the other way before. */
  set(setting: SwitchSetting, caller: OperatorCaller): Promise<boolean>;
  /** How the switches were set, the latest first. */
  changes(limit: number): Promise<SwitchChangeDocument[]>;
}

/** What an instance knows of the switches, and of MongoDB. */
export interface SwitchWatch {
  state(): SwitchState;
  /** Whether MongoDB answered when it was last asked. */
  reachable(): boolean;
  /** Asks at once. */
  refresh(): Promise<void>;
  stop(): void;
}

/** Twice within the second in which a switch has to be in force on every instance (contract §9). */
const everyMs = 400;
const answerWithinMs = 1_000;

const changesCollection = "switch_changes";

export const switchIndexes: IndexSpec = {
  collection: changesCollection,
  indexes: [{ key: { changed_at: -1, _id: -1 }, name: "list" }],
};

/** The switches of a database. */
export function createSwitchStore(client: MongoClient): SwitchStore {
  const switches = client.db().collection<SwitchDocument>("switches");
  const changes = client.db().collection<SwitchChangeDocument>(changesCollection);
  return {
    read: () => switches.find({}, { comment: "watch" }).toArray(),
    set(setting, { address, token, requestId }) {
      return transaction(client, async (session) => {
        const { switch: _id, enabled, reason } = setting;
        const before = await switches.findOne({ _id }, { session });
        // Later than the change before, whatever the clock of that instance said: the latest stands first in the record.
        const changed_at = new Date(Math.max(Date.now(), (before?.changed_at.getTime() ?? 0) + 1));
        await switches.updateOne({ _id }, { $set: { enabled, reason, changed_at } }, { upsert: true, session });
        await changes.insertOne({ _id: new ObjectId(), ...setting, changed_at, address, token, request_id: requestId }, { session });
        return (before?.enabled ?? true) !== enabled;
      });
    },
    changes: (limit) => changes.find({}, { maxTimeMS: commandLimitMs }).sort({ changed_at: -1, _id: -1 }).limit(limit).toArray(),
  };
}

/** Follows the switches in the background; while MongoDB cannot be asked, they stay as they were. */
export async function watchSwitches(store: SwitchStore): Promise<SwitchWatch> {
  let state: SwitchState = { publicInterface: true, writes: true };
  let reachable = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let asked = 0;
  let answered = 0;

  async function refresh(): Promise<void> {
    const question = ++asked;
    const documents = await within(answerWithinMs, store.read()).catch(() => undefined);
    // An answer that a later question's overtook tells how things were before: a switch would be back for a moment.
    if (question < answered) return;
    answered = question;
    reachable = documents !== undefined;
    if (documents === undefined) return;
    const on = (name: keyof SwitchState): boolean => documents.find(({ _id }) => _id === name)?.enabled ?? true;
    state = { publicInterface: on("publicInterface"), writes: on("writes") };
  }
  async function follow(): Promise<void> {
    await refresh();
    if (!stopped) timer = setTimeout(() => void follow(), everyMs).unref();
  }

  await follow();
  return {
    state: () => state,
    reachable: () => reachable,
    refresh,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
