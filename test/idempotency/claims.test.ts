// One key, one write, seen from inside: the claims in MongoDB and the reservations in Redis, without a service around
// them.
import { randomUUID } from "node:crypto";
import type { UnknownField } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { Redis } from "ioredis";
import type { Db, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
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

test("stores a response in Redis that Redis could not return", async () => {
  let attempts = 0;
  const late: RedisLink = {
    ...link,
    attempt: (...command) => (attempts++ === 0 ? Promise.resolve(undefined) : link.attempt(...command)),
  };
  await run(over(createReservations(late)));
  await expect.poll(() => inRedis.get(`idempotency:${reservationName(account, "k")}`)).toMatch(/^\[/);
});
