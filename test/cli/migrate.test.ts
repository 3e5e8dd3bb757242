// `records migrate` and the start of an instance: both build the same indexes, and what they say when they cannot.
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { compareIndexes } from "../../src/cli/doctor/indexes.ts";
import { ensureIndexes, longBuilds, planIndexes } from "../../src/db/indexes.ts";
import { indexesFor } from "../../src/app/services.ts";
import { dataFolder, endProgram, spawnProgram } from "../program.ts";
import type { TestDatabase } from "../fixtures/databases/database.ts";
import { createDatabase } from "../fixtures/databases/database.ts";
import { runCommand } from "./cli.ts";
import { migrate } from "./migrate.ts";
import { share } from "../support/form.ts";

vi.setConfig({ testTimeout: 120_000 });

const specs = indexesFor({ auditRetentionDays: 400 });
const private_ = "ann.private@example.com";
let database: TestDatabase;
/** With the rights of the service. */
let client: MongoClient;
let environment: Record<string, string>;

beforeAll(async () => {
  database = await createDatabase(inject("administratorUri"));
  client = await MongoClient.connect(database.uri);
  // The service's other settings may be missing where the command runs.
  environment = { MONGODB_URI: database.uri, AUDIT_RETENTION_DAYS: "400" };
});
afterAll(async () => {
  await client.close();
  await database.drop();
});

/** The program's start, which must fail, in one line on standard error. */
async function failedStart(settings: Record<string, string>): Promise<string> {
  const folder = dataFolder();
  const secrets = {
    SERVICE_TOKENS: "a-service-token-of-32-characters-or-more",
    SESSION_SECRET: "a-session-secret-of-32-characters-or-more",
  };
  const program = spawnProgram({ DATA_DIR: folder.path, REDIS_URL: "redis://127.0.0.1:1", ...secrets, ...settings });
  try {
    const ended = await Promise.race([
      program.ended,
      new Promise((late) => setTimeout(late, 20_000, "it still waits")),
    ]);
    expect(ended).toBe(1);
    expect(program.stdout).not.toContain(private_);
    return program.stderr;
  } finally {
    await endProgram(program);
    folder.remove();
  }
}

describe("records migrate", () => {
  test("builds every index with the role readWrite and without a service, also when several run at once, and then builds none [OPS-50]", async () => {
    const both = await Promise.all([migrate(environment), migrate(environment)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(await planIndexes(client.db(), specs)).toEqual([]);
    const again = await migrate(environment);
    expect([again.code, again.stderr, again.result]).toEqual([
      0,
      "",
      {
        indexes: specs.flatMap(({ indexes }) => indexes).length,
        built: [],
        rebuilt: 0,
        left: [],
        seconds: expect.any(Number),
      },
    ]);
  });

  test("names what it builds and the number of documents, and builds the search index of notes that a start leaves out [OPS-50]", async () => {
    await client.db().collection("notes").insertOne({ account_id: "x", g: [], rank: 1 });
    await client.db().collection("notes").dropIndexes();
    const { code, stdout, stderr } = await runCommand(["migrate"], { environment });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Built \d of \d+ indexes in [\d.]+ s: notes\.search, notes\.previous_terms, notes\.parent, .*\.\n$/,
      ),
    ]);
    expect(stderr).toMatch(/^Building notes\.search, notes\.previous_terms, notes\.parent, .*: some 1 document\.\n$/);
  });

  test("keeps an index that only the previous release uses; the start of an instance drops it [OPS-50]", async () => {
    const has = async (): Promise<boolean> =>
      (await client.db().collection("transcripts").indexes()).some(({ name }) => name === "account");
    await client.db().collection("transcripts").createIndex({ account_id: 1 }, { name: "account" });
    expect([(await migrate(environment)).code, await has()]).toEqual([0, true]);
    await ensureIndexes(client.db(), specs);
    expect(await has()).toBe(false);
  });

  test("keeps the retention of the audit log, unless AUDIT_RETENTION_DAYS is set [OPS-50]", async () => {
    const unset = { MONGODB_URI: database.uri };
    const expiry = async (): Promise<unknown> =>
      (await client.db().collection("audit_log").indexes()).find(({ name }) => name === "expiry")?.[
        "expireAfterSeconds"
      ];
    await ensureIndexes(client.db(), indexesFor({ auditRetentionDays: 3_650 }));
    expect([(await migrate(unset)).code, await expiry()]).toEqual([0, 3_650 * 86_400]);
    expect([(await migrate(environment)).code, await expiry()]).toEqual([0, 400 * 86_400]);
    const unlimited = { ...unset, AUDIT_RETENTION_DAYS: "0" };
    const log = client.db().collection("audit_log");
    await log.insertOne({ account_id: "x", created_at: new Date() });
    for (const environment of [unlimited, unset])
      expect([(await migrate(environment)).code, await expiry()]).toEqual([0, undefined]);
    expect(await compareIndexes(client.db(), specs)).toMatchObject({
      status: "fault",
      fix: expect.stringContaining("Run records migrate with AUDIT_RETENTION_DAYS: "),
    });
    await log.deleteMany({});
  });

  test("sets the retention of an empty audit log even without AUDIT_RETENTION_DAYS, so that the doctor then reports no fault [OPS-50]", async () => {
    await ensureIndexes(client.db(), indexesFor({ auditRetentionDays: 0 }));
    const { result } = await migrate({ MONGODB_URI: database.uri });
    const indexes = specs.flatMap((spec) => spec.indexes).length;
    expect(result).toMatchObject({ indexes, built: ["audit_log.expiry"] });
    expect(await compareIndexes(client.db(), specs)).toMatchObject({
      status: "ok",
      message: `All ${indexes} indexes exist.`,
    });
    expect((await migrate({ MONGODB_URI: database.uri })).result).toMatchObject({ indexes, built: [] });
  });

  const wrong: readonly (readonly [string, number, Record<string, string>, RegExp])[] = [
    [
      "a user that MongoDB does not know",
      2,
      { MONGODB_URI: "STRANGER" },
      /^MONGODB_URI: MongoDB rejects the user or the password/,
    ],
    ["no database", 2, { MONGODB_URI: "" }, /^MONGODB_URI: is not set/],
    ["a wrong setting", 2, { AUDIT_RETENTION_DAYS: "many" }, /^AUDIT_RETENTION_DAYS: must be a whole number/],
    [
      "a file that cannot be read",
      2,
      { MONGODB_URI: "", MONGODB_URI_FILE: "/nowhere/uri" },
      /^MONGODB_URI_FILE: \/nowhere\/uri cannot be read \(ENOENT\)\.$/,
    ],
  ];
  test.each(share(wrong, 2))(
    "with %s ends with %i and names the variable [OPS-50]",
    async (_name, exit, settings, message) => {
      const stranger = database.uri.replace(/\/\/[^@]+@/, "//stranger:password@");
      const { code, stderr } = await migrate({
        ...environment,
        ...settings,
        ...(settings["MONGODB_URI"] === "STRANGER" ? { MONGODB_URI: stranger } : {}),
      });
      expect([code, (JSON.parse(stderr) as { error: { message: string } }).error.message]).toEqual([
        exit,
        expect.stringMatching(message),
      ]);
    },
  );
});

