// One key, one write, seen from inside: the claims in MongoDB and the reservations in Redis, without a service around
// them.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { UnknownField } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { Redis } from "ioredis";
import type { Db, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { connectMongo } from "../../src/db/mongo.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import type { RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import type { WriteOptions } from "../../src/db/write.ts";
import { commit } from "../../src/db/write.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import {
  ContactService,
  CreateContactRequestSchema,
  CreateContactResponseSchema,
} from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Idempotency } from "../../src/guards/idempotency.ts";
import { createIdempotency } from "../../src/guards/idempotency.ts";
import type { Reservations } from "../../src/guards/reservations.ts";
import { createReservations, reservationName } from "../../src/guards/reservations.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";
import type { RpcResponse } from "../../src/call/dispatch.ts";
import type { TestDatabase } from "../fixtures/databases/database.ts";
import { createDatabase } from "../fixtures/databases/database.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

const { createContact } = ContactService.method;
let database: TestDatabase;
let client: MongoClient;
let redis: EmbeddedServer;
let link: RedisLink;
let inRedis: Redis;
let account: UUID;

beforeAll(async () => {
  database = await createDatabase(inject("administratorUri"));
  client = await connectMongo(database.uri, 30_000);
  redis = await startOwnRedis();
  // Not a test of how long anyone waits for Redis: on a busy machine 50 ms are soon over.
  link = connectRedis(redis.uri, () => undefined, { commandTimeoutMs: 10_000 });
  await link.firstReady;
  inRedis = new Redis(redis.uri);
});
beforeEach(() => {
  account = new UUID();
});
afterAll(async () => {
  link.close();
  inRedis.disconnect();
  await client.close();
  await database.drop();
  await redis.stop();
});

const claims = () =>
  client.db().collection<{ _id: { account_id: UUID; key: string }; created_at: Date }>("idempotency");

/** Creates a contact of this name in the account, whose response has a new id each time it is written. */
function run(
  idempotency: Idempotency,
  fullName = "Ann",
  more: { readonly ms?: number; readonly key?: string; readonly unknown?: UnknownField[] } = {},
): Promise<RpcResponse> {
  const { ms = 10_000, key = "k", unknown } = more;
  const scope = readScope(account, deadlineIn(ms));
  return idempotency.run(
    {
      rpc: createContact,
      scope,
      key,
      message: Object.assign(create(CreateContactRequestSchema, { fullName }), unknown && { $unknown: unknown }),
    },
    async (claim) => {
      const response = create(CreateContactResponseSchema, { contact: { id: randomUUID(), fullName } });
      const work = async (options: WriteOptions): Promise<void> => {
        await client.db().collection("written").insertOne({ account_id: account, fullName }, options);
      };
      await commit(client, grantWrites(scope, claim), { message: response, records: [] }, work, { atomic: true });
      return response;
    },
  );
}

function written(): Promise<number> {
  return client.db().collection("written").countDocuments({ account_id: account });
}

const over = (reservations: Reservations, db: Db = client.db()): Idempotency =>
  createIdempotency(
    db,
    reservations,
    (rpc, message) => `${rpc.name} ${(message as unknown as { contact?: { id: string } }).contact?.id}`,
  );
const withRedis = (): Idempotency => over(createReservations(link));
const withoutRedis = (): Idempotency => over(createReservations(undefined));

describe.each([
  ["with Redis", withRedis],
  ["without Redis", withoutRedis],
] as const)("an idempotency key %s", (_name, make) => {
  test("the first response is that of the write, and every other one a replay of it, with the same body for REST [IDM-06]", async () => {
    const first = await run(make());
    const { id } = (first.message as unknown as { contact: { id: string } }).contact;
    expect(first).toMatchObject({ replayed: false, body: `CreateContact ${id}` });
    for (let turn = 0; turn < 2; turn++) {
      const again = await run(make());
      expect(again).toMatchObject({
        message: { $typeName: "records.v1.CreateContactResponse", contact: { id, fullName: "Ann" } },
        replayed: true,
        body: `CreateContact ${id}`,
      });
      await inRedis.flushall();
    }
    expect(await written()).toBe(1);
    expect(await claims().countDocuments({ "_id.account_id": account })).toBe(1);
  });

  test("replaces the claim of an expired key, and no other [IDM-05]", async () => {
    await run(make(), "Ann", { key: "another" });
    await run(make());
    await claims().updateOne(
      { "_id.account_id": account, "_id.key": "k" },
      { $set: { created_at: new Date(Date.now() - 25 * 3_600_000) } },
    );
    const others = (): Promise<unknown[]> =>
      claims()
        .find({ $nor: [{ "_id.account_id": account, "_id.key": "k" }] })
        .sort({ _id: 1 })
        .toArray();
    const before = await others();
    await inRedis.flushall();
    expect((await run(make())).replayed).toBe(false);
    expect(await others()).toEqual(before);
  });
});

