// Faults of the soak drill: instances and dependencies stop and start.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { silent } from "../../fixtures/sign-in/fake-provider.ts";
import type { Site } from "../dependencies/site.ts";

export interface Victims {
  /** Returns one of the instances, but never the survivor. */
  victim(): Victim;
}

export interface Victim {
  /** Kills it with SIGKILL under load. */
  kill(): Promise<void>;
  /** Takes it out of the load and stops it with SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Starts another instance and puts it under load. */
  replace(): Promise<void>;
}

/** A fault, and what it may cause. */
export interface Fault {
  readonly name: string;
  /** Whether requests may get 503 because records are unavailable. */
  readonly interrupts?: true;
  /** Resolves when the fault is over, with a text that says what went wrong, if anything. */
  run(site: Site, victims: Victims, lastsMs: number): Promise<unknown>;
}

const faults: readonly Fault[] = [
  {
    name: "an instance killed",
    async run(_site, victims) {
      const victim = victims.victim();
      await victim.kill();
      await victim.replace();
    },
  },
  {
    name: "an instance ended by SIGTERM",
    async run(_site, victims) {
      const victim = victims.victim();
      const code = await victim.stop();
      await victim.replace();
      if (code !== 0) return `an instance exited with ${String(code)} on SIGTERM`;
    },
  },
  {
    name: "Redis frozen",
    async run({ fixture: { redis } }, _victims, lastsMs) {
      process.kill(redis.pid, "SIGSTOP");
      await sleep(lastsMs).finally(() => process.kill(redis.pid, "SIGCONT"));
    },
  },
  {
    name: "Redis flushed",
    async run({ fixture: { redis } }) {
      const client = new Redis(redis.uri);
      await client.flushall();
      client.disconnect();
    },
  },
  { name: "the connections to Redis cut", run: async ({ redisProxy }) => redisProxy.cut() },
  {
    name: "the provider silent",
    async run({ provider: { responses } }, _victims, lastsMs) {
      responses.set("*", silent);
      await sleep(lastsMs);
      responses.delete("*");
    },
  },
];

const stepDown: Fault = {
  name: "the primary stepping down",
  interrupts: true,
  async run({ fixture: { client, primaryPid } }) {
    const admin = client.db("admin");
    await admin.command({ replSetStepDown: 5, force: true }).catch(() => undefined);
    await primaryPid();
  },
};

/** The faults for a replica set with one member, and with three. */
export const faultsOf = (members: 1 | 3): readonly Fault[] => (members === 3 ? [...faults, stepDown] : faults);
