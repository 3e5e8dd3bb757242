// A rotation is in force on the next request of every instance, with Redis up, flushed, frozen or down.
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newUser } from "../support/user.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { callRead, rotateUnderLoad } from "./rotations.ts";
import { inForm } from "../support/form.ts";

let service: TestService;
let second: TestService;

beforeAll(async () => {
  service = await startService();
  second = await service.another();
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

async function expectAllInForce(rotations: number, instances = [service, second]): Promise<void> {
  const counts = await rotateUnderLoad(await newUser(service), instances, rotations);
  expect(counts).toMatchObject({ rotations, oldAccepted: 0, newRejected: 0, disturbed: 0 });
  expect(counts.load).toBeGreaterThan(rotations);
}

test("rotations under load on two instances: no old key is accepted after the response, and no new key is rejected [KEY-09, OPS-17]", () =>
  expectAllInForce(inForm(15, 60)));

test("rotations under load accept no old key and reject no new one while Redis is flushed repeatedly [KEY-09]", async () => {
  const redis = new Redis(service.redis.uri);
  const flushing = setInterval(() => void redis.flushall().catch(() => undefined), 2);
  try {
    await expectAllInForce(inForm(6, 20));
  } finally {
    clearInterval(flushing);
    redis.disconnect();
  }
});

test("rotations under load accept no old key and reject no new one while Redis is frozen [KEY-09]", async () => {
  process.kill(service.redis.pid, "SIGSTOP");
  try {
    await expectAllInForce(inForm(6, 20));
  } finally {
    process.kill(service.redis.pid, "SIGCONT");
  }
});

test("rotations under load accept no old key and reject no new one without Redis [KEY-09]", async () => {
  const alone = await service.another({ REDIS_URL: "" });
  try {
    await expectAllInForce(inForm(6, 20), [alone, second]);
  } finally {
    await alone.stop();
  }
});

test("rotations at once all succeed, and only the last key is valid [KEY-09]", async () => {
  const user = await newUser(service);
  await user.call("/v1/api-key", { method: "POST" });
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      user.call("/v1/api-key/rotate", { method: "POST" }, at % 2 === 0 ? service : second),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 201));
  const statuses = await Promise.all(responses.map(({ body }) => callRead(service, body.data.key as string)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
});
