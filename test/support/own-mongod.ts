// A mongod of a test's own, of one member or three, whose commands can be made to fail: the shared one is everybody's.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Document } from "mongodb";
import { MongoClient } from "mongodb";
import { findMongod } from "../../src/embedded/find-mongod.ts";
import { mongodOn } from "../../src/embedded/mongod.ts";
import { isListening } from "../../src/embedded/port.ts";
import { REPLICA_SET, asMember } from "../../src/embedded/replica-set.ts";
import { keptSecret } from "../../src/embedded/secrets.ts";
import type { EmbeddedOptions, EmbeddedServer, ServerKind } from "../../src/embedded/server.ts";
import { startServer } from "../../src/embedded/server.ts";
import { until } from "../../src/embedded/wait.ts";
import { bothUris } from "./administrator.ts";
import type { DatabaseUris } from "./database.ts";
import { atHosts } from "./database.ts";
import { testCacheDir } from "./global-setup.ts";

/** A replica set that a test may hurt. */
export interface OwnMongod extends DatabaseUris {
  /** As they run now: a member that was revived is another process. */
  readonly members: readonly EmbeddedServer[];
  /** Starts the members again that were killed, on their ports and their data; resolves when they follow. */
  revive(): Promise<void>;
  /** Ends every member and removes its data. */
  stop(): Promise<void>;
}

/** What mongod is to do to commands that it is sent: `failCommand` of its fail points. */
export interface CommandFault {
  readonly failCommands: readonly string[];
  readonly [option: string]: unknown;
}

/** The embedded mongod, which requires credentials, with so much memory and with commands that only tests need. */
async function mongodWith(gigabytes: number, dataDir: string): Promise<ServerKind> {
  const mongod = withCache(await mongodOn(dataDir), gigabytes);
  const parameters = ["--setParameter", "enableTestCommands=1", "--setParameter", "ttlMonitorSleepSecs=1"];
  return { ...mongod, arguments: (...place) => [...mongod.arguments(...place), ...parameters] };
}

/** A mongod with another cache. */
export function withCache(mongod: ServerKind, gigabytes: number): ServerKind {
  return {
    ...mongod,
    arguments(...place) {
      const all = mongod.arguments(...place);
      return all.map((value, at) => (all[at - 1] === "--wiredTigerCacheSizeGB" ? gigabytes.toFixed(2) : value));
    },
  };
}

/** Starts a replica set of one. */
export async function startOwnMongod(): Promise<OwnMongod> {
  const dataDir = mkdtempSync(join(tmpdir(), "records-mongod-"));
  const options = optionsIn(dataDir);
  const mongod = await startServer(await mongodWith(0.5, dataDir), await findMongod(options), options);
  return {
    ...(await bothUris(mongod.uri, dataDir)),
    members: [mongod],
    revive: () => Promise.resolve(),
    async stop() {
      await mongod.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a replica set of three; a new primary is elected within about 2 seconds. `through` returns the addresses under
 * which the members know each other and clients know them, of proxies for one, in place of their own.
 */
export async function startThreeMongods(
  through: (hosts: readonly string[]) => Promise<string[]> = async (hosts) => [...hosts],
): Promise<OwnMongod> {
  const dataDir = mkdtempSync(join(tmpdir(), "records-mongods-"));
  const ready: ServerKind["ready"] = (port, _pid, signal) => until(() => isListening(port), signal);
  const program = await findMongod(optionsIn(dataDir));
  const kind = { ...(await mongodWith(0.25, dataDir)), ready };
  const start = (at: number, port?: number): Promise<EmbeddedServer> =>
    startServer(
      kind,
      program,
      optionsIn(join(dataDir, String(at))),
      port === undefined ? undefined : () => Promise.resolve(port),
    );
  const members = await Promise.all([start(0), start(1), start(2)]);
  const hosts = await through(members.map(({ uri }) => new URL(uri).host));
  const key = await keptSecret(dataDir, "mongodb-key");
  await initiate(hosts, key);
  return {
    ...(await bothUris(atHosts(members[0].uri, hosts.join(",")), dataDir)),
    members,
    async revive() {
      for (const [at, { uri }] of members.entries()) {
        const port = Number(new URL(uri).port);
        if (!(await isListening(port))) members[at] = await start(at, port);
      }
      await settled(hosts, key);
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Runs the work while the fault is in force, and takes it out again. */
export async function withFault<T>(
  { administratorUri: uri }: DatabaseUris,
  mode: Document | "alwaysOn",
  data: CommandFault,
  work: () => Promise<T>,
): Promise<T> {
  const client = await MongoClient.connect(uri);
  try {
    await client.db("admin").command({ configureFailPoint: "failCommand", mode, data });
    return await work();
  } finally {
    await client.db("admin").command({ configureFailPoint: "failCommand", mode: "off" });
    await client.close();
  }
}

async function initiate(hosts: readonly string[], key: string): Promise<void> {
  const client = new MongoClient(`mongodb://${hosts[0] ?? ""}/?directConnection=true`, asMember(key));
  try {
    const admin = client.db("admin");
    const members = hosts.map((host, _id) => ({ _id, host }));
    const settings = { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 };
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members, settings } });
  } finally {
    await client.close();
  }
  await settled(hosts, key);
}

/** Resolves when there is a primary and every other member follows it. */
async function settled(hosts: readonly string[], key: string): Promise<void> {
  const client = new MongoClient(`mongodb://${hosts[0] ?? ""}/?directConnection=true`, asMember(key));
  try {
    await until(async () => {
      const status = await client
        .db("admin")
        .command({ replSetGetStatus: 1 })
        .catch(() => ({ members: [] }));
      const states = (status["members"] as { stateStr: string }[]).map(({ stateStr }) => stateStr);
      return states.includes("PRIMARY") && states.every((state) => state === "PRIMARY" || state === "SECONDARY");
    }, AbortSignal.timeout(60_000));
  } finally {
    await client.close();
  }
}

function optionsIn(dataDir: string): EmbeddedOptions {
  return { dataDir, cacheDir: testCacheDir(), env: process.env, progress: () => undefined };
}
