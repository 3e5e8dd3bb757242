// The embedded servers require the credentials of the data folder, which are shown nowhere.
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import type { TestContext } from "vitest";
import { expect, test, vi } from "vitest";
import { createDemo } from "../../src/embedded/demo.ts";
import { findMongod } from "../../src/embedded/find-mongod.ts";
import { mongodOn, startMongod } from "../../src/embedded/mongod.ts";
import { isListening } from "../../src/embedded/port.ts";
import { startRedis } from "../../src/embedded/redis.ts";
import { becomePrimary, REPLICA_SET } from "../../src/embedded/replica-set.ts";
import { startServer, type EmbeddedServer, type ServerKind } from "../../src/embedded/server.ts";
import { until } from "../../src/embedded/wait.ts";
import { optionsFor, running, temporaryFolder } from "./machine.ts";

vi.setConfig({ testTimeout: 120_000 });

const secretNames = ["mongodb-key", "mongodb-password", "redis-password"] as const;

async function mongodIn(
  { onTestFinished }: TestContext,
  dataDir: string,
  options = optionsFor(dataDir),
): Promise<EmbeddedServer> {
  const server = await startMongod(options);
  onTestFinished(() => server.stop());
  return server;
}

async function redisIn(
  { onTestFinished }: TestContext,
  dataDir: string,
  options = optionsFor(dataDir),
): Promise<EmbeddedServer> {
  const server = await startRedis(options);
  if (server === undefined) throw new Error("no redis-server for the tests");
  onTestFinished(() => server.stop());
  return server;
}

/** A replica set of one without credentials, like the embedded mongod of earlier releases. */
const plainMongod: ServerKind = {
  role: "mongod",
  folder: "mongodb",
  arguments: (folder, logFile, port) => [
    "--dbpath",
    folder,
    "--logpath",
    logFile,
    "--bind_ip",
    "127.0.0.1",
    "--port",
    String(port),
    "--nounixsocket",
    "--replSet",
    REPLICA_SET,
  ],
  async ready(port, pid, signal) {
    await until(() => isListening(port), signal);
    await becomePrimary(port, pid, signal);
  },
  uri: (port) => `mongodb://127.0.0.1:${port}/records?replicaSet=${REPLICA_SET}`,
};

/** Runs the work as a client with this URI, straight to the server. */
async function asClient<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const direct = uri.replace(/replicaSet=\w+/, "directConnection=true");
  const client = new MongoClient(direct, { serverSelectionTimeoutMS: 2_000 });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

function changed(uri: string, password: string, user = new URL(uri).username): string {
  const url = new URL(uri);
  [url.username, url.password] = [user, password];
  if (user === "") url.searchParams.delete("authSource");
  return url.href;
}

const unauthorized = { codeName: "Unauthorized" };
const failed = { codeName: "AuthenticationFailed" };
const list = (client: MongoClient): Promise<unknown> => client.db().collection("names").find().toArray();

/** Each has servers of its own, which take a second to start. */
test.concurrent("mongod rejects a missing or wrong password, and accepts the one in the data folder [EMB-01]", async (context) => {
  const { uri } = await mongodIn(context, await temporaryFolder(context.onTestFinished));
  await expect(asClient(changed(uri, "", ""), list)).rejects.toMatchObject(unauthorized);
  await expect(asClient(changed(uri, "wrong"), list)).rejects.toMatchObject(failed);
  await expect(asClient(changed(uri, "wrong", "__system"), list)).rejects.toMatchObject(failed);
  expect(await asClient(uri, list)).toEqual([]);
});

test.concurrent("mongod rejects an anonymous createUser, also before the first user exists [EMB-01]", async (context) => {
  const dataDir = await temporaryFolder(context.onTestFinished);
  const options = optionsFor(dataDir);
  const kind = await mongodOn(dataDir);
  const ready: ServerKind["ready"] = (port, _pid, signal) => until(() => isListening(port), signal);
  const server = await startServer({ ...kind, ready }, await findMongod(options), options);
  context.onTestFinished(() => server.stop());
  const user = { createUser: "anyone", pwd: "any", roles: ["root"] };
  const makeUser = (client: MongoClient): Promise<unknown> => client.db("admin").command(user);
  const initiate = (client: MongoClient): Promise<unknown> => client.db("admin").command({ replSetInitiate: {} });
  for (const attempt of [makeUser, initiate]) {
    await expect(asClient(changed(server.uri, "", ""), attempt)).rejects.toMatchObject(unauthorized);
  }
});

