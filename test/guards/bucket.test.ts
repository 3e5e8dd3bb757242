// One contract for both buckets of the throttle: the one in Redis and the one of an instance.
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { Bucket, BucketSize } from "../../src/guards/bucket.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import type { SharedBucketOptions } from "../../src/guards/shared-bucket.ts";
import { sharedBucket as bucketIn } from "../../src/guards/shared-bucket.ts";
import { listenToRedis } from "../fixtures/databases/commands.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";
let redis: EmbeddedServer;
/** A client beside the buckets. */
let observer: Redis;
const links: RedisLink[] = [];

beforeAll(async () => {
  redis = await startOwnRedis();
  observer = new Redis(redis.uri);
});
afterAll(async () => {
  observer.disconnect();
  for (const link of links) link.close();
  await redis.stop();
});

async function link(): Promise<RedisLink> {
  // This tests the bucket, not the wait for Redis: 50 ms are too short on a busy machine.
  const opened = connectRedis(redis.uri, () => undefined, { commandTimeoutMs: 10_000 });
  links.push(opened);
  await opened.firstReady;
  return opened;
}

/** The bucket of an instance that knows no bucket yet. */
function sharedBucket(redisLink: RedisLink, size: BucketSize, options?: SharedBucketOptions): Bucket {
  return bucketIn(redisLink, size, createKnownBuckets(size), options);
}

/** How to create a bucket, and to read the clock by which it refills, in milliseconds. */
type Kind = readonly [string, (size: BucketSize) => Bucket | Promise<Bucket>, () => number | Promise<number>];

const kinds: readonly Kind[] = [
  ["the bucket in Redis", async (size) => sharedBucket(await link(), size), redisClock],
  ["the bucket of an instance", createKnownBuckets, () => performance.now()],
];

async function redisClock(): Promise<number> {
  const [seconds, microseconds] = await observer.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}

/** So slow that no token refills during a test. */
const frozen = 0.001;

describe.each(kinds)("%s", (_, create, clock) => {
  test("lets exactly as many requests through at once as it holds [RTE-01]", async () => {
    const bucket = await create({ rate: frozen, burst: 20 });
    const waits = await Promise.all(Array.from({ length: 60 }, () => bucket.take("a")));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(20);
    expect(waits.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0));
  });

  test("is separate for every name [RTE-09, RTE-11]", async () => {
    const bucket = await create({ rate: frozen, burst: 1 });
    expect([await bucket.take("a1"), await bucket.take("b1"), await bucket.take("a2")]).toEqual([0, 0, 0]);
    for (const name of ["a1", "b1", "a2"]) expect(await bucket.take(name)).toBeGreaterThan(0);
  });

  test("refills at its rate: over a second and a half the successful takes follow the clock [RTE-02]", async () => {
    const bucket = await create({ rate: 10, burst: 20 });
    const name = randomUUID();
    // A busy machine may take long over a take, which comes between these two times. A full bucket does not refill.
    const took = async (): Promise<{ begun: number; ended: number; passed: boolean }> => {
      const begun = performance.now();
      const passed = (await bucket.take(name)) === 0;
      return { begun, ended: performance.now(), passed };
    };
    const first = await took();
    let last = first;
    let passed = 1;
    while (last.ended - first.ended < 1_500) {
      await sleep(2);
      last = await took();
      if (last.passed) passed++;
    }
    expect(passed).toBeGreaterThanOrEqual(Math.floor(20 + (last.begun - first.ended) / 100) - 2);
    expect(passed).toBeLessThanOrEqual(Math.ceil(20 + (last.ended - first.begun) / 100) + 1);
  });

  test("returns the wait, after which a take succeeds [RTE-03]", async () => {
    const bucket = await create({ rate: 10, burst: 2 });
    const name = randomUUID();
    for (let turn = 0; turn < 3; turn++) {
      let wait = 0;
      while (wait === 0) wait = await bucket.take(name);
      expect(Number.isInteger(wait)).toBe(true);
      expect(wait).toBeLessThanOrEqual(100);
      // A machine's wall clock, which Redis uses, may be set while the test sleeps; the instance's own clock may not.
      const [end, ownEnd] = [(await clock()) + wait, performance.now() + wait];
      while ((await clock()) < end || performance.now() < ownEnd) await sleep(5);
      expect(await bucket.take(name)).toBe(0);
    }
  });

  test("never holds more than its burst, however long there is no request [RTE-01]", async () => {
    const bucket = await create({ rate: 100, burst: 3 });
    const name = randomUUID();
    await Promise.all(Array.from({ length: 5 }, () => bucket.take(name)));
    await sleep(300);
    const began = performance.now();
    const waits = await Promise.all(Array.from({ length: 40 }, () => bucket.take(name)));
    const passed = waits.filter((wait) => wait === 0).length;
    expect(passed).toBeGreaterThanOrEqual(3);
    expect(passed).toBeLessThanOrEqual(4 + (performance.now() - began) / 10);
  });

  test("takes all of several tokens or none, and returns the wait until there are enough [RTE-25]", async () => {
    const bucket = await create({ rate: 1, burst: 10 });
    const name = randomUUID();
    expect(await bucket.take(name, 8)).toBe(0);
    const wait = await bucket.take(name, 8);
    expect(wait).toBeGreaterThan(3_000);
    expect(wait).toBeLessThanOrEqual(6_000);
    // The remaining tokens are enough for single requests.
    expect([await bucket.take(name), await bucket.take(name)]).toEqual([0, 0]);
    expect(await bucket.take(name, 8)).toBeGreaterThan(wait);
  });

  test("takes no token for a rejection: a client that sends too often does not wait longer [RTE-02]", async () => {
    const bucket = await create({ rate: 5, burst: 1 });
    const name = randomUUID();
    await bucket.take(name);
    for (let turn = 0; turn < 50; turn++) await bucket.take(name);
    expect(await bucket.take(name)).toBeLessThanOrEqual(200);
  });
});

