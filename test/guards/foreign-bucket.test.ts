// The bucket of the throttle in Redis where its key has a value that it did not write.
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { connectRedis } from "../../src/db/redis.ts";
import { createKnownBuckets } from "../../src/guards/known-buckets.ts";
import { sharedBucket } from "../../src/guards/shared-bucket.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

test("a foreign value in place of a bucket in Redis counts as a full bucket, and is replaced [RTE-13]", async () => {
  const redis = await startOwnRedis();
  // This tests the bucket, not the wait for Redis: 50 ms are too short on a busy machine.
  const link = connectRedis(redis.uri, () => undefined, { commandTimeoutMs: 10_000 });
  const foreign = new Redis(redis.uri);
  onTestFinished(async () => {
    foreign.disconnect();
    link.close();
    await redis.stop();
  });
  await link.firstReady;
  // So slow that no token refills during the test.
  const size = { rate: 0.001, burst: 2 };
  const bucket = sharedBucket(link, size, createKnownBuckets(size));
  const values: readonly ((key: string) => Promise<unknown>)[] = [
    (key) => foreign.set(key, "text"),
    (key) => foreign.lpush(key, "1"),
    ...["nan", "-inf", "-1e300", "text", ""].map(
      (text) => (key: string) => foreign.hset(key, "tokens", text, "at", "1e99"),
    ),
    (key) => foreign.hset(key, "tokens", "1", "at", "nan"),
  ];
  for (const [at, put] of values.entries()) {
    await put(`throttle:foreign${at}`);
    const waits = [];
    for (let take = 0; take < 3; take++) waits.push((await bucket.take(`foreign${at}`)) === 0);
    expect([at, waits]).toEqual([at, [true, true, false]]);
  }
});
