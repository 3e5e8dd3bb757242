// Faults of the drill's Redis Cluster and Sentinel group.
import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedisCluster } from "../../fixtures/databases/own-redis-cluster.ts";
import { startOwnSentinelGroup } from "../../fixtures/databases/own-sentinel-group.ts";

/** A fault. `run` resolves when it is over. `key` is a key in constant use. */
export interface Fault {
  readonly name: string;
  run(key: string): Promise<unknown>;
}

export interface Group {
  readonly uri: string;
  readonly faults: Readonly<Record<FaultName, Fault>>;
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export type FaultName = "failover" | "kill" | "freeze" | "move";
export type GroupKind = "cluster" | "sentinel";

/** Longer than a failover. */
const awayMs = 4_000;

export const startGroup: Readonly<Record<GroupKind, () => Promise<Group>>> = {
  async cluster() {
    const cluster = await startOwnRedisCluster();
    return {
      ...cluster,
      faults: {
        failover: { name: "CLUSTER FAILOVER", run: async (key) => cluster.failOver(await cluster.masterOf(key)) },
        kill: {
          name: "a master killed",
          async run(key) {
            const master = await cluster.masterOf(key);
            await master.kill();
            await sleep(awayMs);
            await master.revive();
            await cluster.settled();
          },
        },
        freeze: { name: "a master frozen", run: async (key) => frozen((await cluster.masterOf(key)).pid) },
        move: {
          name: "a slot moved",
          async run(key) {
            const from = await cluster.masterOf(key);
            const others = await Promise.all(Array.from({ length: 30 }, (_, at) => cluster.masterOf(`other ${at}`)));
            const to = others.find((server) => server !== from);
            if (to === undefined) throw new Error("no other master");
            await cluster.moveSlot(await cluster.slotOf(key), to, () => sleep(500));
          },
        },
      },
    };
  },

  async sentinel() {
    const group = await startOwnSentinelGroup();
    const failover = { name: "SENTINEL FAILOVER", run: () => group.failOver() };
    return {
      ...group,
      faults: {
        failover,
        // A Sentinel group has no slots to move.
        move: failover,
        kill: {
          name: "the master killed",
          async run() {
            const master = await group.master();
            await master.kill();
            await sleep(awayMs);
            await master.revive();
          },
        },
        freeze: { name: "the master frozen", run: async () => frozen((await group.master()).pid) },
      },
    };
  },
};

async function frozen(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  await sleep(awayMs);
  process.kill(pid, "SIGCONT");
}
