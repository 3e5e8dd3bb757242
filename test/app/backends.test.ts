// A database and a Redis are used by a second test file only if nothing of the first is left in them.
import { Redis } from "ioredis";
import type { Db } from "mongodb";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { asAdministrator } from "../fixtures/databases/database.ts";
import { createSpares, emptyDatabase, emptyRedis, settingsOf } from "../fixtures/service/backends.ts";
import { startService } from "../fixtures/service/service.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();
/** A collection with one index of ours. */
const changes = "switch_changes";
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
    "an index in place of one of ours",
    async (db) => {
      await db.collection(changes).dropIndex("list");
      await db.collection(changes).createIndex({ reason: 1 }, { name: "list" });
    },
    (db) => db.collection(changes).dropIndex("list"),
  ],
  [
    "a hidden index",
    async (db) => {
      await db.collection(changes).createIndex({ changed_at: -1, _id: -1 }, { name: "list" });
      await db.command({ collMod: changes, index: { name: "list", hidden: true } });
    },
    (db) => db.command({ collMod: changes, index: { name: "list", hidden: false } }),
  ],
  [
    "another user",
    (db) => db.command({ createUser: "intruder", pwd: "its-password", roles: ["read"] }),
    (db) => db.command({ dropUser: "intruder" }),
  ],
  [
    "another right of the service's user",
    (db) => db.command({ grantRolesToUser: "service", roles: ["dbAdmin"] }),
    (db) => db.command({ revokeRolesFromUser: "service", roles: ["dbAdmin"] }),
  ],
  [
    "a validator",
    (db) => db.command({ collMod: "audit_log", validator: { event: "x" } }),
    (db) => db.dropCollection("audit_log"),
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
  const settings = await settingsOf(redis);
  const sha = (await redis.script("LOAD", "return 1")) as string;
  await redis.set("left", "behind");
  expect(await emptyRedis(service().redis, settings)).toBe(true);
  expect([await redis.dbsize(), await redis.script("EXISTS", sha)]).toEqual([0, [0]]);
  expect(await emptyRedis({ uri: "redis://127.0.0.1:9" }, settings)).toBe(false);
  await redis.config("SET", "maxmemory", "100mb");
  expect(await emptyRedis(service().redis, settings)).toBe(false);
  await redis.config("SET", "maxmemory", "64mb");
  await redis.acl("SETUSER", "intruder", "on");
  expect(await emptyRedis(service().redis, settings)).toBe(false);
  await redis.acl("DELUSER", "intruder");
  expect(await emptyRedis(service().redis, settings)).toBe(true);
  redis.disconnect();
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
  await giveBack(1);
  await expect(giveBack(1)).rejects.toThrow("the resource is not in use");
});

test("to stop a service stops its other instances, once, and a failed start keeps nothing", async () => {
  const first = await startService();
  const other = await (await first.another()).another();
  const late = first.another();
  await Promise.all([other.stop(), first.stop(), first.stop()]);
  await expect(late.then(({ base }) => fetch(base))).rejects.toThrow("fetch failed");
  await expect(first.another()).rejects.toThrow("the service has been stopped");
  await expect(other.rest("/v1/health")).rejects.toThrow("fetch failed");
  const second = await startService();
  expect(second.mongodbUri).toBe(first.mongodbUri);
  const third = await startService();
  expect(third.mongodbUri).not.toBe(first.mongodbUri);
  await third.stop();
  await expect(startService({ RATE_LIMIT: "none" })).rejects.toThrow();
  const fourth = await startService();
  expect(fourth.mongodbUri).toBe(third.mongodbUri);
  await Promise.all([second.stop(), fourth.stop()]);
});
