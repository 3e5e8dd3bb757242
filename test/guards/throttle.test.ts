// The throttle's buckets as clients meet them: how many requests pass, and which bucket each takes from.
import { setTimeout as sleep } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { newSecret } from "../../src/api-keys/secret.ts";
import { atOnce, expectRejected, expectThrottled, useThrottled } from "./throttled.ts";
import { from } from "../fixtures/service/from.ts";

const { service, tight } = useThrottled();

test("a full bucket allows 20 requests at once, and the next one is 429 [RTE-01, RTE-09]", async () => {
  const { key } = await service().account();
  const { responses, passed, seconds } = await atOnce(40, () => service().rest("/v1/contacts?query=ann", { key }));
  expect(passed).toBeGreaterThanOrEqual(20);
  expect(passed).toBeLessThanOrEqual(21 + Math.ceil(seconds * 10));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 429]));
  for (const response of responses.filter(({ status }) => status === 429)) expectRejected(response);
});

test("a request with a valid key takes from its account's bucket, from any address [RTE-09]", async () => {
  const [one, other] = await Promise.all([tight().account(), tight().account()]);
  await expectThrottled(tight(), "/v1/contacts?query=ann", { key: one.key, headers: from() });
  const { passed } = await atOnce(12, () => tight().rest("/v1/contacts?query=ann", { key: one.key, headers: from() }));
  expect(passed).toBeLessThanOrEqual(3);
  const address = from();
  await expectThrottled(tight(), "/v1/health", { headers: address });
  expect((await tight().rest("/v1/contacts?query=ann", { key: other.key, headers: address })).status).toBe(200);
});

test("a request without a valid key takes from its address's bucket: with none, an unknown or a malformed one [RTE-11]", async () => {
  const address = from();
  const credentials = [
    {},
    { Authorization: `Bearer ${newSecret()}` },
    { Authorization: "Bearer rec_wrong" },
    { Authorization: "Basic eDp5" },
  ];
  const { passed, seconds } = await atOnce(16, (turn) =>
    tight().rest("/v1/contacts?query=ann", {
      headers: { ...address, ...credentials[turn % 4] } as Record<string, string>,
    }),
  );
  expect(passed).toBeLessThanOrEqual(2 + Math.floor(seconds));
  const { passed: elsewhere } = await atOnce(8, () => tight().rest("/v1/health", { headers: from() }));
  expect(elsewhere).toBe(8);
});

test("a revoked key takes from the address's bucket, also where no key is needed [RTE-09, RTE-11]", async () => {
  const { id, key } = await tight().account();
  expect((await tight().rest("/v1/sessions", { key, headers: from() })).status).toBe(200);
  await tight().app.services.apiKeys.revoke(new UUID(id));
  // The instance remembers the key, and looks it up again at the first use after a second.
  await tight().rest("/v1/health", { key, headers: from() });
  await sleep(1_100);
  expect((await tight().rest("/v1/health", { key, headers: from() })).status).toBe(200);
  for (const path of ["/v1/health", "/v1/nothing", "/v1/sessions"])
    expect((await atOnce(8, () => tight().rest(path, { key, headers: from() }))).passed, path).toBe(8);
});

test("a rotated key keeps the bucket of the old one, which the key operations share [RTE-09, RTE-10]", async () => {
  const { id, key } = await tight().account();
  await expectThrottled(tight(), "/v1/health", { key, headers: from() });
  const account = new UUID(id);
  const keys = tight().app.services.apiKeys;
  const began = performance.now();
  let passedInAll = 0;
  // A bucket for each key would let one request through in every round.
  for (let rotation = 0; rotation < 8; rotation++) {
    await keys.revoke(account);
    const { secret } = await keys.create(account, "read_write");
    const { passed } = await atOnce(6, () => tight().rest("/v1/sessions", { key: secret, headers: from() }));
    passedInAll += passed;
  }
  expect(passedInAll).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - began) / 1_000));
});

test("all spellings of an address share a bucket, and so do the addresses of an IPv6 network [RTE-19]", async () => {
  const part = randomBytes(2).toString("hex");
  const spellings = [
    Array.from({ length: 12 }, (_, turn) => `203.0.113.77:${1_000 + turn}`).concat(
      "::ffff:203.0.113.77",
      "[::ffff:cb00:714d]:1",
    ),
    Array.from({ length: 12 }, (_, turn) => `2001:db8:${part}:1::${turn.toString(16)}`).concat(
      `[2001:DB8:${part}:0001:ffff::]:443`,
    ),
  ];
  for (const addresses of spellings) {
    const { passed, seconds } = await atOnce(addresses.length, (turn) =>
      tight().rest("/v1/health", { headers: from(addresses[turn]) }),
    );
    expect(passed).toBeLessThanOrEqual(2 + Math.floor(seconds));
  }
  const { passed } = await atOnce(8, (turn) =>
    tight().rest("/v1/health", { headers: from(`2001:db8:${part}:${turn + 2}::1`) }),
  );
  expect(passed).toBe(8);
});

test("RATE_LIMIT and RATE_BURST set the limits, also a burst below the rate, the headers show them, and TRUST_PROXY=0 ignores X-Forwarded-For [RTE-15, RTE-05, RTE-06, RTE-12]", async () => {
  const other = await service().another({ RATE_LIMIT: "7", RATE_BURST: "3", TRUST_PROXY: "0" });
  try {
    const { key } = await other.account();
    for (let round = 0; round < 2; round++) {
      const { responses, passed, seconds } = await atOnce(15, () => other.rest("/v1/sessions", { key }));
      expect(passed).toBeGreaterThanOrEqual(3);
      expect(passed).toBeLessThanOrEqual(4 + Math.ceil(seconds * 7));
      for (const { headers } of responses) {
        expect(headers.get("RateLimit-Limit")).toBe("7");
        expect(headers.get("RateLimit-Policy")).toBe("7;w=1");
        expect(headers.has("RateLimit-Remaining") || headers.has("RateLimit-Reset")).toBe(false);
      }
      await sleep(1_000);
    }
    // Without a proxy a caller cannot choose its address.
    const { passed, seconds } = await atOnce(15, () => other.rest("/v1/health", { headers: from() }));
    expect(passed).toBeLessThanOrEqual(4 + Math.ceil(seconds * 7));
  } finally {
    await other.stop();
  }
});

test("what Redis keeps of callers expires by itself, and names no key [RTE-08, KEY-03]", async () => {
  const { key } = await service().account();
  await service().rest("/v1/sessions", { key });
  const redis = new Redis(service().redis.uri);
  const names = await redis.keys("*");
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    expect(await redis.pttl(name), name).not.toBe(-1);
    expect(name).not.toContain(key.slice(8));
  }
  redis.disconnect();
});