test("two instances take from one bucket in Redis [RTE-08]", async () => {
  const size = { rate: frozen, burst: 20 };
  const instances = [sharedBucket(await link(), size), sharedBucket(await link(), size)];
  const name = randomUUID();
  const waits = await Promise.all(Array.from({ length: 60 }, (_, turn) => (instances[turn % 2] as Bucket).take(name)));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(20);
});

test("requests no more tokens from Redis than the burst, and none until its reported wait is over [RTE-22]", async () => {
  let remembered = 0;
  const opened = await link();
  const bucket = sharedBucket(opened, { rate: frozen, burst: 20 }, { onRemembered: () => (remembered += 1) });
  // Loads the script into Redis.
  await bucket.take("first");
  const monitor = await listenToRedis(redis.uri);
  const waits = await Promise.all(Array.from({ length: 60 }, () => bucket.take("known to be empty")));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(20);
  for (let turn = 0; turn < 40; turn++) waits.push(await bucket.take("known to be empty"));
  for (const wait of waits.slice(20)) expect(wait).toBeGreaterThan(900_000);
  expect(await bucket.take("another")).toBe(0);
  // 20 that pass, one that is rejected, and one for the other name.
  expect(await monitor.stop()).toEqual(Array(22).fill("evalsha"));
  expect(remembered).toBe(79);
});

test("a token that is returned to an instance's bucket can be taken again; a full bucket ignores it [RTE-20]", async () => {
  const bucket = createKnownBuckets({ rate: frozen, burst: 2 });
  expect([await bucket.take("a"), await bucket.take("a")]).toEqual([0, 0]);
  expect(await bucket.take("a")).toBeGreaterThan(0);
  bucket.giveBack("a");
  expect(await bucket.take("a")).toBe(0);
  expect(await bucket.take("a")).toBeGreaterThan(0);
  for (let turn = 0; turn < 5; turn++) bucket.giveBack("a");
  bucket.giveBack("never seen");
  expect([await bucket.take("a"), await bucket.take("a")]).toEqual([0, 0]);
  expect(await bucket.take("a")).toBeGreaterThan(0);
  expect(bucket.count()).toBe(1);
});

test("an instance keeps a bounded number of buckets, and evicts the least recently used [RTE-20]", async () => {
  const bucket = createKnownBuckets({ rate: frozen, burst: 1 });
  for (let turn = 0; turn < 10_000; turn++) await bucket.take(`caller ${turn}`);
  await bucket.take("caller 0");
  await bucket.take("one more");
  expect(bucket.count()).toBe(10_000);
  expect(await bucket.take("caller 0")).toBeGreaterThan(0);
  expect(await bucket.take("caller 1")).toBe(0);
});

