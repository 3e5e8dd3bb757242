// The connection to MongoDB: what a URI may omit, and what a start reports if it cannot work.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { MongoClient, UUID } from "mongodb";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { connectMongo, unshared, withDatabase } from "../../src/db/mongo.ts";
import { findMongod } from "../../src/embedded/find-mongod.ts";
import { freePort } from "../../src/embedded/port.ts";
import { shownError } from "../../src/log/logged-error.ts";
import { startProxy } from "../fixtures/network/proxy.ts";
import { primaryOf } from "../../src/db/primary.ts";
import { createDatabase, directUri } from "../fixtures/databases/database.ts";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import { startTlsServer } from "../support/tls-server.ts";

test.each([
  ["mongodb://db1,db2:27018/crm?replicaSet=rs0", "mongodb://db1,db2:27018/crm?replicaSet=rs0"],
  ["mongodb://db1", "mongodb://db1/records"],
  ["mongodb://db1/", "mongodb://db1/records"],
  ["mongodb://db1/?replicaSet=rs0", "mongodb://db1/records?replicaSet=rs0"],
  ["mongodb://db1?replicaSet=rs0", "mongodb://db1/records?replicaSet=rs0"],
  ["mongodb+srv://cluster.example.com", "mongodb+srv://cluster.example.com/records"],
  ["mongodb://user:p%40ss@db1", "mongodb://user:p%40ss@db1/records?authSource=admin"],
  ["mongodb://user:pass@db1/?tls=true", "mongodb://user:pass@db1/records?tls=true&authSource=admin"],
  ["mongodb://user:pass@db1/?authSource=users", "mongodb://user:pass@db1/records?authSource=users"],
])("reads %s as %s", (uri, taken) => {
  expect(withDatabase(uri)).toBe(taken);
});

test.each([
  "mongodb://someone:p@ss@db1/records",
  "mongodb://someone:p/p@ss@db1/records",
  "mongodb://someone/p@ss@db1/records",
  "mongodb://some?one:p@ss@db1/records",
  "mongodb://db1/?nope=1",
  "mongodb://db1:99999/",
])("%s stops the start with one line that names the variable, and does not repeat a password [OPS-14]", async (uri) => {
  const failed = connectMongo(uri, 0);
  await expect(failed).rejects.toThrow(/^MONGODB_URI: .+$/);
  await expect(failed).rejects.not.toThrow(/p@ss|someone|one:/);
});

test("reads what a majority has from the primary, and writes to a majority, whatever the URI prefers: another member may not know yet that a key was revoked", async () => {
  const database = await createDatabase(inject("administratorUri"));
  const options = "readPreference=secondaryPreferred&readConcernLevel=local&w=1&journal=false";
  const client = await connectMongo(`${database.uri}&${options}`, 5_000);
  try {
    expect(client.readPreference.mode).toBe("primary");
    expect(client.db().readPreference?.mode).toBe("primary");
    expect([client.readConcern?.level, client.writeConcern]).toMatchObject(["majority", { w: "majority", j: true }]);
  } finally {
    await client.close();
    await database.drop();
  }
});

test("a host name that DNS does not resolve is reported after the first attempt, and stops the start with one line that names the variable [OPS-14]", async () => {
  class DNSException extends Error {}
  const unknown = Object.assign(new DNSException("querySrv ENOTFOUND _mongodb._tcp.db.example"), {
    code: "ENOTFOUND",
    syscall: "querySrv",
  });
  const connecting = vi.spyOn(MongoClient.prototype, "connect").mockRejectedValue(unknown);
  onTestFinished(() => connecting.mockRestore());
  const waits: unknown[] = [];
  const failed = connectMongo("mongodb://db.example/", 300, undefined, (error) => waits.push(error));
  await expect(failed).rejects.toThrow(
    /^MONGODB_URI: MongoDB cannot be reached \(querySrv ENOTFOUND _mongodb\._tcp\.db\.example\)$/,
  );
  expect(connecting.mock.calls.length).toBeGreaterThan(1);
  expect(waits).toEqual([unknown.message]);
  expect(shownError(unknown)).toBe(unknown.message);
});

