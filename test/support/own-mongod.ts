// A mongod of a test's own, of one member or three, whose commands can be made to fail: the shared one is everybody's.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Document } from "mongodb";
import { MongoClient } from "mongodb";
import { findMongod } from "../../src/embedded/find-mongod.ts";
import { isListening } from "../../src/embedded/port.ts";
import { REPLICA_SET, becomePrimary } from "../../src/embedded/replica-set.ts";
import type { EmbeddedOptions, EmbeddedServer, ServerKind } from "../../src/embedded/server.ts";
import { startServer } from "../../src/embedded/server.ts";
import { until } from "../../src/embedded/wait.ts";
import { testCacheDir } from "./global-setup.ts";

/** A replica set that a test may hurt. */
export interface OwnMongod {
  readonly uri: string;
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

function kind(memory: string, ready: ServerKind["ready"]): ServerKind {
  return {
    role: "mongod",
    folder: "mongodb",
    arguments: (folder, logFile, port) => [
      ...["--dbpath", folder, "--logpath", logFile, "--logappend", "--quiet"],
      ...["--bind_ip", "127.0.0.1", "--port", String(port), "--nounixsocket"],
      ...["--replSet", REPLICA_SET, "--oplogSize", "64", "--wiredTigerCacheSizeGB", memory],
      ...["--setParameter", "diagnosticDataCollectionEnabled=false", "--setParameter", "enableTestCommands=1"],
      ...["--setParameter", "ttlMonitorSleepSecs=1"],
    ],
    ready,
    uri: (port) => `mongodb://127.0.0.1:${port}/records?replicaSet=${REPLICA_SET}`,
  };
}

/** A replica set of one without credentials, like the embedded mongod of earlier releases. */
export const plainMongod = kind("0.50", async (port, pid, signal) => {
  await until(() => isListening(port), signal);
  await becomePrimary(port, pid, signal);
});

/** Starts a replica set of one. */
export async function startOwnMongod(): Promise<OwnMongod> {
  const dataDir = mkdtempSync(join(tmpdir(), "records-mongod-"));
  const options = optionsIn(dataDir);
  const mongod = await startServer(plainMongod, await findMongod(options), options);
  return {
    uri: mongod.uri,
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
export async function startThreeMongods(through: (hosts: readonly string[]) => Promise<string[]> = async (hosts) => [...hosts]): Promise<OwnMongod> {
  const dataDir = mkdtempSync(join(tmpdir(), "records-mongods-"));
  const ready: ServerKind["ready"] = (port, _pid, signal) => until(() => isListening(port), signal);
  const program = await findMongod(optionsIn(dataDir));
  const start = (at: number, port?: number): Promise<EmbeddedServer> =>
    startServer(kind("0.25", ready), program, optionsIn(join(dataDir, String(at))), port === undefined ? undefined : () => Promise.resolve(port));
  const members = await Promise.all([0, 1, 2].map((at) => start(at)));
  const hosts = await through(members.map(({ uri }) => new URL(uri).host));
  await initiate(hosts);
  return {
    uri: `mongodb://${hosts.join(",")}/records?replicaSet=${REPLICA_SET}`,
    members,
    async revive() {
      for (const [at, { uri }] of members.entries()) {
        const port = Number(new URL(uri).port);
        if (!(await isListening(port))) members[at] = await start(at, port);
      }
      await settled(hosts);
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Runs the work while the fault is in force, and takes it out again. */
export async function withFault<T>(uri: string, mode: Document | "alwaysOn", data: CommandFault, work: () => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(uri);
  try {
    await client.db("admin").command({ configureFailPoint: "failCommand", mode, data });
    return await work();
  } finally {
    await client.db("admin").command({ configureFailPoint: "failCommand", mode: "off" });
    await client.close();
  }
}

async function initiate(hosts: readonly string[]): Promise<void> {
  const client = new MongoClient(`mongodb://${hosts[0] ?? ""}/?directConnection=true`);
  try {
    const admin = client.db("admin");
    const members = hosts.map((host, _id) => ({ _id, host }));
    const settings = { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 };
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members, settings } });
  } finally {
    await client.close();
  }
  await settled(hosts);
}

/** Resolves when there is a primary and every other member follows it. */
async function settled(hosts: readonly string[]): Promise<void> {
  const client = new MongoClient(`mongodb://${hosts[0] ?? ""}/?directConnection=true`);
  try {
    await until(async () => {
      const status = await client.db("admin").command({ replSetGetStatus: 1 }).catch(() => ({ members: [] }));
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
