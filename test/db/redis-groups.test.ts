// Redis as a cluster and as a Sentinel group: commands, iteration and erasure on every master, failovers, moved slots.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { checkRedis } from "../../src/cli/doctor/redis.ts";
import { createClocks } from "../../src/cli/doctor/clocks.ts";
import type { DoctorContext } from "../../src/cli/doctor/doctor-context.ts";
import type { KeyCommands, RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import { sharedBucket } from "../../src/guards/shared-bucket.ts";
import type { OwnRedisCluster } from "../fixtures/databases/own-redis-cluster.ts";
import { startOwnRedisCluster } from "../fixtures/databases/own-redis-cluster.ts";
import type { OwnSentinelGroup } from "../fixtures/databases/own-sentinel-group.ts";
import { startOwnSentinelGroup } from "../fixtures/databases/own-sentinel-group.ts";
import { startService } from "../fixtures/service/service.ts";
import { slotOf } from "../support/one-slot.ts";

const names = Array.from({ length: 60 }, (_, at) => `name ${at}`);
/** Long enough for any machine, except in tests of the time limit itself. */
const patient = { commandTimeoutMs: 10_000 };
const write = (name: string) => (key: KeyCommands) =>
  key.run("redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000) return redis.call('GET', KEYS[1])", name);

async function linkTo(url: string, options = patient): Promise<RedisLink> {
  const link = connectRedis(url, () => undefined, options);
  onTestFinished(() => link.close());
  await link.firstReady;
  await expect.poll(link.ready, { timeout: 10_000 }).toBe(true);
  return link;
}

/** Each name with what was read; all of them where every master takes part. */
async function writeAll(link: RedisLink): Promise<unknown[]> {
  return Promise.all(names.map((name) => link.attempt(name, write(name))));
}

async function expectBack(link: RedisLink): Promise<void> {
  await expect.poll(() => writeAll(link), { timeout: 30_000 }).toEqual(names);
  await expect.poll(link.ready, { timeout: 10_000 }).toBe(true);
}

async function found(link: RedisLink, pattern: string): Promise<string[]> {
  const all: string[] = [];
  for await (const keys of link.keys(pattern, () => Promise.resolve(true))) all.push(...(keys ?? ["away"]));
  return all.sort();
}

/** The doctor's findings on Redis, each as `check: status`. */
async function doctorOn(redisUrl: string): Promise<string[]> {
  const context = { redisUrl, unusable: () => false, clocks: createClocks(Date.now) } as unknown as DoctorContext;
  return (await checkRedis(context)).map(({ check, status }) => `${check}: ${status}`);
}

describe("a cluster", () => {
  let cluster: OwnRedisCluster;
  beforeAll(async () => {
    cluster = await startOwnRedisCluster();
  });
  afterAll(() => cluster.stop());

  test("accepts scripts on every master, also after the masters have dropped them, and has keys on all [RTE-08]", async () => {
    const link = await linkTo(cluster.uri);
    const size = { rate: 0.001, burst: 1 };
    const bucket = sharedBucket(link, size, createKnownBuckets(size));
    const take = () => Promise.all(names.map((name) => bucket.take(name)));
    expect(await take()).toEqual(names.map(() => 0));
    for (const server of cluster.servers) await server.call("SCRIPT", "FLUSH");
    expect((await take()).every((wait) => wait > 0)).toBe(true);
    expect(await writeAll(link)).toEqual(names);
    expect(await found(link, "name *")).toEqual([...names].sort());
    expect(new Set(await Promise.all(names.map((name) => cluster.masterOf(name)))).size).toBe(3);
    for (const name of names) expect(slotOf(name)).toBe(await cluster.slotOf(name));
  });

  test("is unavailable with a frozen master for the keys of that master alone, and is used again once a replica leads [RTE-13]", async () => {
    await cluster.settled();
    const changes: (string | undefined)[] = [];
    const link = connectRedis(cluster.uri, (ready, _error, master) => changes.push(ready ? "back" : master), {
      commandTimeoutMs: 500,
    });
    onTestFinished(() => link.close());
    await link.firstReady;
    await expectBack(link);
    const victim = await cluster.masterOf(names[0] ?? "");
    const here = await Promise.all(names.map(async (name) => (await cluster.masterOf(name)) === victim));
    process.kill(victim.pid, "SIGSTOP");
    try {
      expect(await link.attempt(names[0] ?? "", write("x"))).toBeUndefined();
      expect([link.ready(), changes.includes(`127.0.0.1:${victim.port}`)]).toEqual([false, true]);
      // Nobody waits for the frozen one again.
      expect(
        await link.attempt(names[here.lastIndexOf(true)] ?? "", () => expect.fail("it was asked")),
      ).toBeUndefined();
      await expectBack(link);
    } finally {
      process.kill(victim.pid, "SIGCONT");
    }
    await cluster.settled();
    await expectBack(link);
  });

  test("without a responding server is unavailable, and is used again after its servers start [RTE-13]", async () => {
    const link = await linkTo(cluster.uri);
    await Promise.all(cluster.servers.map((server) => server.kill()));
    await expect.poll(link.ready, { timeout: 10_000 }).toBe(false);
    expect(await found(link, "*")).toEqual(["away"]);
    await Promise.all(cluster.servers.map((server) => server.revive()));
    await cluster.settled();
    await expectBack(link);
  });

  test("loses every trace of a deleted account, and serves a service as one Redis does [ADM-04, OPS-17, HLT-03]", async () => {
    const service = await startService({ REDIS_URL: cluster.uri });
    onTestFinished(() => service.stop());
    const account = await service.account();
    const create = (name: string) =>
      service.rest("/v1/contacts", {
        key: account.key,
        body: { full_name: name },
        headers: { "Idempotency-Key": name.replaceAll(" ", "-") },
      });
    for (const name of names.slice(0, 12)) {
      const { status, text } = await create(name);
      expect(status).toBe(201);
      expect((await create(name)).text).toBe(text);
    }
    expect((await service.rest("/v1/health")).body.data.status).toBe("ok");
    const metrics = await (await fetch(`${service.internal}/metrics`)).text();
    expect(metrics).toMatch(/^records_redis_commands_total\{[^}]*"evalsha"[^}]*\} [1-9]/m);
    const link = await linkTo(cluster.uri);
    await expect.poll(async () => (await found(link, `*${account.id}*`)).length).toBeGreaterThan(11);
    const { body } = await service.internalCall("records.admin.v1.AccountService/DeleteAccount", {
      account_id: account.id,
    });
    expect(body.erased).toBe(true);
    expect(await found(link, `*${account.id}*`)).toEqual([]);
  });

  test("the doctor accepts it, and reports a REDIS_URL with another form, password or address [OPS-04]", async () => {
    await cluster.settled();
    expect(await doctorOn(cluster.uri)).toEqual([
      ...["redis.cluster: ok", "redis.reachable: ok", "redis.version: ok"],
      ...[expect.stringMatching(/^redis\.latency: /), "redis.writable: ok", "redis.memory: note"],
    ]);
    const [one = ""] = cluster.uri.replace("redis+cluster", "redis").split(",");
    expect(await doctorOn(one)).toContain("redis.writable: fault");
    expect(await doctorOn(cluster.uri.replace("records:p", "records:q"))).toEqual(["redis.cluster: fault"]);
    expect(await doctorOn("redis+cluster://127.0.0.1:1")).toEqual(["redis.cluster: fault"]);
  });
});