/** They wait at the same time for servers that cannot be reached. */
test.concurrent("a server that cannot be reached stops the start with one line that names the variable [OPS-14]", async () => {
  const failed = connectMongo(`mongodb://127.0.0.1:${await freePort()}/?serverSelectionTimeoutMS=100`, 0);
  await expect(failed).rejects.toThrow(/^MONGODB_URI: MongoDB cannot be reached \(.*ECONNREFUSED.*\)$/);
});

test.concurrent("the first failed attempt of a start names each server with the reason [OPS-14]", async () => {
  const ports = [await freePort(), await freePort()];
  const hosts = `127.0.0.1:${ports[0]},records.invalid:${ports[1]}`;
  const said: string[] = [];
  const failed = connectMongo(`mongodb://${hosts}/?replicaSet=rs0`, 6_000, undefined, (reason) => said.push(reason));
  const reason = `127.0.0.1:${ports[0]}: ECONNREFUSED, records.invalid:${ports[1]}: ENOTFOUND`;
  await expect(failed).rejects.toThrow(`MONGODB_URI: MongoDB cannot be reached (${reason})`);
  expect(said).toEqual([reason]);
});

test.concurrent("another name of the replica set stops the start after one attempt, with a line that names the set [OPS-14]", async ({
  onTestFinished,
}) => {
  const database = await createDatabase(inject("administratorUri"));
  onTestFinished(() => database.drop());
  const uri = database.uri.replace(/replicaSet=\w+/, "replicaSet=another");
  await expect(connectMongo(uri, 120_000)).rejects.toThrow(
    /^MONGODB_URI: the servers belong to another replica set than another: correct replicaSet$/,
  );
});

test.concurrent("an instance that began its start before MongoDB could be reached keeps its lease [OPS-10]", async () => {
  const database = await createDatabase(inject("administratorUri"));
  const proxy = await startProxy(new URL(database.uri).host);
  await proxy.set("gone");
  const client = await connectMongo(
    `${directUri(database.uri, proxy.host)}`,
    60_000,
    undefined,
    () => void proxy.set("fair"),
  );
  // Proofs by the timer, after those that the start requested itself.
  const proofs: unknown[] = [];
  await new Promise<void>((resolve) =>
    primaryOf(client).onProof((switches) => {
      if (proofs.push(switches) === 3) resolve();
    }),
  );
  expect(proofs).toEqual([[], [], []]);
  await client.close();
  await proxy.close();
  await database.drop();
});

test.concurrent("a single server without transactions stops the start with one line that says what is needed [OPS-14]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "records-single-"));
  const program = await findMongod({ cacheDir: testCacheDir(), env: process.env, progress: () => undefined });
  const port = await freePort();
  const mongod = spawn(program.path, ["--dbpath", folder, "--port", String(port), "--bind_ip", "127.0.0.1"], {
    stdio: "ignore",
  });
  try {
    const uri = `mongodb://127.0.0.1:${port}`;
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 20_000 });
    await client.connect();
    await client.close();
    await expect(connectMongo(uri, 5_000)).rejects.toThrow(/^MONGODB_URI: must be a replica set/);
  } finally {
    const ended = new Promise((resolve) => mongod.once("close", resolve));
    mongod.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});

test.concurrent("an untrusted certificate stops the start after one attempt, with a line that names the variable and the fix [OPS-53]", async ({
  onTestFinished,
}) => {
  const server = await startTlsServer();
  onTestFinished(() => server.stop());
  const failed = connectMongo(`mongodb://${server.host}/?tls=true`, 120_000);
  await expect(failed).rejects.toThrow(
    /^MONGODB_URI: the certificate of MongoDB is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): set tlsCAFile to the CA/,
  );
});

test("an id that is kept does not keep the reply that it was read from", () => {
  const reply = Buffer.alloc(48_000, 7);
  const id = new UUID(reply.subarray(100, 116));
  const kept = unshared(id);
  expect([kept.toHexString(), kept.buffer.buffer.byteLength]).toEqual([id.toHexString(), 16]);
});
