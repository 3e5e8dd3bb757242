// Redis frozen, stopped, restarted or missing: every instance continues with its own bucket, and reports it.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import type { TestContext } from "vitest";
import { expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import type { RestResponse, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

/** Starts the two instances of a test, on a Redis of their own. */
async function start({ onTestFinished }: TestContext): Promise<{ service: TestService; second: TestService }> {
  const service = await startService({ RATE_LIMIT: "1", RATE_BURST: "20" });
  onTestFinished(() => service.stop());
  return { service, second: await service.another() };
}

async function metric(instance: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${instance.internal}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

function burst(instance: TestService, key: string): Promise<RestResponse[]> {
  return Promise.all(Array.from({ length: 40 }, () => instance.rest("/v1/sessions", { key })));
}

/** Of 40 at once the bucket's 20 pass, and those that refilled meanwhile. */
async function expectOwnBucket(instance: TestService, key: string): Promise<void> {
  const began = performance.now();
  const responses = await burst(instance, key);
  const passed = responses.filter(({ status }) => status === 200).length;
  expect(passed).toBeGreaterThanOrEqual(20);
  expect(passed).toBeLessThanOrEqual(21 + Math.ceil((performance.now() - began) / 1_000));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 429]));
  for (const { status, headers } of responses) {
    expect([headers.get("RateLimit-Limit"), headers.get("RateLimit-Policy")]).toEqual(["1", "1;w=1"]);
    expect(headers.has("Retry-After")).toBe(status === 429);
  }
}

async function expectAway(instance: TestService): Promise<void> {
  expect(await metric(instance, "records_throttle_fallback_total")).toBeGreaterThan(0);
  expect(await metric(instance, "records_redis_up")).toBe(0);
  expect(instance.logLines.some((line) => /"level":40/.test(line) && /Redis is unavailable/.test(line))).toBe(true);
  const { status, body } = await read(`${instance.internal}/readyz`);
  expect([status, body]).toEqual([200, { status: "ok", mongodb: true, redis: false }]);
}

async function expectBack(instance: TestService): Promise<void> {
  await until(async () => (await metric(instance, "records_redis_up")) === 1, AbortSignal.timeout(10_000));
  const last = (text: string): number => instance.logLines.findLastIndex((line) => line.includes(text));
  expect(last("Redis responds")).toBeGreaterThan(last("Redis is unavailable"));
  const before = await metric(instance, "records_throttle_fallback_total");
  expect((await instance.rest("/v1/health")).body.data.status).toBe("ok");
  expect(await metric(instance, "records_throttle_fallback_total")).toBe(before);
}

async function read(url: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.json() };
}

test.concurrent("with Redis frozen each instance has its own bucket, reports it, and uses Redis again once it responds [RTE-13, HLT-03, OPS-10, RTE-05]", async (context) => {
  const { service, second } = await start(context);
  const { key } = await service.account();
  for (const instance of [service, second]) await instance.rest("/v1/health");
  process.kill(service.redis.pid, "SIGSTOP");
  try {
    for (const instance of [service, second]) {
      await expectOwnBucket(instance, key);
      await expectAway(instance);
    }
    const other = await service.account();
    expect((await service.rest("/v1/health", { key: other.key })).body).toEqual({
      data: { status: "degraded", version: "1.0.0" },
    });
    expect(
      (
        await service.rest("/v1/contacts", {
          key: other.key,
          body: { full_name: "Ann" },
          headers: { "Idempotency-Key": "frozen" },
        })
      ).status,
    ).toBe(201);
  } finally {
    process.kill(service.redis.pid, "SIGCONT");
  }
  for (const instance of [service, second]) await expectBack(instance);
});

test.concurrent("a Redis that responds but accepts no writes counts as unavailable until it accepts them, without a command for each request [RTE-13, HLT-03]", async (context) => {
  const { service } = await start(context);
  const { key } = await service.account();
  const admin = new Redis(service.redis.uri);
  context.onTestFinished(() => admin.disconnect());
  await service.rest("/v1/health");
  await admin.config("SET", "min-replicas-to-write", "1");
  for (let request = 0; request < 10; request++) {
    await service.rest("/v1/sessions", { key });
    await sleep(100);
  }
  await expectAway(service);
  expect(service.logLines.filter((line) => line.includes("Redis is unavailable")).length).toBe(1);
  await admin.config("SET", "min-replicas-to-write", "0");
  await expectBack(service);
});

test.concurrent("an instance that starts without Redis serves with its own bucket, and reports it [RTE-13, OPS-15, HLT-03]", async (context) => {
  const { service } = await start(context);
  const alone = await service.another({ REDIS_URL: "redis://127.0.0.1:1" });
  try {
    const { key } = await alone.account();
    await expectOwnBucket(alone, key);
    await expectAway(alone);
    const other = await alone.account();
    expect((await alone.rest("/v1/health", { key: other.key })).body.data.status).toBe("degraded");
  } finally {
    await alone.stop();
  }
});
