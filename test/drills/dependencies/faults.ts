// Fault modes of MongoDB, Redis and the identity provider, and what must still be served meanwhile.
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

/** Something that is wrong for a while. */
export interface Fault {
  readonly name: string;
  /** Members that MongoDB has to have for it. */
  readonly members: 1 | 3;
  /** Begins it; resolves with what ends it. */
  begin(site: Site): Promise<() => Promise<unknown>>;
  /** What is not served as ever. */
  readonly expects: Readonly<Partial<Record<Kind, "served" | "unavailable" | "either">>>;
  /** The service gets over it while it lasts. */
  readonly heals?: true;
  /** It meets an instance that starts while it lasts. */
  readonly cold?: true;
}

const recordsAway: Fault["expects"] = {
  read: "unavailable",
  write: "unavailable",
  user: "unavailable",
  assistant: "unavailable",
  serving: "unavailable",
};
const recordsHalting: Fault["expects"] = {
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
 * Commands of the service that mongod rejects with this code, by its fail points: OutOfDiskSpace, or UserWritesBlocked,
 * which is what `setUserWriteBlockMode` returns.
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
        // A create without an idempotency key is an aggregation, as the reads are: its insert fails.
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

/** Redis by its own commands, past the proxy. */
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

/** The provider responds otherwise: everything, or one path. */
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

/** The faults that matter most: what the short form suffers. */
export const foremost = {
  mongoFrozen: {
    name: "MongoDB frozen",
    members: 1,
    expects: recordsAway,
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

/** All faults. */
export const faults: readonly Fault[] = [
  ...Object.values(foremost),
  mongoFaultMode("MongoDB behind a frozen proxy", "frozen", recordsAway),
  mongoFaultMode(
    "MongoDB slow by 300 ms a piece",
    { delayMs: 300 },
    { ...recordsHalting, read: "served", user: "served" },
  ),
  mongoFaultMode("MongoDB gone", "gone", recordsAway),
  mongoRejects("MongoDB read-only", 371),
  redisFaultMode("Redis behind a frozen proxy", "frozen"),
  redisFaultMode("Redis slow by 200 ms a piece", { delayMs: 200 }),
  redisFaultMode("Redis gone", "gone"),
  redis("Redis flushed every 100 ms", async (client) => {
    const timer = setInterval(() => void Promise.all([client.flushall(), client.script("FLUSH")]), 100);
    return async () => clearInterval(timer);
  }),
  redis("Redis out of memory", (client) => configured(client, "maxmemory", "1", "64mb")()),
  redis("Redis a replica of nobody", async (client) => {
    await client.replicaof("127.0.0.1", 1);
    return () => client.replicaof("NO", "ONE");
  }),
  redis("Redis without the replicas that it wants", (client) =>
    configured(client, "min-replicas-to-write", "1", "0")(),
  ),
  redis("Redis that cannot write its file", cannotSave),
  provider("the provider slow, and in error then", late(2_000)),
  provider("the provider gone", away),
  provider("the provider with keys that are none", json({ keys: "none" }), "/jwks"),
  provider("the provider silent from the start", silent, "*", neverReached),
  provider("the provider gone from the start", away, "*", neverReached),
  provider("the provider with keys that are none from the start", json({ keys: "none" }), "/jwks", {
    assistant: "unavailable",
  }),
  {
    name: "the primary frozen",
    members: 3,
    expects: recordsHalting,
    heals: true,
    begin: async ({ fixture }) => frozen(await fixture.primaryPid()),
  },
  { name: "the primary stepping down", members: 3, expects: recordsHalting, heals: true, begin: stepDown },
  { name: "no primary, two of three members killed", members: 3, expects: recordsAway, begin: killTwo },
  { name: "the primary's files at the limit of their size", members: 3, expects: recordsHalting, begin: limitFiles },
];

/** A dump that fails: a folder lies where the file should be. */
async function cannotSave(client: Redis): Promise<() => Promise<unknown>> {
  const [, folder = ""] = (await client.config("GET", "dir")) as string[];
  const inTheWay = join(folder, "in-the-way.rdb");
  await mkdir(inTheWay);
  // Redis does not say so where it keeps no file at all.
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

/** Resolves when the one member that is left has noticed. */
async function noPrimary(uri: string): Promise<void> {
  const client = await MongoClient.connect(uri);
  while ((await client.db("admin").command({ hello: 1 }))["isWritablePrimary"] === true) await sleep(100);
  await client.close();
}

/** Nothing can be written to a file any more. Mongod may end by that or not: in the end it has to be started again. */
async function limitFiles({ fixture }: Site): Promise<() => Promise<unknown>> {
  const pid = await fixture.primaryPid();
  const mongod = identify(pid);
  execFileSync("prlimit", ["--pid", String(pid), "--fsize=1"]);
  return async () => {
    if (mongod !== undefined) await endProcess(mongod, 0);
    await fixture.mongod.revive();
  };
}
