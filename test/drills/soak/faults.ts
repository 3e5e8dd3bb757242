// Faults of the soak drill: instances and dependencies stop and start.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { silent } from "../../fixtures/sign-in/fake-provider.ts";
import type { Site } from "../dependencies/site.ts";

/** Picks instances for faults. */
export interface Victims {
  /** Returns one of the instances, but never the survivor. */
  victim(): Victim;
}

/** An instance to stop. */
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
  readonly interrupts: boolean;
  /** Resolves when the fault is over, with a description of what went wrong. */
  run(site: Site, victims: Victims, lastsMs: number): Promise<string | undefined>;
}

const quiet = (name: string, run: (site: Site, lastsMs: number) => Promise<unknown>): Fault => ({
  name,
  interrupts: false,
  async run(site, _victims, lastsMs) {
    await run(site, lastsMs);
    return undefined;
  },
});

const kill: Fault = {
  name: "an instance killed",
  interrupts: false,
  async run(_site, victims) {
    const victim = victims.victim();
    await victim.kill();
    await victim.replace();
    return undefined;
  },
};

const end: Fault = {
  name: "an instance ended by SIGTERM",
  interrupts: false,
  async run(_site, victims) {
    const victim = victims.victim();
    const code = await victim.stop();
    await victim.replace();
    return code === 0 ? undefined : `an instance exited with ${String(code)} on SIGTERM`;
  },
};

const stepDown: Fault = {
  name: "the primary stepping down",
  interrupts: true,
  async run({ fixture: { client, primaryPid } }) {
    await client
      .db("admin")
      .command({ replSetStepDown: 5, force: true })
      .catch(() => undefined);
    await primaryPid();
    return undefined;
  },
};

const redisFrozen = quiet("Redis frozen", async ({ fixture: { redis } }, lastsMs) => {
  process.kill(redis.pid, "SIGSTOP");
  try {
    await sleep(lastsMs);
  } finally {
    process.kill(redis.pid, "SIGCONT");
  }
});

const redisFlushed = quiet("Redis flushed", async ({ fixture: { redis } }) => {
  const client = new Redis(redis.uri);
  await client.flushall();
  client.disconnect();
});

const redisCut = quiet("the connections to Redis cut", async ({ redisProxy }) => redisProxy.cut());

const providerSilent = quiet("the provider silent", async ({ provider: { responses } }, lastsMs) => {
  responses.set("*", silent);
  await sleep(lastsMs);
  responses.delete("*");
});

/** The faults for a replica set with one member, and with three. */
export const faultsOf = (members: 1 | 3): readonly Fault[] => [
  kill,
  end,
  redisFrozen,
  redisFlushed,
  redisCut,
  providerSilent,
  ...(members === 3 ? [stepDown] : []),
];