test("fields of a request that the service does not know make no other request of it [IDM-10]", async () => {
  const first = await run(withRedis());
  const unknown = [{ no: 9_999, wireType: WireType.Varint, data: new Uint8Array([1]) }];
  expect(await run(withRedis(), "Ann", { unknown })).toMatchObject({ replayed: true, body: first.body });
});

test("a write that stores no claim has no stored response, and frees its key", async () => {
  const [scope, response] = [readScope(account, deadlineIn(10_000)), create(CreateContactResponseSchema)];
  const request = { rpc: createContact, scope, key: "k", message: create(CreateContactRequestSchema) };
  const done = await withRedis().run(request, () => Promise.resolve(response));
  expect(done).toEqual({ message: response, replayed: false, body: undefined });
  expect((await run(withRedis())).replayed).toBe(false);
});

test("does not remove the claim that another request has stored in place of an expired one [IDM-05, IDM-16]", async () => {
  await run(withoutRedis());
  const store = (created_at: Date) => claims().updateOne({ "_id.account_id": account }, { $set: { created_at } });
  await store(new Date(Date.now() - 25 * 3_600_000));
  const removed = client.db().collection("idempotency");
  const deleteOne = removed.deleteOne.bind(removed);
  removed.deleteOne = async (...args) => {
    await store(new Date());
    return deleteOne(...args);
  };
  const db = Object.assign(client.db(), { collection: () => removed });
  expect((await run(over(createReservations(undefined), db))).replayed).toBe(true);
  expect(await written()).toBe(1);
});

test("Redis keeps a response no longer than the claim, and an hour at most [IDM-05]", async () => {
  const key = `idempotency:${reservationName(account, "k")}`;
  await run(withRedis());
  expect(await inRedis.pttl(key)).toBeGreaterThan(3_500_000);
  expect(await inRedis.pttl(key)).toBeLessThanOrEqual(3_600_000);
  await claims().updateOne(
    { "_id.account_id": account },
    { $set: { created_at: new Date(Date.now() - 24 * 3_600_000 + 60_000) } },
  );
  await inRedis.flushall();
  expect((await run(withRedis())).replayed).toBe(true);
  expect(await inRedis.pttl(key)).toBeGreaterThan(1);
  expect(await inRedis.pttl(key)).toBeLessThanOrEqual(60_000);
});

test("stores a response in Redis that Redis could not return", async () => {
  let attempts = 0;
  const late: RedisLink = {
    ...link,
    attempt: (...command) => (attempts++ === 0 ? Promise.resolve(undefined) : link.attempt(...command)),
  };
  await run(over(createReservations(late)));
  await expect.poll(() => inRedis.get(`idempotency:${reservationName(account, "k")}`)).toMatch(/^\[/);
});

test("a request that finds the key reserved waits, and writes if the key is freed, or replays if it is completed [IDM-11, IDM-19]", async () => {
  const holder = createReservations(link);
  for (const written of [false, true]) {
    const held = await holder.reserve(reservationName(account, "k"), "holder");
    if (held.kind !== "reserved") throw new Error("the key is not free");
    const waiting = run(withRedis());
    // Longer than a reservation lasts that nobody renews.
    await sleep(1_500);
    expect(await holder.reserve(reservationName(account, "k"), "another")).toEqual({ kind: "in flight" });
    if (written) held.release({ fingerprint: Buffer.alloc(0), message: Buffer.alloc(0), body: "" });
    else held.release();
    if (written) await expect(waiting).rejects.toMatchObject({ reason: Reason.IDEMPOTENCY_KEY_REUSED });
    else expect((await waiting).replayed).toBe(false);
    account = new UUID();
  }
});

test("a request that waits beyond the deadline is rejected, because the first one still runs [IDM-11]", async () => {
  const held = await createReservations(link).reserve(reservationName(account, "k"), "holder");
  await expect(run(withRedis(), "Ann", { ms: 50 })).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    message: "The first request with this Idempotency-Key is still running. Try again.",
    because: "deadline",
    waitingFor: "the first request with the idempotency key",
  });
  expect(await written()).toBe(0);
  if (held.kind === "reserved") held.release();
});
