// The long drill of exactly once: instances and primaries are killed under a stream of writes, then the database is judged.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { startRedis } from "../src/embedded/redis.ts";
import { createServices } from "../src/services.ts";
import type { ChildInstance } from "../test/faults/child.ts";
import { startChild } from "../test/faults/child.ts";
import { judge, runStream } from "../test/faults/stream.ts";
import { testCacheDir } from "../test/support/global-setup.ts";
import { startThreeMongods } from "../test/support/own-mongod.ts";

const usage = `npm run drill -- [--seconds 120] [--clients 4] [--instances 3]
  [--instance-kills 20] [--primary-kills 4] [--primary-freezes 2] [--stepdowns 4] [--redis-flushes 20] [--redis-freezes 4]
Faults are spread over the time in a random order. Ends with 1 when an acknowledged write is lost or a write happened twice.`;

const faults = {
  "instance-kills": killInstance,
  "primary-kills": killPrimary,
  "primary-freezes": freezePrimary,
  stepdowns: stepDown,
  "redis-flushes": () => redisClient.flushall(),
  "redis-freezes": freezeRedis,
};
type Fault = keyof typeof faults;

const { values } = parseArgs({
  options: {
    ...{ help: { type: "boolean", default: false }, seconds: { type: "string", default: "120" }, clients: { type: "string", default: "4" } },
    ...{ instances: { type: "string", default: "3" }, "instance-kills": { type: "string", default: "20" }, "primary-kills": { type: "string", default: "4" } },
    ...{ "primary-freezes": { type: "string", default: "2" }, stepdowns: { type: "string", default: "4" } },
    ...{ "redis-flushes": { type: "string", default: "20" }, "redis-freezes": { type: "string", default: "4" } },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}

console.log("Starting three mongods, Redis and the instances …");
const folder = mkdtempSync(join(tmpdir(), "records-drill-"));
const redis = await startRedis({ dataDir: folder, cacheDir: testCacheDir(), env: process.env, progress: console.log });
if (redis === undefined) throw new Error("no redis-server for the drill");
const { uri: redisUrl, pid: redisPid } = redis;
const redisClient = new Redis(redisUrl);
redisClient.on("error", () => undefined);
const mongod = await startThreeMongods();
const client = await MongoClient.connect(mongod.uri);
const instances: ChildInstance[] = await Promise.all(Array.from({ length: count("instances") }, () => startChild(mongod.uri, redisUrl)));
const done = new Map<Fault, number>();

let verdict: Awaited<ReturnType<typeof judge>>;
try {
  const { accounts, apiKeys } = createServices(client);
  const account = await accounts.create("drill@example.com", true);
  const { secret } = await apiKeys.create(account._id, "read_write");
  const started = performance.now();
  const result = await runStream({ bases: () => instances.map(({ base }) => base), key: secret, clients: count("clients"), during: run() });
  const seconds = (performance.now() - started) / 1_000;
  await mongod.revive();
  verdict = await judge(client, account._id.toHexString(), result.acknowledged);
  console.log(`\n${result.acknowledged.length} writes acknowledged in ${seconds.toFixed(0)} s, ${result.retries} retries, ${result.replays} replays; longest pause ${(result.longestPauseMs / 1_000).toFixed(1)} s`);
  console.log(`faults: ${[...done].map(([fault, times]) => `${times} ${fault}`).join(", ")}`);
  console.log(`lost ${verdict.lost}, doubled ${verdict.doubled}, unasked ${verdict.unasked}`);
} finally {
  await Promise.all(instances.map((instance) => instance.kill()));
  redisClient.disconnect();
  await client.close();
  await Promise.all([mongod.stop(), redis.stop()]);
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = verdict.lost + verdict.doubled + verdict.unasked === 0 ? 0 : 1;

/** The faults, spread over the time. */
async function run(): Promise<void> {
  const plan = (Object.keys(faults) as Fault[]).flatMap((fault) => Array.from({ length: count(fault) }, () => fault));
  const order = plan.map((fault) => ({ fault, at: Math.random() })).sort((a, b) => a.at - b.at);
  const started = performance.now();
  const everyMs = (count("seconds") * 1_000) / (order.length + 1);
  for (const [at, { fault }] of order.entries()) {
    await sleep(Math.max(0, started + (at + 1) * everyMs - performance.now()));
    console.log(`${((performance.now() - started) / 1_000).toFixed(1)} s  ${fault}`);
    await faults[fault]();
    done.set(fault, (done.get(fault) ?? 0) + 1);
  }
  await sleep(Math.max(0, started + count("seconds") * 1_000 - performance.now()));
}

/** SIGKILL to one instance; another takes its place. */
async function killInstance(): Promise<void> {
  const at = Math.floor(Math.random() * instances.length);
  await instances[at]?.kill();
  instances[at] = await startChild(mongod.uri, redisUrl);
}

async function killPrimary(): Promise<void> {
  process.kill(await primaryPid(), "SIGKILL");
  await sleep(500);
  await mongod.revive();
}

/** Longer than an election takes: the old primary wakes up deposed. */
async function freezePrimary(): Promise<void> {
  const pid = await primaryPid();
  process.kill(pid, "SIGSTOP");
  await sleep(4_000);
  process.kill(pid, "SIGCONT");
  await mongod.revive();
}

async function stepDown(): Promise<void> {
  await client.db("admin").command({ replSetStepDown: 5, force: true }).catch(() => undefined);
  await mongod.revive();
}

async function freezeRedis(): Promise<void> {
  process.kill(redisPid, "SIGSTOP");
  await sleep(1_000);
  process.kill(redisPid, "SIGCONT");
}

async function primaryPid(): Promise<number> {
  for (;;) {
    const hello = await client.db("admin").command({ hello: 1 }).catch(() => undefined);
    const member = mongod.members.find(({ uri }) => hello?.["isWritablePrimary"] === true && uri.includes(String(hello["me"])));
    if (member !== undefined) return member.pid;
    await sleep(100);
  }
}

function count(name: Exclude<keyof typeof values, "help">): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} must be a whole number, not "${values[name]}"\n${usage}`);
  return number;
}
