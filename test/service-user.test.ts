// The database user of every service that tests, drills and the bench start: it has the role of docs/production.md
// alone.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "mongodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startPeer } from "../bench/processes.ts";
import { startChild } from "../fixtures/service/child.ts";
import { spawnProgram } from "./program.ts";
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

describe("a service does not start with an administrator's URI", () => {
  const rejected = /a service under test is the user service, and this URI is for administrator/;

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
    const root = join(import.meta.dirname, "..");
    const files = ["fixtures", "test", "drills", "bench", "scripts"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
    );
    const starting = files.filter(
      (file) => file.endsWith(".ts") && /\bstartApp\(/.test(readFileSync(join(root, file), "utf8")),
    );
    expect(starting.sort()).toEqual(["fixtures/service/instance.ts", "fixtures/service/service.ts"]);
  });
});
