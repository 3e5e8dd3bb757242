// A database and a Redis are used by a second test file only if nothing of the first is left in them.
import { Redis } from "ioredis";
import type { Db } from "mongodb";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { asAdministrator } from "../fixtures/databases/database.ts";
import { createSpares, emptyDatabase, emptyRedis } from "../fixtures/service/backends.ts";
import { newClient, useService } from "./support/client.ts";

const service = useService();
const change = <T>(work: (db: Db) => Promise<T>): Promise<T> => asAdministrator(service().administratorUri, work);

test("a database that a service has used is emptied", async () => {
  const client = await newClient(service());
  await client.put.contact({ full_name: "Ann" });
  expect(await emptyDatabase(service())).toBe(true);
  const documents = await change(async (db) => {
    const names = (await db.listCollections().toArray()).map(({ name }) => name);
    return Promise.all(names.map((name) => db.collection(name).countDocuments()));
  });
  expect(documents.length).toBeGreaterThan(10);
  expect(new Set(documents)).toEqual(new Set([0]));
});

test.each<[string, (db: Db) => Promise<unknown>, (db: Db) => Promise<unknown>]>([
  [
    "a further index",
    (db) => db.collection("contacts").createIndex({ memory: 1 }, { name: "further" }),
    (db) => db.collection("contacts").dropIndex("further"),
  ],
  ["a further collection", (db) => db.createCollection("further"), (db) => db.dropCollection("further")],
  [
    "a validator",
    (db) => db.command({ collMod: "audit_log", validator: { event: "x" } }),
    (db) => db.command({ collMod: "audit_log", validator: {} }),
  ],
  [
    "more documents than are deleted quickly",
    (db) => db.collection("notes").insertMany(Array.from({ length: 2_001 }, () => ({ _id: new UUID() as never }))),
    (db) => db.collection("notes").deleteMany({}),
  ],
])("a database with %s is not used again", async (_what, add, remove) => {
  await change(add);
  expect(await emptyDatabase(service())).toBe(false);
  await change(remove);
  expect(await emptyDatabase(service())).toBe(true);
});

test("a Redis is emptied, its scripts too, and one that does not respond is not used again", async () => {
  const redis = new Redis(service().redis.uri);
  const sha = (await redis.script("LOAD", "return 1")) as string;
  await redis.set("left", "behind");
  expect(await emptyRedis(service().redis)).toBe(true);
  expect([await redis.dbsize(), await redis.script("EXISTS", sha)]).toEqual([0, [0]]);
  redis.disconnect();
  expect(await emptyRedis({ uri: "redis://127.0.0.1:9" })).toBe(false);
});

test("what cannot be made as new is destroyed, and another one is created", async () => {
  const destroyed: number[] = [];
  let created = 0;
  const { take, giveBack } = createSpares(
    async () => ++created,
    async (one) => (one === 2 ? Promise.reject(new Error("gone")) : one === 1),
    async (one) => void destroyed.push(one),
  );
  const [first, second, third] = [await take(), await take(), await take()];
  for (const one of [first, second, third]) await giveBack(one);
  expect([await take(), await take(), destroyed]).toEqual([1, 4, [2, 3]]);
});
