// The fast path in Redis: what is kept of a response and for how long, and what is not taken for one.
import { hash, randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { StoredClaim } from "../../src/guards/reservations.ts";
import { createReservations, erasedMark, redisKeyOf, responseMs } from "../../src/guards/reservations.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

let redis: EmbeddedServer;
let link: RedisLink;
let inRedis: Redis;
beforeAll(async () => {
  redis = await startOwnRedis();
  link = connectRedis(redis.uri, () => undefined, { commandTimeoutMs: 10_000 });
  inRedis = new Redis(redis.uri);
  await link.firstReady;
});
afterAll(async () => {
  link.close();
  inRedis.disconnect();
  await redis.stop();
});

const claim: StoredClaim = { fingerprint: Buffer.from("f"), message: Buffer.from("m"), body: "{}" };

/** Reserves a name and ends the reservation with this claim; the name. */
async function released(stored: StoredClaim | undefined): Promise<string> {
  const name = randomUUID();
  const held = await createReservations(link).reserve(name, "holder");
  if (held.kind !== "reserved") throw new Error("the key is not free");
  held.release(stored);
  // The commands of a connection keep their order.
  await link.attempt(redisKeyOf(name), ({ run }) => run("return 1"));
  return name;
}

const reserve = (name: string) => createReservations(link).reserve(name, "another");

test("a response is kept for an hour, and no longer than its key is valid [IDM-19]", async () => {
  const name = await released({ ...claim, leftMs: 2 * responseMs });
  expect(await reserve(name)).toEqual({ kind: "completed", claim });
  const leftMs = await inRedis.pttl(redisKeyOf(name));
  expect(leftMs).toBeLessThanOrEqual(responseMs);
  expect(leftMs).toBeGreaterThan(responseMs - 60_000);
  const ending = await released({ ...claim, leftMs: 60_000.9 });
  expect(await reserve(ending)).toEqual({ kind: "completed", claim });
  expect(await inRedis.pttl(redisKeyOf(ending))).toBeLessThanOrEqual(60_000);
});

test.each([
  ["has no time left", { ...claim, leftMs: 0.9 }],
  ["has expired", { ...claim, leftMs: -1 }],
  ["is erased", { ...claim, erased: true }],
])("a response that %s is not kept, and its name is free at once", async (_, stored) => {
  expect(await inRedis.exists(redisKeyOf(await released(stored)))).toBe(0);
});

test("a reservation without a response frees its name at once, and no name that another holds", async () => {
  expect(await inRedis.exists(redisKeyOf(await released(undefined)))).toBe(0);
  const name = randomUUID();
  const held = await createReservations(link).reserve(name, "holder");
  expect(await reserve(name)).toEqual({ kind: "in flight" });
  // It soon expires if its holder has ended.
  expect(await inRedis.pttl(redisKeyOf(name))).toBeLessThanOrEqual(1_000);
  await inRedis.set(redisKeyOf(name), "pending another");
  if (held.kind === "reserved") held.release();
  await link.attempt(redisKeyOf(name), ({ run }) => run("return 1"));
  expect(await inRedis.get(redisKeyOf(name))).toBe("pending another");
});

test("the mark of an erased response is not replaced by the response", async () => {
  const name = randomUUID();
  const held = await createReservations(link).reserve(name, "holder");
  await inRedis.set(redisKeyOf(name), erasedMark);
  if (held.kind === "reserved") held.release(claim);
  await link.attempt(redisKeyOf(name), ({ run }) => run("return 1"));
  expect(await inRedis.get(redisKeyOf(name))).toBe(erasedMark);
});

test("what no instance has stored is not taken for a response: MongoDB decides [IDM-19]", async () => {
  const stored = JSON.parse((await inRedis.get(redisKeyOf(await released(claim)))) ?? "") as string[];
  const [fingerprint = "", message = "", body = "", checksum = ""] = stored;
  for (const value of [
    "no JSON",
    "null",
    "7",
    "{}",
    "[]",
    erasedMark,
    JSON.stringify([fingerprint, message, body]),
    JSON.stringify([fingerprint, message, "{ }", checksum]),
    JSON.stringify([message, fingerprint, body, checksum]),
    JSON.stringify([7, message, body, checksum]),
    JSON.stringify([fingerprint, 7, body, checksum]),
    JSON.stringify([fingerprint, message, 7, checksum]),
    ...[
      [7, message, body],
      [fingerprint, 7, body],
      [fingerprint, message, 7],
    ].map((parts) => JSON.stringify([...parts, hash("sha256", JSON.stringify(parts), "base64")])),
  ]) {
    const name = randomUUID();
    await inRedis.set(redisKeyOf(name), value);
    expect([value, (await reserve(name)).kind]).toEqual([value, "unknown"]);
  }
  const name = randomUUID();
  await inRedis.set(redisKeyOf(name), JSON.stringify(stored));
  expect(await reserve(name)).toEqual({ kind: "completed", claim });
});

test("stores a response in a form that instances of the next and the previous release read", async () => {
  const stored = await inRedis.get(redisKeyOf(await released(claim)));
  expect(stored).toBe('["Zg==","bQ==","{}","2Cq+fTCZWFoXIl5MM+Q6HJ3muFMV0olnW97KEPhFadQ="]');
});

test("a request goes to MongoDB without a reservation if there is no Redis, or none that responds [IDM-23]", async () => {
  const silent: RedisLink = { ...link, attempt: () => Promise.resolve(undefined) };
  for (const redisLink of [undefined, silent])
    expect((await createReservations(redisLink).reserve(randomUUID(), "holder")).kind).toBe("unknown");
});
