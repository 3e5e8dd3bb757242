// The operator's switches in MongoDB, and the watch by which every instance follows them.
import type { Db } from "mongodb";
import { within } from "../guards/deadline.ts";
import type { SwitchState } from "../guards/switches.ts";

/** One switch as it is stored; one that was never set is on. */
export interface SwitchDocument {
  _id: keyof SwitchState;
  enabled: boolean;
  reason: string;
  changed_at: Date;
}

/** The switches of all instances. */
export interface SwitchStore {
  read(): Promise<SwitchDocument[]>;
  set(name: keyof SwitchState, enabled: boolean, reason: string): Promise<void>;
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

/** The switches of a database. */
export function createSwitchStore(db: Db): SwitchStore {
  const switches = db.collection<SwitchDocument>("switches");
  return {
    read: () => switches.find({}, { comment: "watch" }).toArray(),
    async set(name, enabled, reason) {
      await switches.updateOne({ _id: name }, { $set: { enabled, reason, changed_at: new Date() } }, { upsert: true });
    },
  };
}

/** Follows the switches in the background; while MongoDB cannot be asked, they stay as they were. */
export async function watchSwitches(store: SwitchStore): Promise<SwitchWatch> {
  let state: SwitchState = { publicInterface: true, writes: true };
  let reachable = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function refresh(): Promise<void> {
    try {
      const documents = await within(answerWithinMs, store.read());
      const on = (name: keyof SwitchState): boolean => documents.find(({ _id }) => _id === name)?.enabled ?? true;
      state = { publicInterface: on("publicInterface"), writes: on("writes") };
      reachable = true;
    } catch {
      reachable = false;
    }
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
