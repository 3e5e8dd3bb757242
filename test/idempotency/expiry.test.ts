// The 24 hours of a key, by the database's clock, whatever an instance's clock, Redis or the monitor of old claims
// does.
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { RestResponse, TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { ageClaim, recordsOf } from "../fixtures/records/stored.ts";

const hour = 3_600_000;
let service: TestService;
let redis: Redis;

beforeAll(async () => {
  service = await startService();
  redis = new Redis(service.redis.uri);
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(async () => {
  redis.disconnect();
  await service.stop();
});

function create(account: TestAccount, full_name: string): Promise<RestResponse> {
  return service.rest("/v1/contacts", { key: account.key, body: { full_name }, headers: { "Idempotency-Key": "k" } });
}

/** Dates the claim back by this much, and removes what Redis has of it. */
async function age(account: TestAccount, ms: number): Promise<void> {
  await ageClaim(service.app.client, account, "k", ms);
  await redis.flushall();
}

test("replays the first response and rejects another request for up to 24 hours [IDM-05]", async () => {
  const account = await service.account();
  const made = await create(account, "Ana");
  await age(account, 24 * hour - 5_000);
  expect((await create(account, "Ana")).text).toBe(made.text);
  await redis.flushall();
  expect((await create(account, "Bea")).status).toBe(409);
  expect(await recordsOf(service.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test.each(["Ana", "Bea"])(
  "after 24 hours the key is free for %s, although its old claim is still stored, and counts for another 24 hours [IDM-05]",
  async (name) => {
    const account = await service.account();
    const made = await create(account, "Ana");
    await age(account, 24 * hour + 1_000);
    expect((await recordsOf(service.app.client, account)).claims).toBe(1);
    const anew = await create(account, name);
    expect([anew.status, anew.body.data.full_name, anew.headers.has("idempotent-replayed")]).toEqual([
      201,
      name,
      false,
    ]);
    expect(anew.body.data.id).not.toBe(made.body.data.id);
    await age(account, 24 * hour - 5_000);
    expect((await create(account, name)).text).toBe(anew.text);
    expect(await recordsOf(service.app.client, account)).toEqual({ contacts: 2, notes: 0, claims: 1 });
  },
);

test("twenty concurrent requests with a key that has just expired write one more contact [IDM-05, IDM-16]", async () => {
  const account = await service.account();
  await create(account, "Ana");
  await age(account, 24 * hour + 1_000);
  const responses = await Promise.all(Array.from({ length: 20 }, () => create(account, "Ana")));
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(await recordsOf(service.app.client, account)).toEqual({ contacts: 2, notes: 0, claims: 1 });
});

test("a replay shortly before the end does not extend the 24 hours of the key [IDM-05]", async () => {
  const account = await service.account();
  const made = await create(account, "Ana");
  await age(account, 24 * hour - 1_500);
  expect((await create(account, "Ana")).text).toBe(made.text);
  await new Promise((resolve) => setTimeout(resolve, 1_600));
  expect((await create(account, "Ana")).body.data.id).not.toBe(made.body.data.id);
});

test.each([-30, 30])("an instance whose clock is %i hours off follows the database's clock [IDM-05]", async (hours) => {
  const account = await service.account();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * hour });
  const made = await create(account, "Ana");
  vi.useRealTimers();
  const [claim] = await service.app.client
    .db()
    .collection("idempotency")
    .find({ "_id.key": "k" })
    .sort({ created_at: -1 })
    .limit(1)
    .toArray();
  expect(Math.abs(Date.now() - (claim?.["created_at"] as Date).getTime())).toBeLessThan(60_000);
  await redis.flushall();
  expect((await create(account, "Ana")).text).toBe(made.text);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * hour });
  await redis.flushall();
  expect((await create(account, "Ana")).text).toBe(made.text);
});
