// Faults of MongoDB, Redis and the identity provider, and what must still be served during each.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execFileSync } from "node:child_process";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { endProcess, identify } from "../../../src/embedded/process-id.ts";
import { directUri } from "../../fixtures/databases/database.ts";
import type { ResponseHandler } from "../../fixtures/sign-in/fake-provider.ts";
import { away, json, silent } from "../../fixtures/sign-in/fake-provider.ts";
import type { FaultMode } from "../../fixtures/network/proxy.ts";
import type { Site } from "./site.ts";
import type { Kind } from "./surfaces.ts";

/** A fault that lasts for a while. */
export interface Fault {
  readonly name: string;
  /** The number of replica set members that it needs. */
  readonly members: 1 | 3;
  /** Starts the fault and resolves with a function that ends it. */
  begin(site: Site): Promise<() => Promise<unknown>>;
  /** The expected outcome of each kind of call; `served` by default. */
  readonly expects: Readonly<Partial<Record<Kind, "served" | "unavailable" | "either">>>;
  /** The service recovers while the fault lasts. */
  readonly heals?: true;
  /** The requests go to an instance that starts during the fault. */
  readonly cold?: true;
}

const recordsUnavailable: Fault["expects"] = {
  read: "unavailable",
  write: "unavailable",
  user: "unavailable",
  assistant: "unavailable",
  serving: "unavailable",
};
const recordsInterrupted: Fault["expects"] = {
  read: "either",
  write: "either",
  user: "either",
  assistant: "either",
  serving: "either",
};

async function frozen(pid: number): Promise<() => Promise<unknown>> {
  process.kill(pid, "SIGSTOP");
  return async () => process.kill(pid, "SIGCONT");
}

function mongoFaultMode(name: string, faultMode: FaultMode, expects: Fault["expects"]): Fault {
  return {
    name,
    members: 1,
    expects,
    async begin({ mongoProxy }) {
      await mongoProxy?.set(faultMode);
      return async () => mongoProxy?.set("fair");
    },
  };
}

/**
 * Makes mongod's fail points reject the service's writes with this code: OutOfDiskSpace, or UserWritesBlocked, the
 * error of `setUserWriteBlockMode`.
 */
function mongoRejects(name: string, errorCode: number): Fault {
  const data = {
    failCommands: ["insert", "update", "findAndModify", "delete", "commitTransaction"],
    errorCode,
    appName: "records",
  };
  return {
    name,
    members: 1,
    expects: { write: "unavailable" },
    async begin({ fixture: { client } }) {
      const points = {
        failCommand: data,
        // A create without an idempotency key is an aggregation, as reads are, so its insert is made to fail.
        failCollectionInserts: { collectionNS: `${client.db().databaseName}.contacts` },
      };
      const set = async (mode: string): Promise<void> => {
        for (const [configureFailPoint, one] of Object.entries(points))
          await client.db("admin").command({ configureFailPoint, mode, ...(mode === "off" ? {} : { data: one }) });
      };
      await set("alwaysOn");
      return () => set("off");
    },
  };
}

/** A fault caused by Redis's own commands, bypassing the proxy. */
function redis(name: string, begin: (client: Redis) => Promise<() => Promise<unknown>>): Fault {
  return {
    name,
    members: 1,
    expects: {},
    async begin({ fixture }) {
      const client = new Redis(fixture.redis.uri);
      try {
        const end = await begin(client);
        return () => end().finally(() => client.disconnect());
      } catch (error) {
        client.disconnect();
        throw error;
      }
    },
  };
}

function redisFaultMode(name: string, faultMode: FaultMode): Fault {
  return {
    name,
    members: 1,
    expects: {},
    async begin({ redisProxy }) {
      await redisProxy.set(faultMode);
      return () => redisProxy.set("fair");
    },
  };
}

/** Replaces the provider's responses on one path, or on all. */
function provider(name: string, handler: ResponseHandler, path = "*", cold?: Fault["expects"]): Fault {
  return {
    name,
    members: 1,
    expects: cold ?? {},
    ...(cold === undefined ? {} : { cold: true }),
    async begin({ provider: { responses } }) {
      const usual = new Map(responses);
      responses.set(path, handler);
      return async () => {
        responses.clear();
        for (const [at, one] of usual) responses.set(at, one);
      };
    },
  };
}

const configured =
  (client: Redis, setting: string, wrong: string, right: string) => async (): Promise<() => Promise<unknown>> => {
    await client.config("SET", setting, wrong);
    return () => client.config("SET", setting, right);
  };
const late =
  (ms: number): ResponseHandler =>
  (request, response) =>
    void sleep(ms).then(() => json({ error: "server_error" }, 500)(request, response));
const neverReached = { assistant: "unavailable", "sign-in": "unavailable" } as const;

