// Aggregations that need one command, several ones, or a repetition after a change of the primary.
import type { MongoClient } from "mongodb";
import { BSON } from "mongodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { aggregate, decodeRow } from "../../src/db/aggregate.ts";
import { appName, connectMongo } from "../../src/db/mongo.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { asAdministrator } from "../fixtures/databases/database.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import { share } from "../support/form.ts";

vi.setConfig({ hookTimeout: 60_000 });

let mongod: OwnMongod;
let client: MongoClient;
const numbers = () => client.db().collection("numbers");
beforeAll(async () => {
  mongod = await startOwnMongod();
  client = await connectMongo(mongod.uri, 30_000);
  await numbers().insertMany(Array.from({ length: 2_500 }, (_, number) => ({ number })));
});
afterAll(async () => {
  await client.close();
  await mongod.stop();
});

const inBackground = { deadline: undefined };
const sorted = [{ $sort: { number: 1 } }, { $project: { _id: 0, number: 1 } }];

async function labels(work: () => Promise<unknown>): Promise<string[]> {
  const listening = listenToMongo(client);
  await work();
  return listening.stop().map(({ name }) => name);
}

test("returns some hundreds of rows with one command", async () => {
  expect(
    await labels(async () => {
      expect(await aggregate(numbers(), [...sorted, { $limit: 999 }], inBackground)).toEqual(
        Array.from({ length: 999 }, (_, number) => ({ number })),
      );
    }),
  ).toEqual(["aggregate"]);
});

test("returns more rows than one response holds, once each and in order, and leaves no cursor open", async () => {
  const commands = await labels(async () => {
    expect(await aggregate(numbers(), sorted, inBackground)).toEqual(
      Array.from({ length: 2_500 }, (_, number) => ({ number })),
    );
  });
  expect(commands).toEqual(["aggregate", "aggregate", "getMore", "getMore"]);
  const { metrics } = await asAdministrator(mongod.administratorUri, (db) => db.command({ serverStatus: 1 }));
  expect((metrics as { cursor: { open: { total: number } } }).cursor.open.total).toBe(0);
});

test("returns rows that are too large for one response", async () => {
  const text = "x".repeat(1_000_000);
  const rows = await aggregate<{ number: number; text: string }>(
    numbers(),
    [...sorted, { $limit: 40 }, { $set: { text } }],
    inBackground,
  );
  expect(rows.map(({ number, text }) => [number, text.length])).toEqual(
    Array.from({ length: 40 }, (_, number) => [number, text.length]),
  );
});

test.each([
  ["its server is no longer the primary", { errorCode: 10107 }],
  ["its server shuts down", { errorCode: 91 }],
  ["its connection is closed", { closeConnection: true }],
])("repeats a read if %s", async (_what, fault) => {
  await withFault(mongod, { times: 1 }, { failCommands: ["aggregate"], appName, ...fault }, async () => {
    expect(await aggregate(numbers(), [...sorted, { $limit: 1 }], inBackground)).toEqual([{ number: 0 }]);
  });
});

test.each([
  ["that exceeded its time limit", 50],
  ["that is invalid", 2],
])("does not repeat a read %s", async (_what, errorCode) => {
  await withFault(mongod, "alwaysOn", { failCommands: ["aggregate"], appName, errorCode }, async () => {
    expect(
      await labels(async () => {
        await expect(aggregate(numbers(), sorted, inBackground)).rejects.toMatchObject({ code: errorCode });
      }),
    ).toEqual(["aggregate"]);
  });
});

test.each(share([10107, 91, 189], 1))(
  "repeats all concurrent reads under %i: what the driver keeps of the first does not break it later [CON-06]",
  async (errorCode) => {
    const read = (): Promise<string> =>
      aggregate(numbers(), [{ $limit: 1 }], inBackground).then(
        () => "read",
        (error: unknown) => String(error),
      );
    for (let wave = 0; wave < 3; wave++) {
      // A read is tried three times, and each failure may clear the pool under the others.
      const results = await withFault(mongod, { times: 2 }, { failCommands: ["aggregate"], appName, errorCode }, () =>
        Promise.all(Array.from({ length: 16 }, read)),
      );
      expect([...new Set(results)]).toEqual(["read"]);
    }
  },
);

test("rejects a read during which another member became the primary: the driver may have repeated it there too soon [CON-02, CON-04]", async () => {
  const elected = {
    type: "RSPrimary",
    address: "elsewhere:1",
    electionId: { toHexString: () => "f".repeat(24) },
    hosts: ["elsewhere:1", "b:1"],
    passives: [],
    arbiters: [],
  };
  const other = await connectMongo(mongod.uri, 30_000);
  try {
    const db = Object.getPrototypeOf(other.db()) as { command: (...args: unknown[]) => Promise<unknown> };
    const real = db.command;
    vi.spyOn(db, "command").mockImplementationOnce(function (this: unknown, ...args) {
      other.emit("topologyDescriptionChanged", {
        newDescription: { type: "ReplicaSetWithPrimary", servers: new Map([["elsewhere:1", elected]]) },
      } as never);
      return real.apply(this, args);
    });
    await expect(aggregate(other.db().collection("numbers"), [{ $limit: 1 }], inBackground)).rejects.toMatchObject({
      reason: Reason.UNAVAILABLE,
    });
  } finally {
    vi.restoreAllMocks();
    await other.close();
  }
});

test("reads a text that is not well-formed UTF-8 with U+FFFD", () => {
  const bytes = Buffer.from(BSON.serialize({ text: "abc" }));
  bytes[bytes.indexOf("b")] = 0xff;
  expect(decodeRow(bytes)).toEqual({ text: "a\ufffdc" });
});
