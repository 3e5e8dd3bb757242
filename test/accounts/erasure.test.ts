// Deleting an account takes it out of service at once and leaves nothing of it.
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { expect, test, vi } from "vitest";
import { createServices } from "../../src/app/services.ts";
import { newClient } from "../support/client.ts";
import type { RedisLink } from "../../src/db/redis.ts";
import { newUser, openSession } from "../support/user.ts";
import { redisText } from "../fixtures/service/secrets.ts";
import { clean, cleaned, fill, leftOf, places, useErasing } from "./erasing.ts";

const { service, admin, sweptElsewhere, letFinish, traces } = useErasing();

test("deleting an account erases all its records, keys, sessions, claims and log entries, and nothing of other accounts [ADM-04]", async () => {
  const [client, other] = [await newClient(service()), await newClient(service())];
  await fill(client);
  await fill(other);
  const filled = [
    "accounts",
    "api_keys",
    "contacts",
    "idempotency",
    "notes",
    "request_counts",
    "sessions",
    "transcripts",
  ];
  // A request is counted once its response has ended, just after the client has it.
  for (const { id } of [client, other]) await expect.poll(() => traces(id)).toEqual(filled);
  expect(await redisText(service().redis.uri)).toContain(`idempotency:${client.id}:once`);

  const { body } = await admin("DeleteAccount", { account_id: client.id });
  expect(body).toEqual(cleaned);
  expect(leftOf(body)).toEqual({});
  expect(await traces(client.id)).toEqual(["erasures"]);
  expect(await redisText(service().redis.uri)).not.toContain(`idempotency:${client.id}`);
  expect(await traces(other.id)).toEqual(filled);
  expect((await other.get("/v1/contacts?query=ann")).body.data).toHaveLength(1);
});

test("after the deletion the key gets 401, the account is 404, and its owner has no account [ADM-04]", async () => {
  const user = await newUser(service());
  const { key } = (await user.call("/v1/api-key", { method: "POST" })).body.data;
  const id = user.accountId ?? "";
  expect(await traces(id)).toEqual(["accounts", "api_keys", "audit_log"]);
  await admin("DeleteAccount", { account_id: id });
  expect((await service().rest("/v1/contacts?query=ann", { key })).status).toBe(401);
  expect((await service().rest("/v1/contacts", { key, body: { full_name: "Bo" } })).status).toBe(401);
  expect((await user.call("/v1/api-key")).status).toBe(401);
  expect((await admin("GetAccount", { account_id: id })).status).toBe(404);
  expect(
    (
      await service().internalCall(
        "records.v1.ContactService/SearchContacts",
        { query: "ann" },
        { "records-account-id": id },
      )
    ).status,
  ).toBe(404);
  const ingested = await service().internalCall("records.ingest.v1.IngestService/UpsertContacts", {
    account_id: id,
    contacts: [{ full_name: "Bo" }],
  });
  expect(ingested.status).toBe(404);
  expect(await traces(id)).toEqual(["erasures"]);
});

test("another account can take the email and the identity of a deleted account [ADM-04]", async () => {
  const email = `${randomUUID()}@example.com`;
  const identity = { issuer: "https://id.example.com", subject: randomUUID() };
  const first = (await admin("CreateAccount", { email })).body.account.id as string;
  await admin("LinkIdentity", { account_id: first, ...identity });
  await admin("DeleteAccount", { account_id: first });
  const second = (await admin("CreateAccount", { email })).body.account.id as string;
  expect(second).not.toBe(first);
  expect((await admin("LinkIdentity", { account_id: second, ...identity })).body.account.identities).toEqual([
    identity,
  ]);
});

test("deleting an unknown account is 404; deleting an account again reports the progress [ADM-04]", async () => {
  expect((await admin("DeleteAccount", { account_id: randomUUID() })).status).toBe(404);
  const { id } = await newClient(service());
  for (let time = 0; time < 2; time++) expect((await admin("DeleteAccount", { account_id: id })).body).toEqual(clean);
});