/** The most important faults, which the short form runs. */
export const mainFaults = {
  mongoFrozen: {
    name: "MongoDB frozen",
    members: 1,
    expects: recordsUnavailable,
    begin: async ({ fixture }) => frozen(await fixture.primaryPid()),
  },
  diskFull: mongoRejects("MongoDB's disk full", 14031),
  redisFrozen: {
    name: "Redis frozen",
    members: 1,
    expects: {},
    begin: async ({ fixture }) => frozen(fixture.redis.pid),
  },
  providerSilent: provider("the provider silent", silent),
} as const satisfies Record<string, Fault>;

export const faults: readonly Fault[] = [
  ...Object.values(mainFaults),
  mongoFaultMode("MongoDB behind a frozen proxy", "frozen", recordsUnavailable),
  mongoFaultMode(
    "MongoDB slowed by 300 ms per chunk",
    { delayMs: 300 },
    { ...recordsInterrupted, read: "served", user: "served" },
  ),
  mongoFaultMode("MongoDB gone", "gone", recordsUnavailable),
  mongoRejects("MongoDB read-only", 371),
  redisFaultMode("Redis behind a frozen proxy", "frozen"),
  redisFaultMode("Redis slowed by 200 ms per chunk", { delayMs: 200 }),
  redisFaultMode("Redis gone", "gone"),
  redis("Redis flushed every 100 ms", async (client) => {
    const timer = setInterval(() => void Promise.all([client.flushall(), client.script("FLUSH")]), 100);
    return async () => clearInterval(timer);
  }),
  redis("Redis out of memory", (client) => configured(client, "maxmemory", "1", "64mb")()),
  redis("Redis as a replica of an unreachable master", async (client) => {
    await client.replicaof("127.0.0.1", 1);
    return () => client.replicaof("NO", "ONE");
  }),
  redis("Redis without enough replicas", (client) => configured(client, "min-replicas-to-write", "1", "0")()),
  redis("Redis unable to save", cannotSave),
  provider("the provider slow, then failing", late(2_000)),
  provider("the provider gone", away),
  provider("the provider with malformed keys", json({ keys: "none" }), "/jwks"),
  provider("the provider silent from the start", silent, "*", neverReached),
  provider("the provider gone from the start", away, "*", neverReached),
  provider("the provider with malformed keys from the start", json({ keys: "none" }), "/jwks", {
    assistant: "unavailable",
  }),
  {
    name: "the primary frozen",
    members: 3,
    expects: recordsInterrupted,
    heals: true,
    begin: async ({ fixture }) => frozen(await fixture.primaryPid()),
  },
  { name: "the primary stepping down", members: 3, expects: recordsInterrupted, heals: true, begin: stepDown },
  { name: "no primary, two of three members killed", members: 3, expects: recordsUnavailable, begin: killTwo },
  { name: "the primary's files at their size limit", members: 3, expects: recordsInterrupted, begin: limitFiles },
];

/** Makes a dump fail: a folder has the name of the dump file. */
async function cannotSave(client: Redis): Promise<() => Promise<unknown>> {
  const [, folder = ""] = (await client.config("GET", "dir")) as string[];
  const inTheWay = join(folder, "in-the-way.rdb");
  await mkdir(inTheWay);
  // Redis reports the failure only if it has save points.
  await client.config("SET", "save", "3600 1000000");
  await client.config("SET", "dbfilename", "in-the-way.rdb");
  await client.bgsave();
  while (!/rdb_last_bgsave_status:err/.test(await client.info("persistence"))) await sleep(20);
  return async () => {
    await client.config("SET", "save", "");
    await rm(inTheWay, { recursive: true });
  };
}

async function stepDown({ fixture: { client } }: Site): Promise<() => Promise<unknown>> {
  await client
    .db("admin")
    .command({ replSetStepDown: 10, force: true })
    .catch(() => undefined);
  return async () => undefined;
}

async function killTwo({ fixture: { mongod } }: Site): Promise<() => Promise<unknown>> {
  for (const { pid } of mongod.members.slice(0, 2)) process.kill(pid, "SIGKILL");
  await noPrimary(directUri(mongod.administratorUri, new URL(mongod.members[2]?.uri ?? "").host));
  return () => mongod.revive();
}

/** Resolves when the remaining member has stepped down. */
async function noPrimary(uri: string): Promise<void> {
  const client = await MongoClient.connect(uri);
  while ((await client.db("admin").command({ hello: 1 }))["isWritablePrimary"] === true) await sleep(100);
  await client.close();
}

/** Makes every file write fail. Mongod may exit because of it, so it is restarted in the end. */
async function limitFiles({ fixture }: Site): Promise<() => Promise<unknown>> {
  const pid = await fixture.primaryPid();
  const mongod = identify(pid);
  execFileSync("prlimit", ["--pid", String(pid), "--fsize=1"]);
  return async () => {
    if (mongod !== undefined) await endProcess(mongod, 0);
    await fixture.mongod.revive();
  };
}
