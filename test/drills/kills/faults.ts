// Faults of the kill drill: processes are killed or frozen, links cut, Redis flushed.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { directUri } from "../../fixtures/databases/database.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { isListening } from "../../../src/embedded/port.ts";
import { until } from "../../../src/embedded/wait.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";

/** What can be done to the fixture. */
export type Fault =
  | "instance kill"
  | "primary kill"
  | "primary freeze"
  | "primary isolation"
  | "stepdown"
  | "Redis flush"
  | "Redis freeze";

/** A primary is left alone until so many writes were acknowledged all the same. */
const acknowledgedAlone = 30;

/**
 * Each resolves when what was broken is whole again. `acknowledgedCount` counts the acknowledged writes; a primary is
 * left alone for so many milliseconds at most.
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

  /** SIGKILL to a member: nothing of it runs when this resolves, so that it can be revived. */
  async function lost(pid: number): Promise<void> {
    const port = Number(new URL(mongod.members.find((member) => member.pid === pid)?.uri ?? "").port);
    process.kill(pid, "SIGKILL");
    await until(async () => !(await isListening(port)), AbortSignal.timeout(60_000));
  }

  /** A member that was lost may have much to roll back, and a busy machine takes its time. */
  async function whole(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await mongod.revive();
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
  }

  /**
   * Restarts it as a supervisor would: one that ends instead of starting, because there is no primary for too long, is
   * started again.
   */
  async function startedAgain(): Promise<ChildInstance> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fixture.start();
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
  }

  return {
    /** SIGKILL to one; another takes its place. */
    async "instance kill"() {
      const at = Math.floor(Math.random() * instances.length);
      await instances[at]?.kill();
      instances[at] = await startedAgain();
    },

    async "primary kill"() {
      await lost(await fixture.primaryPid());
      await whole();
    },

    /** Longer than an election takes: the old primary wakes up deposed. */
    async "primary freeze"() {
      await frozen(await fixture.primaryPid(), 4_000);
      await whole();
    },

    /** For a while nobody follows the primary any more, then it is lost: what it alone knows is gone. */
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
        await lost(pid);
        // What the lost one had sent may lie unread in their sockets: they are not to take it up before one of them
        // leads.
        await Promise.race([fixture.primaryPid(), sleep(10_000)]);
        await follow("off");
      } finally {
        await Promise.all(admins.map((follower) => follower.close()));
      }
      await whole();
    },

    async stepdown() {
      await admin.command({ replSetStepDown: 5, force: true }).catch(() => undefined);
      await whole();
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
