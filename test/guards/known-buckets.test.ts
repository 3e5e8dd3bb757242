// What an instance knows of shared buckets: no failover and no return of Redis gives a caller a second burst.
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { Bucket } from "../../src/guards/bucket.ts";
import type { KnownBuckets } from "../../src/guards/known-buckets.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import type { SharedBucket } from "../../src/guards/shared-bucket.ts";
import { sharedBucket } from "../../src/guards/shared-bucket.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

let redis: EmbeddedServer;
let link: RedisLink;
let admin: Redis;

beforeAll(async () => {
  redis = await startOwnRedis();
  link = connectRedis(redis.uri, () => undefined, { commandTimeoutMs: 10_000 });
  await link.firstReady;
  admin = new Redis(redis.uri);
});
afterAll(async () => {
  link.close();
  admin.disconnect();
  await redis.stop();
});

/** So slow that no token refills during a test. */
const frozen = { rate: 0.001, burst: 20 };

interface Instance {
  readonly bucket: SharedBucket;
  readonly known: KnownBuckets;
}

function instance(size = frozen): Instance {
  const known = createKnownBuckets(size);
  return { known, bucket: sharedBucket(link, size, known) };
}

/** How many of this number of takes succeed. */
async function passedOf(bucket: Bucket, name: string, takes: number): Promise<number> {
  let passed = 0;
  for (let turn = 0; turn < takes; turn++) if ((await bucket.take(name)) === 0) passed += 1;
  return passed;
}

test("after Redis has lost a bucket, or its last takes, an instance that knows the bucket allows no second burst [RTE-03, RTE-13]", async () => {
  const name = randomUUID();
  const { bucket } = instance();
  expect(await passedOf(bucket, name, 5)).toBe(5);
  const older = await admin.hgetall(`throttle:${name}`);
  expect(await passedOf(bucket, name, 9)).toBe(9);
  await admin.hset(`throttle:${name}`, older);
  expect(await passedOf(bucket, name, 3)).toBe(3);
  await admin.del(`throttle:${name}`);
  expect(await passedOf(bucket, name, 20)).toBe(3);
  // Redis knows it now, so other instances do not give it either.
  expect(await passedOf(instance().bucket, name, 5)).toBe(0);
});

test("without an instance's knowledge a lost bucket is full again [RTE-13]", async () => {
  const name = randomUUID();
  expect(await passedOf(instance().bucket, name, 25)).toBe(20);
  await admin.del(`throttle:${name}`);
  expect(await passedOf(instance().bucket, name, 25)).toBe(20);
});

test("an instance's knowledge never takes from a bucket that another instance uses too [RTE-08]", async () => {
  const name = randomUUID();
  const size = { rate: 1_000, burst: 3_000 };
  const instances = [instance(size), instance(size)];
  const state = async (): Promise<readonly number[]> =>
    (await admin.hmget(`throttle:${name}`, "tokens", "at")).map(Number);
  for (let turn = 0; turn < 200; turn++) {
    const [before = size.burst, at] = turn === 0 ? [] : await state();
    expect(await instances[turn % 2]?.bucket.take(name)).toBe(0);
    const [after = 0, now = 0] = await state();
    const due = Math.min(size.burst, before + now - (at ?? now)) - 1;
    // Redis keeps the time to a tenth of a millisecond, in which a tenth of a token comes back.
    expect(Math.abs(after - due)).toBeLessThan(0.2);
  }
});

test("while Redis is unavailable an instance continues with the tokens that it knows, and its takes count afterwards [RTE-13]", async () => {
  const name = randomUUID();
  const { bucket, known } = instance();
  expect(await passedOf(bucket, name, 12)).toBe(12);
  expect(await passedOf(known, name, 5)).toBe(5);
  expect(await passedOf(bucket, name, 20)).toBe(3);
  expect(await passedOf(known, name, 20)).toBe(0);
});

test("while Redis is unavailable an instance takes the share that it took before: three keep one limit together [RTE-13]", async () => {
  const name = randomUUID();
  const size = { rate: 0.001, burst: 300 };
  const instances = [instance(size), instance(size), instance(size)];
  for (let turn = 0; turn < 240; turn++) expect(await instances[turn % 3]?.bucket.take(name)).toBe(0);
  const passed = await Promise.all(instances.map(({ known }) => passedOf(known, name, 60)));
  for (const each of passed) expect(Math.abs(each - 20)).toBeLessThanOrEqual(1);
});

