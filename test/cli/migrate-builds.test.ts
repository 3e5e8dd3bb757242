// `records migrate` where a build takes long, in a set of three, and without a server.
import { MongoClient } from "mongodb";
import { expect, test, vi } from "vitest";
import { ensureIndexes, fewDocuments } from "../../src/db/indexes.ts";
import { indexesFor } from "../../src/app/services.ts";
import { startOwnMongod, startThreeMongods, withFault } from "../fixtures/databases/own-mongod.ts";
import { startCli } from "./cli.ts";
import { migrate } from "./migrate.ts";

vi.setConfig({ testTimeout: 120_000 });

const specs = indexesFor({ auditRetentionDays: 400 });

test("shows every 5 seconds how long a build has taken [OPS-50]", async () => {
  const own = await startOwnMongod();
  try {
    const fault = { failCommands: ["createIndexes"], blockConnection: true, blockTimeMS: 7_000 };
    const slow = await withFault(
      own,
      { times: 1 },
      fault,
      () => startCli(["migrate"], { environment: { MONGODB_URI: own.uri } }).ended,
    );
    expect([slow.code, slow.stderr]).toEqual([0, expect.stringMatching(/^Building [a-z_.]+, .*: 5 s\n$/)]);
  } finally {
    await own.stop();
  }
});

test("in a set of three it builds the search index of many notes unless an import runs, and reports one with another definition [OPS-50]", async () => {
  const own = await startThreeMongods();
  const three = { MONGODB_URI: own.uri };
  const watching = await MongoClient.connect(own.uri);
  try {
    await ensureIndexes(watching.db(), specs);
    const notes = watching.db().collection("notes");
    await notes.insertMany(Array.from({ length: fewDocuments + 1 }, (_, rank) => ({ account_id: "x", g: [], rank })));
    await notes.dropIndex("search");
    const imports = watching.db().collection("imports");
    await imports.insertOne({ changed_at: new Date() });
    const during = await migrate(three);
    expect([during.code, during.result]).toMatchObject([0, { built: [], left: ["notes.search"] }]);
    await imports.deleteMany({});
    expect(await migrate(three)).toMatchObject({ code: 0, result: { built: ["notes.search"], left: [] } });
    await notes.dropIndex("search");
    await notes.createIndex({ rank: 1 }, { name: "search" });
    expect(await migrate(three)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "The indexes notes.search cannot be built: one of them exists with another definition.",
      ),
    });
  } finally {
    await watching.close();
    await own.stop();
  }
});

// It looks for the server for half a minute.
test("with a server that does not run it ends with 3 and names the variable [OPS-50]", async () => {
  const { code, stderr } = await migrate({ MONGODB_URI: "mongodb://127.0.0.1:9/records" });
  expect([code, (JSON.parse(stderr) as { error: { message: string } }).error.message]).toEqual([
    3,
    expect.stringMatching(/^MONGODB_URI: MongoDB cannot be reached/),
  ]);
});
