// Counts the commands to MongoDB and Redis of each request. Every additional command costs time, whatever the size of
// the account.
import { Redis } from "ioredis";
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listenToMongo, listenToRedis } from "../fixtures/databases/commands.ts";
import type { RestCall, TestAccount, TestService } from "../fixtures/service/service.ts";
import { randomId, startService } from "../fixtures/service/service.ts";
import { fill } from "./data.ts";

let service: TestService;
let account: TestAccount;
let redis: Redis;
let contactId: string;
let sessionId: string;

beforeAll(async () => {
  service = await startService();
  redis = new Redis(service.redis.uri);
  account = await service.account();
  const { contactIds, sessionIds } = await fill(service.app.client, account.id, {
    contacts: 300,
    sessions: 300,
    notes: 2_500,
  });
  [contactId, sessionId] = [String(contactIds[0]), String(sessionIds[0])];
  // Caches the key in the instance and the scripts in Redis.
  await service.rest(`/v1/contacts/${contactId}`, { key: account.key });
  await service.rest("/v1/contacts", {
    key: account.key,
    body: { full_name: "Warm" },
    headers: { "Idempotency-Key": "warm" },
  });
});
afterAll(async () => {
  redis.disconnect();
  await service.stop();
});

/** The status of a request and its commands, those of MongoDB with their collections. */
async function costOf(
  path: string,
  call: RestCall = {},
): Promise<{ status: number; mongo: string[]; redis: string[] }> {
  const toRedis = await listenToRedis(service.redis.uri);
  const toMongo = listenToMongo(service.app.client);
  const { status } = await service.rest(path, { key: account.key, ...call });
  // The response is stored for replays after it is sent.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { status, mongo: toMongo.stop().map(({ label }) => label), redis: await toRedis.stop() };
}

/** One command to Redis for the bucket, and the data with the API key from MongoDB. */
const one = (collection: string, times = 1) => ({
  status: 200,
  mongo: Array.from({ length: times }, () => `aggregate ${collection}`),
  redis: ["evalsha"],
});

test.each([
  ["a contact", () => `/v1/contacts/${contactId}`, one("contacts")],
  ["a session", () => `/v1/sessions/${sessionId}`, one("sessions")],
  ["a transcript", () => `/v1/sessions/${sessionId}/transcript`, one("sessions")],
  ["the list of sessions", () => "/v1/sessions", one("sessions")],
  ["a later page of the list of sessions", () => "/v1/sessions?limit=10&offset=100", one("sessions")],
  ["the sessions of a month", () => "/v1/sessions?from=2026-01-01&to=2026-01-31", one("sessions")],
  ["the sessions of a contact", () => `/v1/sessions?contact_id=${contactId}`, one("sessions")],
  [
    "the sessions of a contact with two words",
    () => `/v1/sessions?contact_id=${contactId}&query=every+meet`,
    one("sessions"),
  ],
  ["the sessions with a word", () => "/v1/sessions?query=meet", one("sessions")],
  ["the sessions with two words", () => "/v1/sessions?query=meet+tenth", one("sessions", 2)],
  ["the contacts with a word", () => "/v1/contacts?query=ann", one("contacts")],
  ["the contacts with two words", () => "/v1/contacts?query=ann+tenth", one("contacts", 2)],
  ["the contacts with a phone in three frequent parts", () => "/v1/contacts?query=%2B49+30+1000", one("contacts", 3)],
  [
    "the contacts with a phone in parts, one of them rare",
    () => "/v1/contacts?query=%2B49+30+1000007",
    one("contacts", 2),
  ],
  ["the contacts with two frequent words", () => "/v1/contacts?query=ann+every", one("contacts", 3)],
  ["the notes with a word", () => "/v1/notes?query=budget", one("notes")],
  ["the notes with a one-letter word", () => "/v1/notes?query=b.", one("notes")],
  ["a later page of the notes with a word", () => "/v1/notes?query=budget&limit=10&offset=1000", one("notes")],
  ["the notes with two words", () => "/v1/notes?query=budget+interna", one("notes", 2)],
  [
    "the notes with three words, one of them rare",
    () => "/v1/notes?query=budget+every+internationalisation7",
    one("notes", 4),
  ],
  ["the notes with an unknown word and one common to all", () => "/v1/notes?query=budget+nothing", one("notes")],
])("%s: costs one command to Redis, and the pinned number to MongoDB [SRC-08]", async (_name, path, expected) => {
  expect(await costOf(path())).toEqual(expected);
});

test("a query that cannot match only reads the API key [SRC-08]", async () => {
  const proof = { status: 200, mongo: ["find api_keys"], redis: ["evalsha"] };
  expect(await costOf("/v1/notes?query=%3F%21")).toEqual(proof);
  expect(await costOf("/v1/contacts?query=%3F%21")).toEqual(proof);
  expect(await costOf("/v1/sessions?from=2026-02-01&to=2026-01-01")).toEqual(proof);
});

test("a missing record costs as much as an existing one, and an invalid request costs a look-up of its key [SRC-08]", async () => {
  expect(await costOf(`/v1/contacts/${randomId()}`)).toEqual({ ...one("contacts"), status: 404 });
  expect(await costOf(`/v1/sessions/${randomId()}/transcript`)).toEqual({ ...one("sessions"), status: 404 });
  expect(await costOf("/v1/contacts?query=")).toEqual({
    status: 422,
    mongo: ["find api_keys"],
    redis: ["evalsha"],
  });
});

