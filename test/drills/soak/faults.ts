// Faults of the soak: instances and dependencies stop and start.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { silent } from "../../fixtures/sign-in/fake-provider.ts";
import type { Site } from "../dependencies/site.ts";

/** The instances under load, as far as faults concern them. */
export interface Victims {
  /** One of them, but never the one that lives through. */
  victim(): Victim;
}

/** An instance that goes. */
export interface Victim {
  /** By SIGKILL, under load. */
  kill(): Promise<void>;
  /** By SIGTERM, after nothing new is sent to it; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Another comes under load in its place. */
  replace(): Promise<void>;
}

/** What may follow from a fault. */
export interface Fault {
  readonly name: string;
  /** Requests may get 503: the records are unavailable. */
  readonly halts: boolean;
  /** Resolves when it is over; what should not be, in words. */
  run(site: Site, victims: Victims, lastsMs: number): Promise<string | undefined>;
}

const quiet = (name: string, run: (site: Site, lastsMs: number) => Promise<unknown>): Fault => ({
  name,
  halts: false,
  async run(site, _victims, lastsMs) {
    await run(site, lastsMs);
    return undefined;
  },
});

const kill: Fault = {
  name: "an instance killed",
  halts: false,
  async run(_site, victims) {
    const victim = victims.victim();
    await victim.kill();
    await victim.replace();
    return undefined;
  },
};

const end: Fault = {
  name: "an instance ended by SIGTERM",
  halts: false,
  async run(_site, victims) {
    const victim = victims.victim();
    const code = await victim.stop();
    await victim.replace();
    return code === 0 ? undefined : `an instance that got SIGTERM exited with ${String(code)}`;
  },
};

const stepDown: Fault = {
  name: "the primary stepping down",
  halts: true,
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

const providerAway = quiet("the provider silent", async ({ provider: { responses } }, lastsMs) => {
  responses.set("*", silent);
  await sleep(lastsMs);
  responses.delete("*");
});

/** What a set of one member gets over, and what needs three. */
export const faultsOf = (members: 1 | 3): readonly Fault[] => [
  kill,
  end,
  redisFrozen,
  redisFlushed,
  redisCut,
  providerAway,
  ...(members === 3 ? [stepDown] : []),
];
