// A commit that cannot be sent in time is not sent at all: its caller already knows that the outcome is unknown.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient, UUID } from "mongodb";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Proxy } from "../fixtures/network/proxy.ts";
import { startProxy } from "../fixtures/network/proxy.ts";
import { insertFenced, insertProven, insertRecord } from "../../src/db/insert.ts";
import { connectMongo } from "../../src/db/mongo.ts";
import { primaryOf } from "../../src/db/primary.ts";
import type { Fence, WriteOptions } from "../../src/db/write.ts";
import { transaction, write } from "../../src/db/write.ts";
import { deadlineIn, withDeadline } from "../../src/call/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { directUri } from "../fixtures/databases/database.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";

vi.setConfig({ hookTimeout: 60_000 });

let mongod: OwnMongod;
let proxy: Proxy;
let client: MongoClient;
let direct: MongoClient;
beforeAll(async () => {
  mongod = await startOwnMongod();
  const { host } = new URL(mongod.uri);
  proxy = await startProxy(host);
  direct = await MongoClient.connect(mongod.administratorUri);
  client = await connectMongo(directUri(mongod.uri, proxy.host), 30_000);
  await direct.db().collection("things").insertOne({ name: "there" });
});
beforeEach(() => primaryOf(client).waitUntilHeld(20_000));
afterAll(async () => {
  await client.close();
  await direct.close();
  await proxy.close();
  await mongod.stop();
});

/** A contact as far as it matters here. */
interface Named {
  _id: UUID;
  account_id: UUID;
  version: number;
  name: string;
}

/** A credential that needs no stored key. */
const alwaysValid = { collection: "things", stages: [{ $limit: 1 }], isValid: { $eq: [1, 1] } };

const stored = (name: string): Promise<number> => direct.db().collection("things").countDocuments({ name });

/** Runs a transaction without a network from its last statement until after its deadline. */
async function cutBeforeCommit(name: string, deadlineMs: number): Promise<{ readonly commits: number }> {
  const deadline = deadlineIn(deadlineMs);
  const listening = listenToMongo(client);
  const done = transaction(client, deadline, async (session) => {
    await client.db().collection("things").insertOne({ name }, { session });
    await proxy.set("gone");
  });
  await expect(withDeadline(deadline, done)).rejects.toThrow();
  const before = listening.commands.length;
  await proxy.set("fair");
  await Promise.allSettled([done]);
  // The driver finds the server again within half a second.
  await sleep(1_500);
  return {
    commits: listening
      .stop()
      .slice(before)
      .filter(({ name: command }) => command === "commitTransaction").length,
  };
}

test("a commit that waits for a server until the deadline is neither sent later nor repeated [CON-05]", async () => {
  expect(await cutBeforeCommit("late", 300)).toEqual({ commits: 0 });
  expect(await stored("late")).toBe(0);
});

test("a commit that is sent in time is stored [CON-05]", async () => {
  const deadline = deadlineIn(8_000);
  await transaction(client, deadline, async (session) => {
    await client.db().collection("things").insertOne({ name: "in time" }, { session });
    await proxy.set("gone");
    setTimeout(() => void proxy.set("fair"), 300);
  });
  expect(await stored("in time")).toBe(1);
});

test("commands that wait for a server until the deadline are not sent later [CON-05]", async () => {
  const things = client.db().collection("things");
  const gone = { $set: { name: "gone" } };
  const commands: readonly ((options: WriteOptions) => Promise<unknown>)[] = [
    (options) => things.insertOne({ name: "gone" }, options),
    (options) => things.updateOne({ name: "there" }, gone, options),
    (options) => things.deleteOne({ name: "there" }, options),
    (options) => things.findOneAndUpdate({ name: "there" }, gone, options),
    (options) => things.bulkWrite([{ deleteOne: { filter: { name: "there" } } }], options),
  ];
  const deadline = deadlineIn(700);
  await proxy.set("gone");
  const listening = listenToMongo(client);
  const done = await Promise.allSettled(
    commands.map((command) => write(client, deadline, (options, _fence): Promise<unknown> => command(options))),
  );
  expect(done.map(({ status }) => status)).toEqual(commands.map(() => "rejected"));
  const before = listening.commands.length;
  await proxy.set("fair");
  await primaryOf(client).waitUntilHeld(20_000);
  await sleep(700);
  expect(listening.stop().slice(before)).toEqual([]);
  expect([await stored("there"), await stored("gone")]).toEqual([1, 0]);
});

test("an insert and an update that arrive after the deadline, by the database's clock, write nothing [CON-05]", async () => {
  const contacts = client.db().collection<Named>("named");
  const there = { _id: new UUID(), account_id: new UUID(), version: 1, name: "before" };
  await contacts.insertOne(there);
  // Held on its way: the client has stopped waiting, and the command arrives all the same.
  const late = (run: (fence: Fence) => Promise<unknown>) =>
    write(client, deadlineIn(150), async (_options, fence) => sleep(300).then(() => run(fence)));
  const document = { _id: new UUID(), account_id: new UUID(), version: 1, name: "late" };
  await expect(late((fence) => insertFenced(contacts, document, {}, fence))).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
  });
  await expect(late((fence) => insertProven(contacts, document, alwaysValid, {}, fence))).rejects.toThrow();
  await late((fence) =>
    contacts.replaceOne({ _id: there._id, version: 1, ...fence }, { ...there, name: "late" }),
  ).catch(() => undefined);
  expect(await contacts.find({}, { projection: { _id: 0, name: 1 } }).toArray()).toEqual([{ name: "before" }]);
});

test.each([
  ["by itself", "hangDuringBatchUpdate"],
  ["after the look-up of its credential", "hangWhileBuildingDocumentSourceMergeBatch"],
])("an insert %s that stalls until the deadline has passed writes nothing [CON-05]", async (how, failPoint) => {
  const contacts = client.db().collection<Named>(`stalled ${how}`);
  const stall = (mode: string): Promise<unknown> => direct.db("admin").command({ configureFailPoint: failPoint, mode });
  const insert = async (name: string, limitMs: number, releasedAfterMs: number): Promise<void> => {
    const accountId = new UUID();
    const proof = { stages: [], isRow: () => false, require: () => undefined, insert: alwaysValid };
    const unproven = { proof, proven: how === "by itself", setProven: () => undefined, prove: () => Promise.resolve() };
    const scope = grantWrites(readScope(accountId, deadlineIn(limitMs), unproven));
    const document = { _id: new UUID(), account_id: accountId, version: 1, name };
    await stall("alwaysOn");
    const released = sleep(releasedAfterMs).then(() => stall("off"));
    await Promise.all([insertRecord(client, scope, contacts, document, undefined), released]);
  };
  await insert("in time", 5_000, 200);
  await expect(insert("late", 1_000, 1_500)).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
  await sleep(1_000);
  expect(await contacts.find({}, { projection: { _id: 0, name: 1 } }).toArray()).toEqual([{ name: "in time" }]);
});