describe("a Sentinel group", () => {
  let group: OwnSentinelGroup;
  beforeAll(async () => {
    group = await startOwnSentinelGroup();
  });
  afterAll(() => group.stop());

  test("the doctor accepts it, and reports a REDIS_URL with another name or without credentials [OPS-04]", async () => {
    expect((await doctorOn(group.uri)).slice(0, 2)).toEqual(["redis.sentinel: ok", "redis.reachable: ok"]);
    expect(await doctorOn(group.uri.replace("/records/", "/other/"))).toEqual(["redis.sentinel: fault"]);
    expect(await doctorOn(group.uri.replace(/\?.*/, ""))).toEqual(["redis.sentinel: fault"]);
  });

  test("a link follows at once when the Sentinels promote a replica while the old master is healthy [RTE-13, OPS-17]", async () => {
    const link = await linkTo(group.uri);
    await expectBack(link);
    const old = await group.master();
    await group.failOver();
    const master = await group.master();
    await expect
      .poll(
        async () => {
          const token = randomUUID();
          await link.attempt("who", write(token));
          return (await master.call("GET", "who").catch(() => undefined)) === token;
        },
        { timeout: 30_000 },
      )
      .toBe(true);
    // The Sentinels reconfigure it 10 seconds later: until then it takes writes that are lost.
    expect(await old.call("INFO", "replication")).toContain("role:master");
  });
});
