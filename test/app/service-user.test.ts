// The database user of every service that tests, drills and the bench start: it has the role of docs/production.md
// alone.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import type { Document } from "mongodb";
import { ObjectId } from "mongodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startPeer } from "../bench/processes.ts";
import { startChild } from "../fixtures/service/child.ts";
import { spawnProgram } from "../program.ts";
import { guide } from "../docs/pages.ts";
import type { DatabaseUris } from "../fixtures/databases/database.ts";
import { asAdministrator } from "../fixtures/databases/database.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";

vi.setConfig({ hookTimeout: 60_000 });

let service: TestService;
let mongod: OwnMongod;
beforeAll(async () => {
  [service, mongod] = await Promise.all([startService(), startOwnMongod()]);
});
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

const shared = (): DatabaseUris => ({ ...service, uri: service.mongodbUri });

async function rolesOf(uri: string): Promise<unknown> {
  const { authInfo } = await asAdministrator(uri, (db) => db.command({ connectionStatus: 1 }));
  return (authInfo as Document)["authenticatedUserRoles"];
}

test("the service's user has readWrite on its database and no other role, in the shared mongod and in a test's own", async () => {
  const name = new URL(service.mongodbUri).pathname.slice(1);
  expect(await rolesOf(shared().uri)).toEqual([{ role: "readWrite", db: name }]);
  expect(await rolesOf(mongod.uri)).toEqual([{ role: "readWrite", db: "records" }]);
  expect(await rolesOf(mongod.administratorUri)).toEqual([{ role: "root", db: "admin" }]);
});

test("a test's own mongod permits nothing to a client without credentials", async () => {
  const anonymous = mongod.uri.replace(/\/\/[^@]+@/, "//").replace(/&authSource=\w+/, "");
  await expect(asAdministrator(anonymous, (db) => db.collection("contacts").findOne())).rejects.toMatchObject({
    codeName: "Unauthorized",
  });
});

/** Runs what a page passes to mongosh that contains the text, as an administrator. */
async function runShown(text: string, env: Readonly<Record<string, string>>): Promise<void> {
  const scripts = guide.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      [...block.text.matchAll(/^mongosh \S+ --eval '([^']+)'$/gm)].map(([, script = ""]) => script),
    ),
  );
  const [script, ...others] = scripts.filter((one) => one.includes(text));
  expect([script === undefined, others]).toEqual([false, []]);
  await asAdministrator(mongod.administratorUri, async (db) => {
    const admin = db.client.db("admin");
    const { config } = await admin.command({ replSetGetConfig: 1 });
    const commands: Document[] = [];
    runInNewContext(script ?? "", {
      process: { env },
      db: {
        createUser: ({ user, ...rest }: { readonly user: string }) =>
          commands.push({ createUser: `${user}-of-the-guide`, ...rest }),
      },
      rs: {
        conf: () => config as Document,
        reconfig: (next: Document) => commands.push({ replSetReconfig: { ...next, version: next["version"] + 1 } }),
      },
    });
    for (const command of commands) await admin.command(command);
  });
}

/** The URI of a user in the database admin. */
function uriFor(user: string, password: string): string {
  return mongod.administratorUri
    .replace(/\/\/[^@]+@/, `//${user}:${password}@`)
    .replace(/authSource=\w+/, "authSource=admin");
}

test("the guide's command creates the service's user, with readWrite and clusterMonitor", async () => {
  await runShown('user: "records"', { db_password: "of-the-test" });
  const roles = await rolesOf(uriFor("records-of-the-guide", "of-the-test"));
  expect(roles).toHaveLength(2);
  expect(roles).toContainEqual({ role: "readWrite", db: "records" });
  expect(roles).toContainEqual({ role: "clusterMonitor", db: "admin" });
});

test("the guide's user for dumps reads the oplog and replays its updates, which the role restore alone does not permit", async () => {
  const replayedId = new ObjectId();
  await runShown('user: "backup"', { backup_password: "of-the-test" });
  await asAdministrator(mongod.administratorUri, async (db) => {
    const only = { createUser: "restore-only", pwd: "of-the-test", roles: ["restore"] };
    await db.client.db("admin").command(only);
    await db.client.db("records").collection("replayed").insertOne({ _id: replayedId, at: 1 });
  });
  const update = { op: "u", ns: "records.replayed", o2: { _id: replayedId }, o: { $v: 2, diff: { u: { at: 2 } } } };
  const replay = (user: string): Promise<unknown> =>
    asAdministrator(uriFor(user, "of-the-test"), (db) => db.client.db("admin").command({ applyOps: [update] }));
  await expect(replay("restore-only")).rejects.toMatchObject({ codeName: "Unauthorized" });
  await expect(replay("backup-of-the-guide")).resolves.toMatchObject({ applied: 1 });
  const oplog = (uri: string): Promise<unknown> =>
    asAdministrator(uri, (db) => db.client.db("local").collection("oplog.rs").findOne());
  await expect(oplog(uriFor("backup-of-the-guide", "of-the-test"))).resolves.toHaveProperty("op");
  await expect(oplog(mongod.uri)).rejects.toMatchObject({ codeName: "Unauthorized" });
});

test("the guide's command shortens the election timeout", async () => {
  await runShown("electionTimeoutMillis", {});
  const { config } = await asAdministrator(mongod.administratorUri, (db) =>
    db.client.db("admin").command({ replSetGetConfig: 1 }),
  );
  expect((config as Document)["settings"]).toMatchObject({ electionTimeoutMillis: 5_000 });
});

describe("a service does not start with an administrator's URI", () => {
  const rejected = /a service under test must connect as/;

  test.each([
    ["shared", shared],
    ["own", () => mongod],
  ] as const)("rejects it in the %s mongod", async (_name, database) => {
    const { administratorUri: uri } = database();
    await expect(startInstance({ ...database(), uri }, service.redis, {})).rejects.toThrow(rejected);
    await expect(startChild(uri, service.redis.uri)).rejects.toThrow(rejected);
    await expect(startChild(database().uri, service.redis.uri, { MONGODB_URI: uri })).rejects.toThrow(rejected);
    expect(() => spawnProgram({ MONGODB_URI: uri })).toThrow(rejected);
    await expect(startPeer({ command: ["false"], environment: { MONGODB_URI: uri } }, "")).rejects.toThrow(rejected);
  });

  test("everything that starts the service checks its URI", () => {
    const root = join(import.meta.dirname, "../..");
    const files = ["test", "scripts"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
    );
    const starting = files.filter(
      (file) => file.endsWith(".ts") && /\bstartApp\(/.test(readFileSync(join(root, file), "utf8")),
    );
    expect(starting.sort()).toEqual(["test/fixtures/service/instance.ts", "test/fixtures/service/service.ts"]);
  });
});
