import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import type { Arrived } from "../../src/call/dispatch.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Limits } from "../../src/guards/limits.ts";
import { createLimits } from "../../src/guards/limits.ts";
import { addressBucket, createThrottle } from "../../src/guards/throttle.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

let redis: EmbeddedServer;
let link: RedisLink;
let away: RedisLink;
beforeAll(async () => {
  redis = await startOwnRedis();
  // 50 ms are too short on a busy machine.
  link = connectRedis(redis.uri, () => undefined, { commandTimeoutMs: 10_000 });
  away = connectRedis("redis://127.0.0.1:1", () => undefined);
  await link.firstReady;
});
afterAll(async () => {
  link.close();
  away.close();
  await redis.stop();
});

const names = ["throttleFallbacks", "throttledFromMemory", "rejectedLookUps", "overloaded"] as const;
let counts: Record<(typeof names)[number], number>;
beforeEach(() => {
  counts = { throttleFallbacks: 0, throttledFromMemory: 0, rejectedLookUps: 0, overloaded: 0 };
});
afterEach(() => void vi.useRealTimers());

function limitsOver(redisLink: RedisLink | undefined, burst: number, maxInFlight = 1): Limits {
  const counter = (name: (typeof names)[number]) => ({ inc: () => void (counts[name] += 1) });
  // So slow that no token refills during a test.
  return createLimits(redisLink, { rate: 0.001, burst }, maxInFlight, {
    throttleFallbacks: counter("throttleFallbacks"),
    throttledFromMemory: counter("throttledFromMemory"),
    rejectedLookUps: counter("rejectedLookUps"),
    overloaded: counter("overloaded"),
  });
}
const limited = { reason: Reason.RATE_LIMITED };
const at = (address: string) => ({ address });
const arrivedFrom = (address: string): Arrived => ({
  header: () => undefined,
  address: () => address,
  target: () => ({ isMcp: false, bucket: "caller" }),
});

test("counts rejections that need no Redis command, for documents as well [RTE-22]", async () => {
  const { throttle, throttleDocument } = limitsOver(link, 1);
  await throttle("known to be empty");
  for (let turn = 0; turn < 3; turn++) await expect(throttle("known to be empty")).rejects.toMatchObject(limited);
  expect(counts.throttledFromMemory).toBe(3);
  await Promise.allSettled(Array.from({ length: 400 }, () => throttleDocument(at("192.0.2.4"))));
  expect(counts.throttledFromMemory).toBeGreaterThan(3);
});

test("rejects at once, and counts, what would find its bucket empty again [RTE-22]", async () => {
  for (const redisLink of [undefined, link]) {
    const { throttle, shedding } = limitsOver(redisLink, 1);
    const reported: (string | undefined)[] = [];
    const shed = shedding({ presume: () => undefined, onRemembered: (_request, name) => void reported.push(name) });
    const address = redisLink === undefined ? "192.0.2.6" : "192.0.2.7";
    await throttle(addressBucket(address));
    expect(shed(arrivedFrom(address))).toBeUndefined();
    await expect(throttle(addressBucket(address))).rejects.toMatchObject(limited);
    counts.throttledFromMemory = 0;
    expect(shed(arrivedFrom(address))).toMatchObject(limited);
    expect(shed(arrivedFrom("192.0.2.8"))).toBeUndefined();
    expect([reported, counts.throttledFromMemory]).toEqual([[undefined], 1]);
  }
});

test("counts a request that finds no slot in time, and a large body [RTE-22]", async () => {
  const { capacity, sendLarge } = limitsOver(undefined, 1, 2);
  const ends: (() => void)[] = [];
  const held = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
  const never = (): Promise<void> => Promise.reject(new Error("begun"));
  const running = [1, 2].map(() => capacity.run("verified", deadlineIn(60_000), held));
  await expect(capacity.run("verified", deadlineIn(5), never)).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
  expect([capacity.state().slots, counts.overloaded]).toEqual([2, 1]);
  for (let turn = 0; turn < 8; turn++) running.push(sendLarge(held, at(`192.0.2.${turn}`)));
  await expect(
    sendLarge(never, { ...at("192.0.2.9"), limits: { expiresAt: performance.now() + 5 } }),
  ).rejects.toMatchObject({
    reason: Reason.DEADLINE_EXCEEDED,
  });
  expect([ends.length, counts.overloaded]).toEqual([10, 2]);
  for (const end of ends) end();
  await Promise.all(running);
});

test("sends at most two large bodies to a network at a time, also when some have ended [RTE-22]", async () => {
  const { sendLarge } = limitsOver(undefined, 1);
  const ends: (() => void)[] = [];
  const held = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
  const sends = [1, 2, 3, 4].map(() => sendLarge(held, at("192.0.2.1")));
  expect(ends).toHaveLength(2);
  const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  ends[0]?.();
  sends.push(sendLarge(held, at("192.0.2.1")));
  await soon();
  expect(ends).toHaveLength(3);
  await expect(
    sendLarge(held, { ...at("192.0.2.1"), limits: { expiresAt: performance.now() + 20 } }),
  ).rejects.toMatchObject({ reason: Reason.DEADLINE_EXCEEDED });
  expect(ends).toHaveLength(3);
  for (let ended = 1; ended < sends.length; ended++) {
    ends[ended]?.();
    await soon();
  }
  await Promise.all(sends);
});

test("a request that costs more tokens when it is repeated states the wait for those [RTE-03]", async () => {
  const tokens: (number | undefined)[] = [];
  const take = (_name: string, count?: number): Promise<number> => {
    tokens.push(count);
    return Promise.resolve(500);
  };
  const throttle = createThrottle(undefined, { take }, 10, () => undefined);
  await expect(throttle("a", undefined, 1, 31)).rejects.toMatchObject({ retryAfterSeconds: 4 });
  await expect(throttle("a", undefined, 3)).rejects.toMatchObject({ retryAfterSeconds: 1 });
  expect(tokens).toEqual([1, 3]);
});