test.each([
  ["for a while, an instance takes the whole bucket again", { ours: 1, others: 0 }, 9],
  ["but requests were rejected meanwhile, an instance still leaves them their half", { ours: 0, others: 0 }, 4],
])("if others took half of a bucket, and nothing %s [RTE-13]", async (_case, later, passed) => {
  let now = 0;
  const known = createKnownBuckets({ rate: 10, burst: 20 }, () => now);
  const take = ({ ours, others }: { readonly ours: number; readonly others: number }): void => {
    now += (ours + others) * 100;
    known.send("a").learn({ left: 10, at: now }, ours);
  };
  for (let turn = 0; turn < 50; turn++) take({ ours: 1, others: 1 });
  for (let turn = 0; turn < 250; turn++) take(later);
  take({ ours: 1, others: 0 });
  expect(await passedOf(known, "a", 20)).toBe(passed);
});

test("while Redis is unavailable a caller that an instance does not know has a full bucket there [RTE-13]", async () => {
  let now = 0;
  const known = createKnownBuckets({ rate: 10, burst: 20 }, () => now);
  expect(await passedOf(known, "a", 30)).toBe(20);
  now = 1_000;
  expect(await passedOf(known, "a", 30)).toBe(10);
});

test("an instance that took nothing from a bucket allows a request once the bucket is full, and not before [RTE-13]", async () => {
  let now = 0;
  const known = createKnownBuckets({ rate: 10, burst: 20 }, () => now);
  known.send("a").learn({ left: 0, at: 0 }, 0);
  expect(await known.take("a")).toBe(2_000);
  now = 2_000;
  expect([await known.take("a"), await known.take("a")]).toEqual([0, 2_000]);
});

test("a new master whose clock is ahead allows no second burst [RTE-03, RTE-13]", async () => {
  const name = randomUUID();
  const { bucket } = instance();
  expect(await passedOf(bucket, name, 20)).toBe(20);
  // As a clock that is an hour ahead sees it, at a rate that fills the bucket in less.
  await admin.hset(`throttle:${name}`, { tokens: "20", at: "0" });
  expect(await passedOf(bucket, name, 20)).toBe(0);
});

test("a late reply does not give back tokens that the instance took meanwhile [RTE-13]", async () => {
  let now = 0;
  const timed = createKnownBuckets(frozen, () => now);
  const sent = timed.send("a");
  now = 60;
  expect(await passedOf(timed, "a", 30)).toBe(20);
  now = 200;
  sent.learn({ left: 19, at: 60 }, 1);
  expect(timed.wait("a", 1)).toBeGreaterThan(0);
  // The reply to a later command counts.
  now = 300;
  timed.send("a").learn({ left: 5, at: 260 }, 1);
  expect(timed.wait("a", 5)).toBe(0);
});

test("requests that wait for Redis keep their tokens, whatever is rejected behind them [RTE-13]", async () => {
  const { bucket } = instance();
  const name = "underway";
  const waits = (): number[] => [bucket.wait(name, 5), Math.min(1, bucket.wait(name, 6))];
  const takes = Promise.all(Array.from({ length: 15 }, () => bucket.take(name)));
  expect(waits()).toEqual([0, 1]);
  await takes;
  expect(waits()).toEqual([0, 1]);
});

test("a wait counts from the reply, since Redis may have run the take as late as that [RTE-03]", () => {
  let now = 0;
  const known = createKnownBuckets({ rate: 10, burst: 20 }, () => now);
  const sent = known.send("a");
  now = 40;
  sent.learn({ left: 0, at: 39 }, 1);
  expect(known.wait("a", 1)).toBe(100);
  now = 90;
  expect(known.wait("a", 1)).toBe(50);
  // A debit keeps it so: at 130, there is one token less.
  known.debit("a");
  expect(known.wait("a", 1)).toBe(150);
  known.giveBack("a");
  // If Redis ran the take at once, there is a token now.
  now = 100;
  expect(known.wait("a", 1)).toBe(0);
});

test("waits and bounds follow the instance's own clock, whatever Redis's clock shows [RTE-03]", () => {
  let now = 5_000;
  const known = createKnownBuckets({ rate: 10, burst: 20 }, () => now);
  known.send("a").learn({ left: 0.5, at: 9_000_000 }, 1);
  expect([known.wait("a", 1), known.wait("a", 2), known.wait("b", 20)]).toEqual([50, 150, 0]);
  // Others take only the tokens that there are.
  expect([known.wait("a", 1, 9), known.wait("b", 1, 19), known.wait("b", 1, 90)]).toEqual([50, 0, 100]);
  now += 50;
  expect(known.wait("a", 1)).toBe(0);
  // The new master's clock is behind.
  known.send("a").learn({ left: 0, at: 1_000 }, 1);
  now += 100;
  expect(known.wait("a", 1)).toBe(0);
  // A take needs up to 50 ms to Redis.
  expect([known.send("a").maxTokens, known.send("b").maxTokens]).toEqual([1.5, undefined]);
});