test("the bucket in Redis fails if Redis cannot decide, so that the throttle uses its own [RTE-13]", async () => {
  const lost = connectRedis("redis://127.0.0.1:1", () => undefined);
  links.push(lost);
  await expect(sharedBucket(lost, { rate: 10, burst: 20 }).take("a")).rejects.toThrow("Redis");
});

test("the bucket of an instance follows its clock to the token, also after full buckets were dropped [RTE-13, RTE-02]", async () => {
  let now = 0;
  const bucket = createKnownBuckets({ rate: 10, burst: 20 }, () => now);
  const takeAll = async (): Promise<number> => {
    let taken = 0;
    while ((await bucket.take("a")) === 0) taken++;
    return taken;
  };
  expect(await takeAll()).toBe(20);
  expect(await bucket.take("a")).toBe(100);
  now = 99;
  expect(await bucket.take("a")).toBeLessThanOrEqual(2);
  now = 1_050;
  expect(await takeAll()).toBe(10);
  now = 11_000;
  expect(await takeAll()).toBe(20);
  now = 30_000;
  expect(await bucket.take("b")).toBe(0);
  expect(await takeAll()).toBe(20);
});

test("drops every full bucket each ten seconds, also one that has just filled, and no other [RTE-13]", async () => {
  let now = 0;
  const bucket = createKnownBuckets({ rate: 10, burst: 20 }, () => now);
  const takenAt = async (ms: number, name: string): Promise<number> => {
    now = ms;
    await bucket.take(name);
    return bucket.count();
  };
  expect(await takenAt(0, "long full")).toBe(1);
  expect(await takenAt(9_900, "just full")).toBe(2);
  expect(await takenAt(9_999, "not yet full")).toBe(3);
  expect(await takenAt(10_000, "the one that sweeps")).toBe(2);
  expect(await takenAt(19_999, "before the next")).toBe(3);
  expect(await takenAt(20_000, "the next")).toBe(2);
});

test("requests no more tokens from Redis at once than a bucket can hold, and again as soon as one request ends [RTE-22]", async () => {
  const opened = await link();
  const held: (() => void)[] = [];
  const attempt: RedisLink["attempt"] = async (key, command, tally) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return opened.attempt(key, command, tally);
  };
  let remembered = 0;
  // 50 ms at this rate refill 5 tokens.
  const size = { rate: 100, burst: 2 };
  const bucket = sharedBucket({ ...opened, attempt }, size, { onRemembered: () => (remembered += 1) });
  const inFlight = Array.from({ length: 7 }, () => bucket.take("a"));
  expect([await bucket.take("a"), remembered, held.length]).toEqual([10, 1, 7]);
  held.shift()?.();
  expect(await inFlight[0]).toBe(0);
  const next = bucket.take("a");
  expect([await bucket.take("a"), remembered, held.length]).toEqual([10, 2, 7]);
  for (const release of held) release();
  await Promise.all([...inFlight, next]);
});

test("the bucket in Redis fails if Redis rejects its script, and counts no rejection [RTE-13]", async () => {
  let remembered = 0;
  const size = { rate: frozen, burst: 1 };
  const bucket = sharedBucket(await link(), size, { prefix: "broken", onRemembered: () => (remembered += 1) });
  await observer.config("SET", "maxmemory", "1");
  await expect(bucket.take("a")).rejects.toThrow("Redis");
  await observer.config("SET", "maxmemory", "0");
  expect(remembered).toBe(0);
});

test("a foreign value in place of a bucket in Redis counts as a full bucket, and is replaced [RTE-13]", async () => {
  const bucket = sharedBucket(await link(), { rate: frozen, burst: 2 });
  const values: readonly ((key: string) => Promise<unknown>)[] = [
    (key) => observer.set(key, "text"),
    (key) => observer.lpush(key, "1"),
    ...["nan", "-inf", "-1e300", "text", ""].map(
      (text) => (key: string) => observer.hset(key, "tokens", text, "at", "1e99"),
    ),
    (key) => observer.hset(key, "tokens", "1", "at", "nan"),
  ];
  for (const [at, put] of values.entries()) {
    await put(`throttle:foreign${at}`);
    const waits = [];
    for (let take = 0; take < 3; take++) waits.push((await bucket.take(`foreign${at}`)) === 0);
    expect([at, waits]).toEqual([at, [true, true, false]]);
  }
});
