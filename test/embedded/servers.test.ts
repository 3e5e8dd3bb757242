// The embedded servers as their clients see them: ready when started, on free ports, with their data kept.
import { once } from "node:events";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { findRedis } from "../../src/embedded/find-redis.ts";
import { startMongod } from "../../src/embedded/mongod.ts";
import { freePort } from "../../src/embedded/port.ts";
import type { Program } from "../../src/embedded/program.ts";
import { redisOn, startRedis } from "../../src/embedded/redis.ts";
import { startServer, type EmbeddedServer } from "../../src/embedded/server.ts";
import { addProgram, nothingRuns, optionsFor, running, temporaryFolder } from "./machine.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Stops the server after the test, even if the test fails before it does. */
function ending(server: EmbeddedServer): EmbeddedServer {
  onTestFinished(() => server.stop());
  return server;
}

/** Inserts a document in a transaction; all that are stored then. */
async function insertInTransaction(uri: string, name: string): Promise<unknown[]> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 2_000 });
  try {
    const names = client.db().collection<{ _id: string }>("names");
    await client.withSession((session) => session.withTransaction(() => names.insertOne({ _id: name }, { session })));
    return await names
      .find()
      .sort({ _id: 1 })
      .map(({ _id }) => _id)
      .toArray();
  } finally {
    await client.close();
  }
}

test("mongod accepts transactions after its start, and its data survives a second start on another port [OPS-09, OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const options = optionsFor(dataDir);
  const first = ending(await startMongod(options));
  expect(first.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(await insertInTransaction(first.uri, "first")).toEqual(["first"]);
  expect((await running(dataDir)).map(({ pid }) => pid)).toContain(first.pid);
  await first.stop();
  expect(await running(dataDir), "after stop()").toEqual([]);
  expect(await readdir(join(dataDir, "processes"))).toEqual([]);

  options.lines.length = 0;
  const began = performance.now();
  const second = ending(await startMongod(options));
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(await insertInTransaction(second.uri, "second")).toEqual(["first", "second"]);
  expect(second.uri).not.toBe(first.uri);
  expect(options.lines).toEqual([]);
  expect((await stat(join(dataDir, "mongodb"))).mode & 0o077).toBe(0);
  await Promise.all([second.stop(), second.stop()]);
  expect(await running(dataDir), "after stop()").toEqual([]);
});

test("a mongod.lock of a killed mongod does not prevent a start, and acknowledged data is kept", async () => {
  const dataDir = await temporaryFolder();
  const first = ending(await startMongod(optionsFor(dataDir)));
  await insertInTransaction(first.uri, "first");
  process.kill(first.pid, "SIGKILL");
  await nothingRuns(dataDir);
  expect((await stat(join(dataDir, "mongodb/mongod.lock"))).size).toBeGreaterThan(0);
  await first.stop();
  const second = ending(await startMongod(optionsFor(dataDir)));
  expect(await insertInTransaction(second.uri, "second")).toEqual(["first", "second"]);
});

test("mongod's complaint about its data is the one line of the error, and nothing stays behind", async () => {
  const dataDir = await temporaryFolder();
  await (await startMongod(optionsFor(dataDir))).stop();
  await writeFile(join(dataDir, "mongodb/WiredTiger.turtle"), "broken");
  await writeFile(join(dataDir, "mongodb/WiredTiger.wt"), "broken");
  const error = (await startMongod(optionsFor(dataDir)).catch((reason: Error) => reason)) as Error;
  expect(error.message).toMatch(/^mongod \d+\.\d+\.\d+ \(.*\) does not start: .*\(log: .*mongod\.log\)$/);
  expect(error.message).not.toMatch(/\n|ended at once/);
  expect(await running(dataDir)).toEqual([]);
  expect(await readdir(join(dataDir, "processes"))).toEqual([]);
});

