// The form of an API key, what is stored of it, which credentials are rejected without a look-up, and the rights of a key.
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { MongoClient } from "mongodb";
import { beforeAll, expect, test } from "vitest";
import { isSecret, newSecret } from "../../src/api-keys/secret.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { counts } from "../support/client.ts";
import { newOwner, reads, writes } from "../support/every.ts";

const service = useService();
let owner: TestAccount;

beforeAll(async () => {
  owner = await service().account();
});

/** The commands that the work sends to MongoDB. */
async function commandsOf(work: () => Promise<unknown>): Promise<string[]> {
  const { stop } = listenToMongo(service().app.client);
  await work();
  return stop().map(({ label }) => label);
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The checksum as the contract's reader would write it: the CRC32 of what is before it, in base62. */
function checksum(body: string): string {
  let value = crc32(body);
  let text = "";
  for (let place = 0; place < 6; place++) {
    text = base62.charAt(value % 62) + text;
    value = Math.floor(value / 62);
  }
  return text;
}

test("a key is rec_, 43 characters of base62, and 6 of checksum, and is unique [KEY-01]", () => {
  const keys = Array.from({ length: 500 }, () => newSecret());
  for (const key of keys) {
    expect(key).toMatch(/^rec_[0-9A-Za-z]{49}$/);
    expect(key.slice(47)).toBe(checksum(key.slice(0, 47)));
    expect(isSecret(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(500);
  expect(new Set(keys.map((key) => key.charAt(30))).size).toBeGreaterThan(40);
});

test("a change of any one character breaks the checksum [KEY-01, AUT-03]", () => {
  const key = newSecret();
  for (let at = 0; at < key.length; at++) {
    const other = key.charAt(at) === "7" ? "8" : "7";
    expect(isSecret(key.slice(0, at) + other + key.slice(at + 1)), `character ${at}`).toBe(false);
  }
});

test("stores only the SHA-256 of a key and its first 8 characters; the key is nowhere in the database [KEY-03]", async () => {
  const { id, key } = owner;
  await service().rest("/v1/contacts", { key, body: { full_name: "Ann" }, headers: { "Idempotency-Key": "stored" } });
  const client = await MongoClient.connect(service().mongodbUri);
  try {
    const stored = await client
      .db()
      .collection("api_keys")
      .findOne({ prefix: key.slice(0, 8) });
    expect(stored?._id).toMatchObject({ buffer: createHash("sha256").update(key).digest() });
    expect(Object.keys(stored ?? {}).sort()).toEqual([
      "_id",
      "access",
      "account_id",
      "active",
      "created_at",
      "key_id",
      "prefix",
    ]);
    expect(String(stored?.["account_id"])).toBe(id);
    for (const { name } of await client.db().listCollections().toArray()) {
      const dump = JSON.stringify(await client.db().collection(name).find({}).toArray());
      expect(dump.includes(key) || dump.includes(key.slice(8, 47)), name).toBe(false);
    }
  } finally {
    await client.close();
  }
});

test("a key does not expire: one that was created ten years ago and never used is valid [KEY-02]", async () => {
  const { key } = await service().account();
  const client = await MongoClient.connect(service().mongodbUri);
  try {
    const keys = client.db().collection("api_keys");
    const hash = createHash("sha256").update(key).digest();
    const { matchedCount } = await keys.updateOne(
      { _id: hash as never },
      { $set: { created_at: new Date("2016-01-01T00:00:00Z") } },
    );
    expect(matchedCount).toBe(1);
    // Revoked keys expire; this one has no time of revocation.
    const expiring = (await keys.indexes()).filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
    expect(expiring.map(({ key: indexed }) => indexed)).toEqual([{ revoked_at: 1 }]);
    expect(await keys.findOne({ _id: hash as never })).not.toHaveProperty("revoked_at");
  } finally {
    await client.close();
  }
  expect((await service().rest("/v1/sessions", { key })).status).toBe(200);
});

const spoiled = (): string => owner.key.slice(0, -1) + (owner.key.endsWith("0") ? "1" : "0");

test.each([
  ["nothing", () => ({})],
  ["an empty header", () => ({ Authorization: "" })],
  ["another scheme", () => ({ Authorization: `Basic ${owner.key}` })],
  ["the key without a scheme", () => ({ Authorization: owner.key })],
  ["Bearer without a key", () => ({ Authorization: "Bearer" })],
  ["two keys in one header", () => ({ Authorization: `Bearer ${owner.key} ${owner.key}` })],
  ["a comma after the key", () => ({ Authorization: `Bearer ${owner.key},` })],
  ["the key in quotes", () => ({ Authorization: `Bearer "${owner.key}"` })],
  ["another prefix", () => ({ Authorization: `Bearer sk_${owner.key.slice(4)}` })],
  ["a truncated key", () => ({ Authorization: `Bearer ${owner.key.slice(0, -1)}` })],
  ["a key with more behind it", () => ({ Authorization: `Bearer ${owner.key}0` })],
  ["a wrong checksum", () => ({ Authorization: `Bearer ${spoiled()}` })],
  ["the key in lower case", () => ({ Authorization: `Bearer ${owner.key.toLowerCase()}` })],
  ["a letter beyond base62", () => ({ Authorization: `Bearer rec_${"-".repeat(49)}` })],
  ["the service token", () => ({ Authorization: `Bearer ${service().serviceToken}` })],
  ["a token of three parts", () => ({ Authorization: "Bearer eyJhbGciOiJub25lIn0.e30." })],
  ["a cookie", () => ({ Cookie: `session=${owner.key}` })],
  ["another header", () => ({ "X-Api-Key": owner.key })],
] as const)(
  "%s is 401 with WWW-Authenticate: Bearer, without a look-up [AUT-01, AUT-02, AUT-03]",
  async (_, headers) => {
    const commands = await commandsOf(async () => {
      for (const [path, call] of [
        ["/v1/sessions", {}],
        ["/v1/contacts", { body: { full_name: "Ann" } }],
        ["/v1/contacts?query=a", {}],
      ] as const) {
        const response = await service().rest(path, { ...call, headers: headers() as Record<string, string> });
        expect(response.status, path).toBe(401);
        expect(response.headers.get("WWW-Authenticate")).toBe("Bearer");
        expect(response.body.error).toMatchObject({ code: "401", message: expect.stringMatching(/key/i) });
      }
    });
    expect(commands).toEqual([]);
  },
);

test("a key in the query is not a credential [AUT-01]", async () => {
  expect((await service().rest(`/v1/sessions?access_token=${owner.key}&api_key=${owner.key}`)).status).toBe(401);
});

test("a well-formed key that was never issued is 401 after one look-up [AUT-01, AUT-02, AUT-03]", async () => {
  const key = newSecret();
  const commands = await commandsOf(async () => {
    const response = await service().rest("/v1/sessions", { key });
    expect([response.status, response.headers.get("WWW-Authenticate")]).toEqual([401, "Bearer"]);
  });
  expect(commands).toEqual(["find api_keys"]);
});

test.each(["Bearer", "bearer", "BEARER", "bEaReR"])("accepts the scheme as %s [AUT-01]", async (scheme) => {
  expect((await service().rest("/v1/sessions", { headers: { Authorization: `${scheme} ${owner.key}` } })).status).toBe(
    200,
  );
  expect(
    (await service().rest("/v1/sessions", { headers: { Authorization: `${scheme}   ${owner.key}` } })).status,
  ).toBe(200);
});

test("a read-only key reads like any other and writes nothing; a read-write key also writes [AUT-05, CCR-04, CUP-03, CNT-05]", async () => {
  const reader = await newOwner(service(), "read_only");
  const writer = await newOwner(service());
  for (const { path, success } of reads(reader)) expect((await reader.get(path)).status, path).toBe(success);
  const before = await counts(service());
  for (const { path, method, body } of writes(reader)) {
    const response = await service().rest(path, { key: reader.key, method, body });
    expect([response.status, response.body.error], path).toEqual([
      403,
      {
        code: "403",
        message: "Access denied: this API key is read-only. Use a key with write access.",
        reason: "ACCESS_DENIED",
      },
    ]);
  }
  expect(await counts(service())).toEqual(before);
  expect((await reader.get(`/v1/contacts/${reader.contact}`)).body.data.phone).toBeNull();
  for (const { path, method, body, success } of writes(writer))
    expect((await service().rest(path, { key: writer.key, method, body })).status, path).toBe(success);
});