test("erases what a request writes that was admitted before the deletion [ADM-04]", async () => {
  const { id } = await newClient(service());
  const account = UUID.createFromHexString(id);
  await admin("DeleteAccount", { account_id: id });
  const db = service().app.client.db();
  await db.collection("notes").insertOne({ _id: new UUID() as never, account_id: account, content: "late" });
  expect(await traces(id)).toEqual(["erasures", "notes"]);
  expect((await admin("DeleteAccount", { account_id: id })).body).toEqual(cleaned);
  expect(await traces(id)).toEqual(["erasures"]);
});

test("while another instance sweeps, the status reports what is left and deletes nothing; when its lease expires, another instance continues [ADM-04, OPS-31]", async () => {
  const client = await newClient(service());
  await fill(client);
  const { letGo } = await sweptElsewhere(client.id);
  const left = {
    idempotency: 1,
    notes: 2,
    transcripts: 1,
    sessions: 1,
    contacts: 2,
    api_keys: 1,
    redis: expect.any(Number),
  };
  for (let time = 0; time < 2; time++) {
    const { body } = await admin("DeleteAccount", { account_id: client.id });
    expect(body.erased).toBeUndefined();
    expect(leftOf(body)).toEqual(left);
  }
  await letGo();
  const { body } = await admin("DeleteAccount", { account_id: client.id });
  expect([body.erased, leftOf(body)]).toEqual([true, {}]);
  expect(await traces(client.id)).toEqual(["erasures"]);
});

/** This and the next two wait for the background work, which begins every 5 seconds. */
test.concurrent("an erasure whose instance was killed continues without a call until only its mark is left [ADM-04, OPS-31]", async () => {
  const client = await newClient(service());
  await fill(client);
  await (await sweptElsewhere(client.id)).letGo();
  await letFinish(client.id);
  expect(await traces(client.id)).toEqual(["erasures"]);
});

test.concurrent("a finished erasure is checked again by each call, not in the background; the background continues what a call cannot finish [ADM-04]", async ({
  expect,
}) => {
  const { id } = await newClient(service());
  await admin("DeleteAccount", { account_id: id });
  await letFinish(id);
  const db = service().app.client.db();
  const [_id, account_id] = [new UUID() as never, UUID.createFromHexString(id)];
  await db.collection("notes").insertOne({ _id, account_id });
  // The sweep that finished another erasure did not look at this one.
  const other = await newClient(service());
  await admin("DeleteAccount", { account_id: other.id });
  await letFinish(other.id);
  expect(await db.collection("notes").countDocuments({ account_id })).toBe(1);
  expect((await admin("DeleteAccount", { account_id: id })).body.erased).toBe(true);
  await expect
    .poll(() => db.collection("notes").countDocuments({ account_id }), { timeout: 30_000, interval: 200 })
    .toBe(0);
  await letFinish(id);
  await db.collection("notes").insertOne({ _id, account_id });
  expect((await admin("DeleteAccount", { account_id: id })).body).toEqual({
    ...cleaned,
    begunAt: "1970-01-01T00:00:00Z",
  });
  expect(await db.collection("notes").countDocuments({ account_id })).toBe(0);
});

test.concurrent("an erasure that cannot continue does not delay others [ADM-04]", async () => {
  const erasures = service().app.client.db().collection("erasures");
  const _id = new UUID() as never;
  await erasures.insertOne({ _id, begun_at: new Date(0), identities: "no list" });
  try {
    const { id } = await newClient(service());
    await admin("DeleteAccount", { account_id: id });
    await letFinish(id);
    expect(await traces(id)).toEqual(["erasures"]);
  } finally {
    await erasures.deleteOne({ _id });
  }
});

