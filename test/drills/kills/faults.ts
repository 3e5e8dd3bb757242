// Faults of the kills drill: processes are killed or frozen, links cut, Redis flushed.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { directUri } from "../../fixtures/databases/database.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { isListening } from "../../../src/embedded/port.ts";
import { until } from "../../../src/embedded/wait.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";

export type Fault =
  | "instance kill"
  | "primary kill"
  | "primary freeze"
  | "primary isolation"
  | "stepdown"
  | "Redis flush"
  | "Redis freeze";

/** An isolated primary stays up until it has acknowledged this many writes. */
const acknowledgedAlone = 30;

/**
 * Each fault resolves once everything is repaired. `acknowledgedCount` returns the number of acknowledged writes. A
 * primary is isolated for at most `aloneMs` milliseconds.
 */
export function faultsOn(
  fixture: Fixture,
  acknowledgedCount: () => number,
  aloneMs: number,
): Record<Fault, () => Promise<void>> {
  const { mongod, redis, client, instances } = fixture;
  const admin = client.db("admin");

  async function frozen(pid: number, ms: number): Promise<void> {
    process.kill(pid, "SIGSTOP");
    await sleep(ms);
    process.kill(pid, "SIGCONT");
  }

  /** Kills a member and resolves when it has exited, so that it can be restarted. */
  async function killMember(pid: number): Promise<void> {
    const port = Number(new URL(mongod.members.find((member) => member.pid === pid)?.uri ?? "").port);
    process.kill(pid, "SIGKILL");
    await until(async () => !(await isListening(port)), AbortSignal.timeout(60_000));
  }

  /** Retries, because a killed member may have a lot to roll back on a busy machine. */
  async function revive(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await mongod.revive();
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
  }

  /** Restarts an instance as a supervisor would. It may exit during startup if there is no primary for too long. */
  async function restart(): Promise<ChildInstance> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fixture.start();
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
  }

  return {
    /** Kills an instance and starts another in its place. */
    async "instance kill"() {
      const at = Math.floor(Math.random() * instances.length);
      await instances[at]?.kill();
      instances[at] = await restart();
    },

    async "primary kill"() {
      await killMember(await fixture.primaryPid());
      await revive();
    },

    /** Longer than the election timeout, so the old primary is deposed when it wakes up. */
    async "primary freeze"() {
      await frozen(await fixture.primaryPid(), 4_000);
      await revive();
    },

    /** Stops replication from the primary for a while, then kills it. What only it has is killMember. */
    async "primary isolation"() {
      const pid = await fixture.primaryPid();
      const followers = mongod.members
        .filter((member) => member.pid !== pid)
        .map(({ uri }) => directUri(mongod.administratorUri, new URL(uri).host));
      const admins = await Promise.all(followers.map((uri) => MongoClient.connect(uri)));
      try {
        const follow = (mode: string): Promise<unknown> =>
          Promise.all(
            admins.map((follower) => follower.db("admin").command({ configureFailPoint: "stopReplProducer", mode })),
          );
        await follow("alwaysOn");
        const before = acknowledgedCount();
        for (
          const until = performance.now() + aloneMs;
          acknowledgedCount() < before + acknowledgedAlone && performance.now() < until;
        )
          await sleep(20);
        await killMember(pid);
        // Replication stays off until there is a new primary: the sockets may still hold data of the old one.
        await Promise.race([fixture.primaryPid(), sleep(10_000)]);
        await follow("off");
      } finally {
        await Promise.all(admins.map((follower) => follower.close()));
      }
      await revive();
    },

    async stepdown() {
      await admin.command({ replSetStepDown: 5, force: true }).catch(() => undefined);
      await revive();
    },

    async "Redis flush"() {
      const flushing = new Redis(redis.uri);
      await flushing.flushall();
      flushing.disconnect();
    },

    async "Redis freeze"() {
      await frozen(redis.pid, 1_000);
    },
  };
}