test.concurrent("the service's user has the roles in the production guide and no other [EMB-02]", async (context) => {
  const { uri } = await mongodIn(context, await temporaryFolder(context.onTestFinished));
  await asClient(uri, async (client) => {
    const { authInfo } = await client.db("admin").command({ connectionStatus: 1 });
    const roles = authInfo.authenticatedUserRoles as readonly { readonly role: string; readonly db: string }[];
    expect(roles.map(({ role, db }) => `${role} of ${db}`).sort()).toEqual([
      "clusterMonitor of admin",
      "readWrite of records",
    ]);
    await expect(client.db("other").collection("names").insertOne({})).rejects.toMatchObject(unauthorized);
    const user = { createUser: "more", pwd: "more", roles: ["root"] };
    await expect(client.db("admin").command(user)).rejects.toMatchObject(unauthorized);
  });
});

test.concurrent("mongod's log has no slow operations, whose documents are personal data [EMB-05]", async (context) => {
  const folder = await temporaryFolder(context.onTestFinished);
  const { uri } = await mongodIn(context, folder);
  await asClient(uri, async (client) => {
    const names = client.db().collection("names");
    await names.insertOne({ name: "Ann Private" });
    const slowly = { $function: { body: "function () { sleep(300); return true; }", args: [], lang: "js" } };
    expect(await names.find({ name: "Ann Private", $expr: slowly }).toArray()).toHaveLength(1);
  });
  expect(await readFile(join(folder, "mongod.log"), "utf8")).not.toContain("Ann Private");
});

test.concurrent("Redis rejects a missing or wrong password, and accepts the one in the data folder [EMB-01]", async (context) => {
  const { uri } = await redisIn(context, await temporaryFolder(context.onTestFinished));
  const ping = async (url: string): Promise<string> => {
    const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
    client.on("error", () => undefined);
    try {
      return await client.get("none").then(String, (error: Error) => error.message);
    } finally {
      client.disconnect();
    }
  };
  expect(await ping(changed(uri, ""))).toMatch(/^NOAUTH/);
  expect(await ping(changed(uri, "wrong"))).toMatch(/^(WRONGPASS|NOAUTH)/);
  expect(await ping(uri)).toBe("null");
});

test.concurrent("the credentials are random, readable by their owner alone, and the same at every start [EMB-03]", async (context) => {
  const [dataDir, other] = [
    await temporaryFolder(context.onTestFinished),
    await temporaryFolder(context.onTestFinished),
  ];
  const read = (folder: string): Promise<string[]> =>
    Promise.all(secretNames.map((name) => readFile(join(folder, name), "utf8")));
  const start = async (folder: string): Promise<string[]> => {
    const servers = [await mongodIn(context, folder), await redisIn(context, folder)];
    await Promise.all(servers.map((server) => server.stop()));
    return read(folder);
  };
  const first = await start(dataDir);
  for (const secret of first) expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set([...first, ...(await start(other))]).size).toBe(6);
  // A copy of the folder may have these permissions.
  for (const name of secretNames) await chmod(join(dataDir, name), 0o644);
  expect(await start(dataDir)).toEqual(first);
  for (const name of [...secretNames, "redis.conf"]) {
    expect([name, (await stat(join(dataDir, name))).mode & 0o777]).toEqual([name, 0o600]);
  }
});