test("the mark of an erasure is kept for 90 days after its end; then the account is unknown [ADM-04]", async () => {
  const { id } = await newClient(service());
  await admin("DeleteAccount", { account_id: id });
  const erasures = service().app.client.db().collection("erasures");
  const expiry = (await erasures.indexes()).find(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
  expect([expiry?.key, expiry?.expireAfterSeconds]).toEqual([{ finished_at: 1 }, 7_776_000]);
  await erasures.deleteOne({ _id: UUID.createFromHexString(id) as never });
  expect((await admin("DeleteAccount", { account_id: id })).status).toBe(404);
});

test("while Redis is unavailable, the status omits it and the erasure does not finish; once Redis is back, it finishes [ADM-04]", async () => {
  const client = await newClient(service());
  await fill(client);
  const away: Partial<RedisLink> = {
    attempt: () => Promise.resolve(undefined),
    async *keys() {
      yield await Promise.resolve(undefined);
    },
  };
  const { erased, places: seen } =
    (await createServices(service().app.client, () => away as RedisLink).erasures.erase(
      UUID.createFromHexString(client.id),
      performance.now() + 3_000,
    )) ?? {};
  expect([erased, seen?.map(({ place }) => place)]).toEqual([false, places.filter((place) => place !== "redis")]);
  expect(seen?.filter(({ left }) => left > 0)).toEqual([]);
  expect((await admin("DeleteAccount", { account_id: client.id })).body.erased).toBe(true);
  expect(await redisText(service().redis.uri)).not.toContain(client.id);
});

test("keeps another account's idempotency key that contains the deleted account's id [ADM-04]", async () => {
  const [client, other] = [await newClient(service()), await newClient(service())];
  expect((await other.post("/v1/contacts", { full_name: "Bo" }, { "Idempotency-Key": client.id })).status).toBe(201);
  expect((await admin("DeleteAccount", { account_id: client.id })).body).toEqual(clean);
  expect(await redisText(service().redis.uri)).toContain(`idempotency:${other.id}:${client.id}`);
});

test("sessions that a user begins after the deletion are kept and stay valid [ADM-04]", async () => {
  const user = await newUser(service());
  const id = user.accountId ?? "";
  const { body } = await admin("DeleteAccount", { account_id: id });
  expect(body.places.map(({ place }: { place: string }) => place)).toContain("dashboard_sessions");
  const again = await openSession(service(), user.subject, user.email);
  expect((await admin("DeleteAccount", { account_id: id })).body.erased).toBe(true);
  // 401 is a session that has ended, 403 one without an account.
  expect([(await user.call("/v1/api-key")).status, (await again.call("/v1/api-key")).status]).toEqual([401, 403]);
});

/** Runs the work on an instance whose clock is ahead by this much; the database's clock is right. */
async function withClockAhead<T>(aheadMs: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + aheadMs });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

test("erases a session that is stored just after the deletion, also on an instance whose clock is ahead [ADM-04]", async () => {
  const { accountId: id = "", subject, email } = await newUser(service());
  const sessions = service().app.client.db().collection("dashboard_sessions");
  await withClockAhead(3_600_000, () => openSession(service(), subject, email));
  const begun = await sessions.find({ subject }).toArray();
  await admin("DeleteAccount", { account_id: id });
  // As if its command had been on its way meanwhile.
  await sessions.insertMany(begun);
  expect((await admin("DeleteAccount", { account_id: id })).body.erased).toBe(true);
  expect(await sessions.countDocuments({ subject })).toBe(0);
});

test("keeps a session that begins after the deletion, also on an instance whose clock is behind [ADM-04]", async () => {
  const { accountId: id = "", subject, email } = await newUser(service());
  await admin("DeleteAccount", { account_id: id });
  const again = await withClockAhead(-3_600_000, () => openSession(service(), subject, email));
  expect((await admin("DeleteAccount", { account_id: id })).body.erased).toBe(true);
  expect((await again.call("/v1/api-key")).status).toBe(403);
});

test("a key creation during the deletion of its account is erased with it, or finds no account [ADM-04, KEY-18]", async () => {
  for (let round = 0; round < 10; round++) {
    const user = await newUser(service());
    const [created] = await Promise.all([
      user.call("/v1/api-key", { method: "POST" }),
      admin("DeleteAccount", { account_id: user.accountId }),
    ]);
    expect([201, 401, 403]).toContain(created.status);
    const keys = await service()
      .app.client.db()
      .collection("api_keys")
      .countDocuments({ account_id: UUID.createFromHexString(user.accountId ?? "") });
    expect(keys).toBe(0);
  }
});