test("Redis responds after its start, lets a script write after it has read the time, evicts as configured, and persists nothing [OPS-09, OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const server = ending((await startRedis(optionsFor(dataDir))) as EmbeddedServer);
  const client = new Redis(server.uri, { retryStrategy: () => null });
  client.on("error", () => {});
  expect(
    await client.eval(
      "local t = redis.call('TIME'); redis.call('SET', KEYS[1], t[1]); return redis.call('GET', KEYS[1])",
      1,
      "now",
    ),
  ).toMatch(/^\d+$/);
  expect(await client.config("GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "allkeys-lru"]);
  expect(await client.config("GET", "maxmemory")).toEqual(["maxmemory", String(64 * 1024 ** 2)]);
  await client.quit();
  expect((await running(dataDir)).map(({ pid }) => pid)).toContain(server.pid);
  await server.stop();
  expect(await running(dataDir), "after stop()").toEqual([]);
  expect(await readdir(join(dataDir, "redis"))).toEqual([]);
});

test("restarts a server that ends by itself, on its port, until it is stopped; then nothing of it is left [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const options = { ...optionsFor(dataDir), restart: true };
  const server = ending((await startRedis(options)) as EmbeddedServer);
  const { pid, uri } = server;
  process.kill(pid, "SIGTERM");
  await expect.poll(() => server.pid, { timeout: 30_000 }).not.toBe(pid);
  const client = new Redis(uri);
  expect(await client.ping()).toBe("PONG");
  await client.quit();
  process.kill(server.pid, "SIGKILL");
  await expect.poll(() => options.lines).toHaveLength(2);
  await server.stop();
  expect(await running(dataDir)).toEqual([]);
  expect(await readdir(join(dataDir, "processes"))).toEqual([]);
  expect(options.lines).toEqual([
    expect.stringMatching(/^the embedded redis has ended \(.*bye bye.*\): it is started again$/),
    "the embedded redis has ended (SIGKILL): it is started again",
  ]);
});

test("a server whose restart cannot be recorded is ended, and nothing is left after the stop [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const options = { ...optionsFor(dataDir), restart: true };
  const kind = {
    role: "redis",
    folder: "redis",
    arguments: (folder: string) => ["-e", "setInterval(() => undefined, 1_000)", folder],
    ready: () => Promise.resolve(),
    uri: (port: number) => `redis://127.0.0.1:${port}`,
  } as const;
  const server = ending(await startServer(kind, { path: process.execPath, version: "1", source: "test" }, options));
  // A file in place of the folder, as on a full disk: no record can be written or removed.
  await rm(join(dataDir, "processes"), { recursive: true });
  await writeFile(join(dataDir, "processes"), "");
  process.kill(server.pid, "SIGKILL");
  await expect.poll(() => options.lines.length, { timeout: 30_000 }).toBeGreaterThan(2);
  await rm(join(dataDir, "processes"));
  await server.stop().catch(() => undefined);
  expect(await running(dataDir)).toEqual([]);
});

test("a server listens on 127.0.0.1 only", async () => {
  const server = ending((await startRedis(optionsFor(await temporaryFolder()))) as EmbeddedServer);
  const socket = connect(Number(new URL(server.uri).port), "127.0.0.2");
  await expect(once(socket, "connect")).rejects.toThrow("ECONNREFUSED");
});

test("picks another port if another process takes the first, five times at most [OPS-09]", async () => {
  const dataDir = await temporaryFolder();
  const options = optionsFor(dataDir);
  const program = (await findRedis(options)) as Program;
  const somebody = createServer((socket) => void socket.destroy()).listen(0, "127.0.0.1");
  onTestFinished(() => void somebody.close());
  await once(somebody, "listening");
  const taken = (somebody.address() as AddressInfo).port;
  const free = await freePort();
  const ports = [taken, taken, free];
  const redisKind = await redisOn(dataDir);
  const server = ending(await startServer(redisKind, program, options, async () => ports.shift() as number));
  expect(server.shownUri).toBe(`redis://127.0.0.1:${free}`);
  await server.stop();
  let picks = 0;
  const start = startServer(redisKind, program, options, async () => (picks++, taken));
  await expect(start).rejects.toThrow(/^redis \d+\.\d+\.\d+ .* does not start: /);
  expect(picks).toBe(5);
  expect(await running(dataDir)).toEqual([]);
});

test("without a Redis that can be found and started there is none, and a line says so [OPS-19]", async () => {
  const folder = await temporaryFolder();
  const none = { ...optionsFor(folder), cacheDir: join(folder, "cache"), env: { PATH: "" } };
  expect(await startRedis(none)).toBeUndefined();
  expect(none.lines).toEqual([
    expect.stringMatching(
      /^No Redis: neither redis-server nor valkey-server is on PATH; .*\. Install redis-server, or set REDIS_URL\.$/,
    ),
  ]);

  const script = `[ "$1" = --version ] && echo "Redis server v=7.0.0" || { echo "no memory left" >&2; exit 1; }`;
  await addProgram(join(folder, "bin"), "redis-server", script);
  const broken = { ...optionsFor(folder), env: { PATH: join(folder, "bin") } };
  expect(await startRedis(broken)).toBeUndefined();
  expect(broken.lines).toEqual([
    expect.stringMatching(/^No Redis: redis 7\.0\.0 \(PATH .*\) does not start: no memory left \(log: .*redis\.log\)$/),
  ]);
});
