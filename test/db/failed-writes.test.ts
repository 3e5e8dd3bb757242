// How writes and transactions end that fail: what a majority must have, and what is ended in MongoDB.
import type { ClientSession, MongoClient } from "mongodb";
import { MongoServerError, UUID } from "mongodb";
import { expect, test } from "vitest";
import type { Fence } from "../../src/db/write.ts";
import { TooLate, transaction, write } from "../../src/db/write.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createTally } from "../../src/call/tally.ts";
import type { MongoCommand } from "../fixtures/databases/commands.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { useOwnDatabase } from "../support/own-database.ts";

let client: MongoClient;
useOwnDatabase((opened) => {
  client = opened;
});
const things = () => client.db().collection<{ _id: UUID; at?: number }>("things");

/** The confirmations that a transaction sends whose work reads, and then fails with this error. */
async function confirmationsAfter(error: Error): Promise<readonly MongoCommand[]> {
  const listening = listenToMongo(client);
  const failed = transaction(client, deadlineIn(30_000), async (session) => {
    await things().findOne({}, { session });
    throw error;
  });
  await expect(failed).rejects.toBe(error);
  return listening.stop().filter(({ label }) => label === "find switches");
}

test.each([
  new Failure(Reason.NOT_FOUND),
  new MongoServerError({ message: "E11000", code: 11000, keyPattern: { email: 1 } }),
])("a transaction whose error depends on what it read waits until a majority has that: %s [CON-02]", async (error) => {
  const [confirmation, ...others] = await confirmationsAfter(error);
  expect(others).toEqual([]);
  expect(confirmation?.command).toMatchObject({
    limit: 1,
    singleBatch: true,
    readConcern: { level: "majority", afterClusterTime: expect.anything() as unknown },
    maxTimeMS: expect.any(Number) as unknown,
  });
});

test.each([new Error("of its own"), new Failure(Reason.UNAVAILABLE), new MongoServerError({ message: "x", code: 2 })])(
  "a transaction with another error does not wait for a majority: %s",
  async (error) => {
    expect(await confirmationsAfter(error)).toEqual([]);
  },
);

test("a transaction is ended in MongoDB at its deadline, once, and sends nothing more [OPS-15]", async () => {
  const aborting = new AbortController();
  const deadline = { ...deadlineIn(30_000), cancelled: aborting.signal };
  const listening = listenToMongo(client);
  const _id = new UUID();
  let open: ClientSession | undefined;
  const failed = transaction(client, deadline, async (session) => {
    open = session;
    await things().insertOne({ _id }, { session });
    deadline.at = performance.now();
    aborting.abort();
  });
  await expect(failed).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, because: "deadline" });
  expect(open?.hasEnded).toBe(true);
  expect(await things().findOne({ _id })).toBeNull();
  const commands = listening.stop();
  const kills = commands.filter(({ name }) => name === "killSessions");
  expect(kills.map(({ command }) => [command["$db"], command["killSessions"]])).toEqual([
    ["admin", [{ id: open?.id?.id }]],
  ]);
  expect(commands.map(({ name }) => name)).not.toContain("commitTransaction");
});

test("a transaction that has ended is not ended again when its deadline passes", async () => {
  const aborting = new AbortController();
  const listening = listenToMongo(client);
  await transaction(client, { ...deadlineIn(30_000), cancelled: aborting.signal }, (session) =>
    things().insertOne({ _id: new UUID() }, { session }),
  );
  aborting.abort();
  await client.db().command({ ping: 1 });
  expect(listening.stop().filter(({ name }) => name === "killSessions")).toEqual([]);
});

test("a write matches nothing once the deadline has passed by the database's clock, and fails for it [CON-04]", async () => {
  const _id = new UUID();
  await things().insertOne({ _id, at: 0 });
  let seen: Fence = {};
  const deadline = deadlineIn(30_000);
  await write(client, deadline, async (options, fence) => {
    seen = fence;
    return things().updateOne({ _id, ...fence }, { $set: { at: 1 } }, options);
  });
  expect(await things().findOne({ _id })).toMatchObject({ at: 1 });
  const [now, limit] = (seen["$expr"] as { $lt: [string, Date] }).$lt;
  expect(now).toBe("$$NOW");
  const late = { $expr: { $lt: [now, new Date(limit.getTime() - 60_000)] } };
  expect(await things().countDocuments({ _id, ...late })).toBe(0);
  const failed = write(client, deadline, (_options, _fence) => Promise.reject(new TooLate()));
  await expect(failed).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    because: "deadline",
    waitingFor: "mongodb write",
  });
});

const notFound = new Failure(Reason.NOT_FOUND);
const ofItsOwn = new Error("of its own");

test.each([
  ["what it read, although the deadline has passed", notFound, false, Reason.NOT_FOUND],
  ["the deadline if it was interrupted", notFound, true, Reason.UNAVAILABLE],
  ["the deadline, whatever else it met", ofItsOwn, false, Reason.UNAVAILABLE],
])("a write fails for %s", async (_, error, isInterrupted, reason) => {
  const aborting = new AbortController();
  const deadline = { ...deadlineIn(30_000), signal: aborting.signal };
  const failed = write(client, deadline, (_options, _fence) => {
    deadline.at = performance.now();
    if (isInterrupted) aborting.abort();
    return Promise.reject(error);
  });
  await expect(failed).rejects.toMatchObject({ reason });
});

test("the time of writes and transactions is the request's time in MongoDB, and a failure names the wait", async () => {
  const tally = createTally();
  const deadline = deadlineIn(30_000, undefined, tally);
  const work = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
  await write(client, deadline, (_options, _fence) => work());
  const inWrite = tally.dbMs;
  expect([inWrite > 0, tally.lastWait]).toEqual([true, "mongodb write"]);
  await transaction(client, deadline, work);
  expect([tally.dbMs > inWrite, tally.lastWait]).toEqual([true, "mongodb transaction"]);
  expect([tally.redisMs, tally.waits]).toEqual([0, []]);
});
