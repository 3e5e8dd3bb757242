// Which stored responses a deletion erases, in MongoDB and in Redis, without a service around them.
import { Redis } from "ioredis";
import type { ClientSession, MongoClient } from "mongodb";
import { Binary, UUID } from "mongodb";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { connectMongo } from "../../src/db/mongo.ts";
import { partsOf, sweepPart } from "../../src/db/sweep.ts";
import type { RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { EraseResponses } from "../../src/guards/erased-responses.ts";
import { createEraseResponses } from "../../src/guards/erased-responses.ts";
import { claimCollection } from "../../src/guards/idempotency.ts";
import type { WriteScope } from "../../src/call/scope.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";
import type { TestDatabase } from "../fixtures/databases/database.ts";
import { createDatabase } from "../fixtures/databases/database.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

let database: TestDatabase;
let client: MongoClient;
let redis: EmbeddedServer;
let link: RedisLink;
let inRedis: Redis;
let erase: EraseResponses;
let account: UUID;
let scope: WriteScope;

beforeAll(async () => {
  database = await createDatabase(inject("administratorUri"));
  client = await connectMongo(database.uri, 30_000);
  redis = await startOwnRedis();
  link = connectRedis(redis.uri, () => undefined, { commandTimeoutMs: 10_000 });
  await link.firstReady;
  inRedis = new Redis(redis.uri);
});
beforeEach(() => {
  erase = createEraseResponses(client, () => link);
  account = new UUID();
  scope = grantWrites(readScope(account, deadlineIn(600_000)));
});
afterAll(async () => {
  link.close();
  inRedis.disconnect();
  await client.close();
  await database.drop();
  await redis.stop();
});

interface Stored {
  readonly _id: { readonly account_id: UUID; readonly key: string };
  readonly fingerprint: Binary;
  readonly message: Binary;
  readonly body: string;
  readonly records?: UUID[];
  readonly erased?: Binary;
}
const claims = () => client.db().collection<Stored>("idempotency");

/** Stores a response; one without `records` is of the previous release. */
async function store(
  key: string,
  body: string,
  records?: UUID[],
  owner = account,
  session?: ClientSession,
): Promise<Stored> {
  const [fingerprint, message] = [new Binary(Buffer.from(`f ${key}`)), new Binary(Buffer.from(`m ${key}`))];
  const claim = { _id: { account_id: owner, key }, fingerprint, message, body, ...(records && { records }) };
  await claims().insertOne(claim, session && { session });
  return claim;
}

function deleteRecords(records: readonly UUID[], outcome: "commits" | "fails" = "commits"): Promise<void> {
  return client.withSession((session) =>
    session.withTransaction(async () => {
      await erase(scope, records, session);
      if (outcome === "fails") throw new Error("the deletion failed");
    }),
  );
}

const stored = (of = account) => claims().find({ "_id.account_id": of }).sort({ "_id.key": 1 }).toArray();
const none = new Binary(Buffer.alloc(0));
const empty = { message: none, fingerprint: none, body: "", records: [] };
const inRedisOf = (key: string): string => `idempotency:${account.toHexString()}:${key}`;

test("erases every response of the account that contains a deleted record, and keeps its key and fingerprint [IDM-21]", async () => {
  const [deleted, also, kept, other] = [new UUID(), new UUID(), new UUID(), new UUID()];
  const shows = await store("a", "one", [kept, deleted]);
  const showsAnother = await store("b", "two", [also]);
  const without = await store("c", deleted.toHexString(), [kept]);
  const earlier = await store("d", `{"id":"${also.toHexString()}"}`);
  const earlierWithout = await store("e", `{"id":"${kept.toHexString()}"}`);
  const foreign = await store("a", deleted.toHexString(), [deleted], other);
  const earlierForeign = await store("b", deleted.toHexString(), undefined, other);
  await deleteRecords([deleted, also]);
  expect(await stored()).toEqual([
    { _id: shows._id, ...empty, erased: shows.fingerprint },
    { _id: showsAnother._id, ...empty, erased: showsAnother.fingerprint },
    without,
    { _id: earlier._id, ...empty, erased: earlier.fingerprint },
    earlierWithout,
  ]);
  expect(await stored(other)).toEqual([foreign, earlierForeign]);
  expect(await Promise.all(["a", "b", "c", "d", "e"].map((key) => inRedis.get(inRedisOf(key))))).toEqual([
    '["","",""]',
    '["","",""]',
    null,
    '["","",""]',
    null,
  ]);
  const leftMs = await inRedis.pttl(inRedisOf("a"));
  expect(leftMs).toBeGreaterThan(7_000_000);
  expect(leftMs).toBeLessThanOrEqual(7_200_000);
});

test("a second deletion leaves the fingerprint of an erased response [IDM-22]", async () => {
  const id = new UUID();
  const claim = await store("a", "one", [id]);
  await deleteRecords([id]);
  await claims().updateOne({ _id: claim._id }, { $set: { records: [id] } });
  await deleteRecords([id]);
  expect((await stored())[0]?.erased).toEqual(claim.fingerprint);
});

test("erases nothing if no record is deleted, or the deletion fails", async () => {
  const id = new UUID();
  const claim = await store("a", "of the previous release");
  const shows = await store("b", "one", [id]);
  await deleteRecords([]);
  await expect(deleteRecords([id], "fails")).rejects.toThrow("the deletion failed");
  expect(await stored()).toEqual([claim, shows]);
});

test("finds responses in the transaction of the deletion, which sees what it has stored itself", async () => {
  const id = new UUID();
  await client.withSession((session) =>
    session.withTransaction(async () => {
      await store("a", "one", [id], account, session);
      await erase(scope, [id], session);
    }),
  );
  expect(await stored()).toMatchObject([{ body: "", erased: new Binary(Buffer.from("f a")) }]);
});

test("uses no Redis if no response contains a deleted record", async () => {
  await store("a", "one", [new UUID()]);
  let used = 0;
  erase = createEraseResponses(client, () => void (used += 1));
  await deleteRecords([new UUID()]);
  expect(used).toBe(0);
});

test("deleting an account deletes its stored responses, and reads no others [ADM-04]", async () => {
  const [before, own, after] = ["0", "7", "f"].map((digit) => new UUID(`${digit}0000000-0000-4000-8000-000000000000`));
  for (const owner of [before, own, after]) for (const key of ["!", "~~~"]) await store(key, "one", [], owner);
  const [part] = partsOf([claimCollection], { id: own!, identities: undefined, begunAt: new Date() });
  const plan = await claims().find(part!.filter).hint(part!.hint!).explain("executionStats");
  expect(plan["executionStats"]).toMatchObject({ totalKeysExamined: 2, nReturned: 2 });
  const right = { permit: () => Promise.resolve(deadlineIn(60_000)), count: () => undefined };
  expect(await sweepPart(client.db(), part!, right)).toBe(true);
  expect([await stored(before), await stored(own), await stored(after)].map(({ length }) => length)).toEqual([2, 0, 2]);
});

test("rejects a scope without the right to write", async () => {
  const id = new UUID();
  const claim = await store("a", "one", [id]);
  scope = readScope(account, deadlineIn(600_000)) as WriteScope;
  await expect(deleteRecords([id])).rejects.toMatchObject({ reason: Reason.ACCESS_DENIED });
  expect(await stored()).toEqual([claim]);
});