describe("a start", () => {
  test("only lists the indexes if all of them exist: it builds and counts nothing [OPS-51]", async () => {
    await ensureIndexes(client.db(), specs);
    const watched = await MongoClient.connect(database.uri, { monitorCommands: true });
    const commands = new Set<string>();
    watched.on("commandStarted", ({ commandName }) => commands.add(commandName));
    await ensureIndexes(watched.db(), specs, { onPlan: longBuilds(() => commands.add("waits")) });
    await watched.close();
    expect([...commands].filter((name) => name !== "endSessions")).toEqual(["listIndexes"]);
  });

  test("names an index that it has to build for a large collection, and not for a small one [OPS-51]", async () => {
    const reported: (readonly string[])[] = [];
    const report = longBuilds((names) => reported.push(names));
    const step = { collection: "contacts", build: [{ key: { a: 1 }, name: "email" }], replace: [], retired: [] };
    report([{ ...step, documents: 100 }]);
    report([{ ...step, documents: 1_000_000 }]);
    expect(reported).toEqual([["contacts.email"]]);
  });

  test("shows no value of a record, like migrate, when duplicates prevent a unique index [OPS-52]", async () => {
    const contacts = client.db().collection("contacts");
    await contacts.dropIndex("email");
    await contacts.insertMany([
      { account_id: "a", email_key: private_ },
      { account_id: "a", email_key: private_ },
    ]);
    const said =
      /The indexes contacts\.email cannot be built: several documents of contacts have the same account_id, email_key\. Remove the duplicates, then try again\./;
    const { code, stderr } = await migrate(environment);
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
    const start = await failedStart(environment);
    expect(start).toMatch(said);
    expect(start + stderr).not.toContain(private_);
    await contacts.deleteMany({ email_key: private_ });
  });

  test("ends at once and names the variable if the password is wrong or the user lacks rights [OPS-53]", async () => {
    const wrong = new URL(database.uri);
    wrong.password = "another-password";
    expect(await failedStart({ MONGODB_URI: wrong.href })).toBe(
      "records: cannot start: MONGODB_URI: MongoDB rejects the user or the password: correct the user, the password (percent-encoded) or authSource\n",
    );
    const elsewhere = new URL(database.uri);
    elsewhere.pathname = "/another";
    expect(await failedStart({ MONGODB_URI: elsewhere.href })).toBe(
      "records: cannot start: MONGODB_URI: the user may not list or build indexes in the database another. Grant it readWrite there.\n",
    );
    expect(await failedStart({ MONGODB_URI: `${database.uri}&tls=true&tlsCAFile=/nowhere/ca.pem` })).toMatch(
      /^records: cannot start: MONGODB_URI: the file \/nowhere\/ca\.pem cannot be read \(ENOENT\)\n$/,
    );
    expect(await failedStart({ MONGODB_URI: `${database.uri}&compressors=snappy` })).toMatch(
      /^records: cannot start: MONGODB_URI: an option needs a module that is missing \([^)]*`snappy`[^)]*\)\n$/,
    );
  });
});