test("a request without a key, or with a malformed one, sends no command to MongoDB [AUT-03]", async () => {
  expect(await costOf("/v1/sessions", { key: undefined })).toEqual({ status: 401, mongo: [], redis: ["evalsha"] });
  expect(await costOf("/v1/sessions", { key: `rec_${"a".repeat(49)}` })).toEqual({
    status: 401,
    mongo: [],
    redis: ["evalsha"],
  });
});

test("health sends no command to MongoDB, with or without a key [HLT-01]", async () => {
  expect(await costOf("/v1/health", { key: undefined })).toEqual({ status: 200, mongo: [], redis: ["evalsha"] });
  expect(await costOf("/v1/health")).toEqual({ status: 200, mongo: [], redis: ["evalsha"] });
});

test("health responds to a revoked key that the instance remembers [HLT-01]", async () => {
  const revoked = await service.account();
  await service.rest("/v1/sessions", { key: revoked.key });
  const { accounts, apiKeys } = service.app.services;
  const { _id } =
    (await accounts.list(100, 0, undefined)).find((found) => found._id.toHexString() === revoked.id) ??
    expect.fail("no account");
  await apiKeys.revoke(_id);
  expect((await service.rest("/v1/health", { key: revoked.key })).status).toBe(200);
  expect((await service.rest("/v1/sessions", { key: revoked.key })).status).toBe(401);
});

const post = (body: object, key?: string): RestCall => ({
  body,
  headers: key === undefined ? {} : { "Idempotency-Key": key },
});

test("without an idempotency key, a create is one command that also verifies its API key; a note needs a second one for that [IDM-01]", async () => {
  expect(await costOf("/v1/contacts", post({ full_name: "Ann" }))).toEqual({
    status: 201,
    mongo: ["aggregate api_keys"],
    redis: ["evalsha"],
  });
  expect(await costOf(`/v1/contacts/${contactId}/notes`, post({ content: "x" }))).toEqual({
    status: 201,
    redis: ["evalsha"],
    mongo: ["find api_keys", "findAndModify contacts", "insert notes", "commitTransaction"],
  });
});

test("a rejected create costs the failed command and a look-up of its key, and with a valid key a second insert and a look-up of the contact with the email [SRC-08, CON-03]", async () => {
  const cost = (status: number, ...mongo: string[]) => ({ status, mongo, redis: ["evalsha"] });
  const create = post({ full_name: "Twice", email: "twice@example.com" });
  expect(await costOf("/v1/contacts", create)).toEqual(cost(201, "aggregate api_keys"));
  expect(await costOf("/v1/contacts", create)).toEqual(
    cost(409, "aggregate api_keys", "find api_keys", "update contacts", "find contacts"),
  );
  const revoked = await service.account();
  await service.rest("/v1/sessions", { key: revoked.key });
  await service.app.services.apiKeys.revoke(new UUID(revoked.id));
  expect(await costOf("/v1/contacts", { ...create, key: revoked.key })).toEqual(
    cost(401, "aggregate api_keys", "find api_keys"),
  );
});

test("an update reads the contact together with the API key and replaces it; a new name is copied to sessions and notes in one transaction", async () => {
  const change = (body: object): RestCall => ({ method: "PATCH", body });
  expect(await costOf(`/v1/contacts/${contactId}`, change({ phone: "+1 555 0100" }))).toEqual({
    status: 200,
    redis: ["evalsha"],
    mongo: ["aggregate contacts", "update contacts"],
  });
  expect(await costOf(`/v1/contacts/${contactId}`, change({ full_name: "every tenth" }))).toEqual({
    status: 200,
    redis: ["evalsha"],
    mongo: ["aggregate contacts", "update contacts", "update sessions", "update notes", "commitTransaction"],
  });
});

test("an idempotency key costs its claim and a commit, a reservation and the stored response [IDM-05, IDM-19]", async () => {
  expect(await costOf("/v1/contacts", post({ full_name: "Keyed" }, "cost"))).toEqual({
    status: 201,
    redis: ["evalsha", "eval", "eval"],
    mongo: ["find api_keys", "update idempotency", "insert contacts", "commitTransaction"],
  });
  expect(await costOf(`/v1/contacts/${contactId}/notes`, post({ content: "y" }, "cost-n"))).toEqual({
    status: 201,
    redis: ["evalsha", "eval", "eval"],
    mongo: ["find api_keys", "update idempotency", "findAndModify contacts", "insert notes", "commitTransaction"],
  });
});

test("a replay costs a look-up of the API key and two commands to Redis, plus three to MongoDB if Redis lacks the response [IDM-05, IDM-19]", async () => {
  await costOf("/v1/contacts", post({ full_name: "Again" }, "again"));
  expect(await costOf("/v1/contacts", post({ full_name: "Again" }, "again"))).toEqual({
    status: 201,
    mongo: ["find api_keys"],
    redis: ["evalsha", "eval"],
  });
  await redis.del(`idempotency:${account.id}:again`);
  expect(await costOf("/v1/contacts", post({ full_name: "Again" }, "again"))).toEqual({
    status: 201,
    redis: ["evalsha", "eval", "eval"],
    mongo: ["find api_keys", "update idempotency", "abortTransaction", "find idempotency"],
  });
});