test.concurrent("replaces lost credentials and keeps the data [EMB-03]", async (context) => {
  const dataDir = await temporaryFolder(context.onTestFinished);
  const before = await mongodIn(context, dataDir);
  await asClient(before.uri, (client) => client.db().collection("names").insertOne({ name: "kept" }));
  await before.stop();
  await rm(join(dataDir, "mongodb-password"));
  // A full disk leaves an empty file.
  await writeFile(join(dataDir, "mongodb-key"), "");
  const after = await mongodIn(context, dataDir);
  expect(new URL(after.uri).password).not.toBe(new URL(before.uri).password);
  expect(await asClient(after.uri, list)).toMatchObject([{ name: "kept" }]);
  const old = new URL(before.uri).password;
  await expect(asClient(changed(after.uri, old), list)).rejects.toMatchObject(failed);
});

test.concurrent("adopts the data of a mongod without credentials, and then requires credentials [EMB-04]", async (context) => {
  const dataDir = await temporaryFolder(context.onTestFinished);
  const options = optionsFor(dataDir);
  const open = await startServer(plainMongod, await findMongod(options), options);
  context.onTestFinished(() => open.stop());
  await asClient(open.uri, async (client) => {
    await client.db().collection("names").createIndex({ name: 1 }, { unique: true });
    await client
      .db()
      .collection("names")
      .insertMany([{ name: "one" }, { name: "two" }]);
  });
  await open.stop();
  const { uri } = await mongodIn(context, dataDir);
  const names = await asClient(uri, (client) => client.db().collection("names").find().sort({ name: 1 }).toArray());
  expect(names).toMatchObject([{ name: "one" }, { name: "two" }]);
  expect(await asClient(uri, (client) => client.db().collection("names").indexes())).toHaveLength(2);
  await expect(asClient(changed(uri, "", ""), list)).rejects.toMatchObject(unauthorized);
});

test.concurrent("demo.json has the full URIs, is readable by its owner alone, and has null for a missing Redis [OPS-05]", async (context) => {
  const dataDir = await temporaryFolder(context.onTestFinished);
  const demo = createDemo(dataDir, "http://localhost:1", [], () => undefined);
  const where = { baseUrl: "http://localhost:2", internalUrl: "http://localhost:3", serviceToken: "token" };
  const [mongodbUri, redisUrl] = ["mongodb://records:secret@127.0.0.1:4/records", "redis://:secret@127.0.0.1:5"];
  const file = join(dataDir, "demo.json");
  const uris = async (): Promise<unknown[]> => {
    const { mongodb_uri, redis_url } = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
    return [mongodb_uri, redis_url, (await stat(file)).mode & 0o777];
  };
  await demo.announce({ ...where, mongodbUri, redisUrl });
  expect(await uris()).toEqual([mongodbUri, redisUrl, 0o600]);
  await chmod(file, 0o644);
  await demo.announce({ ...where, mongodbUri, redisUrl: undefined });
  expect(await uris()).toEqual([mongodbUri, null, 0o600]);
});

test.concurrent("shows no credential in a command line, an environment, a log or a progress line [EMB-05]", async (context) => {
  const dataDir = await temporaryFolder(context.onTestFinished);
  const options = optionsFor(dataDir);
  const servers = [await mongodIn(context, dataDir, options), await redisIn(context, dataDir, options)];
  await expect(asClient(changed(servers[0]?.uri ?? "", "wrong"), list)).rejects.toThrow();
  const secrets = await Promise.all(secretNames.map((name) => readFile(join(dataDir, name), "utf8")));
  const processes = (await running(dataDir)).map(({ pid }) => pid);
  expect(processes).toEqual(expect.arrayContaining(servers.map(({ pid }) => pid)));
  const texts = await Promise.all(
    [
      ...processes.flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`]),
      ...(await readdir(dataDir)).filter((name) => name.endsWith(".log")).map((name) => join(dataDir, name)),
    ].map((file) => readFile(file, "utf8")),
  );
  expect(texts.filter((text) => text !== "").length).toBeGreaterThan(6);
  for (const text of [...texts, ...options.lines, ...servers.map(({ shownUri }) => shownUri)]) {
    for (const secret of secrets) expect(text.includes(secret), text.slice(0, 100)).toBe(false);
  }
});
