// The real program with settings: what stops its start, an unavailable Redis, and how it ends under load.
import { randomInt } from "node:crypto";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { connectMongo } from "../../src/db/mongo.ts";
import { createServices } from "../../src/app/services.ts";
import type { Program } from "../program.ts";
import { freePort } from "../../src/embedded/port.ts";
import { dataFolder, endProgram, spawnProgram, startProgram } from "../program.ts";
import { type TestDatabase, createDatabase } from "../fixtures/databases/database.ts";
import { rest } from "../fixtures/service/service.ts";

vi.setConfig({ testTimeout: 120_000 });

const token = "a-service-token-of-32-characters-or-more";
const limits = { RATE_LIMIT: "100000", RATE_BURST: "100000" };
let database: TestDatabase;
let client: MongoClient;
let settings: Record<string, string>;
let key: string;

beforeAll(async () => {
  database = await createDatabase(inject("administratorUri"));
  settings = {
    MONGODB_URI: database.uri,
    SERVICE_TOKENS: token,
    SESSION_SECRET: "a-session-secret-of-32-characters-or-more",
    REDIS_URL: "redis://127.0.0.1:1",
    ...limits,
  };
  client = await connectMongo(database.uri, 30_000);
  const { accounts, apiKeys } = createServices(client);
  ({ secret: key } = await apiKeys.create((await accounts.create("settings@example.com", true))._id, "read_write"));
});
afterAll(async () => {
  await client.close();
  await database.drop();
});

test("an invalid setting ends the program with 1 and one line that names it, before anything is started [OPS-14]", async () => {
  const folder = dataFolder();
  onTestFinished(folder.remove);
  const dataDir = join(folder.path, "data");
  const program = spawnProgram({ DATA_DIR: dataDir, MONGODB_URI: "mongodb://db.example/records" });
  expect([await program.ended, program.stdout, existsSync(dataDir)]).toEqual([1, "", false]);
  expect(program.stderr).toMatch(/^records: SERVICE_TOKENS: [^\n]+\n$/);
});

test("if the program cannot write to its own folder, it ends with 1 and one line that says what to do", () => {
  const copy = dataFolder();
  onTestFinished(copy.remove);
  const root = join(import.meta.dirname, "../..");
  for (const folder of ["bin", "src", "gateway"]) mkdirSync(join(copy.path, folder));
  for (const file of ["bin/bundle.js", "bin/start.js", "package.json"])
    copyFileSync(join(root, file), join(copy.path, file));
  symlinkSync(join(root, "node_modules"), join(copy.path, "node_modules"));
  writeFileSync(join(copy.path, "src/main.ts"), "");
  // Permissions do not stop a test that runs as root; a folder that is not there does.
  symlinkSync(join(copy.path, "nowhere/dist"), join(copy.path, "dist"));
  const { status, stderr } = spawnSync(process.execPath, [join(copy.path, "bin/start.js")], { encoding: "utf8" });
  const what = `records: ${copy.path}/dist/src/main cannot be written (ENOENT). `;
  expect([status, stderr.slice(0, what.length)]).toEqual([1, what]);
  expect(stderr.slice(what.length)).toMatch(/^A new version [^\n]+\n$/);
});

test("a port in use, and a host of another machine, end the program with 1 and one line that names the variable [OPS-14]", async () => {
  const taker = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taker.close());
  await new Promise((listening) => taker.once("listening", listening));
  const { port } = taker.address() as AddressInfo;
  const program = spawnProgram({ ...settings, PORT: String(port) });
  onTestFinished(() => endProgram(program));
  const nowhere = spawnProgram({ ...settings, INTERNAL_HOST: "nowhere.invalid" });
  onTestFinished(() => endProgram(nowhere));
  expect(await nowhere.ended).toBe(1);
  expect(nowhere.stderr).toMatch(
    /^records: INTERNAL_HOST: "nowhere\.invalid" is not an address of this machine \([A-Z_]+\)\n$/,
  );
  const ended = await Promise.race([program.ended, new Promise((late) => setTimeout(late, 20_000, "it goes on"))]);
  const message = `port ${port} is already in use. Stop the program that uses it, or choose another port.`;
  expect([ended, program.stderr]).toEqual([1, `records: PORT: ${message}\n`]);
});

test("a port in use is detected before anything is started or written [OPS-14]", async () => {
  const folder = dataFolder();
  const taker = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    taker.close();
    folder.remove();
  });
  await new Promise((listening) => taker.once("listening", listening));
  const { port } = taker.address() as AddressInfo;
  const free = await freePort();
  for (const ports of [
    { PORT: "0", INTERNAL_PORT: String(port) },
    { PORT: String(free), INTERNAL_PORT: String(free) },
  ]) {
    const program = spawnProgram({ DATA_DIR: join(folder.path, "data"), ...ports });
    onTestFinished(() => endProgram(program));
    expect(await program.ended).toBe(1);
    expect(program.stderr).toContain(`INTERNAL_PORT: port ${ports.INTERNAL_PORT} is already in use`);
    expect([program.stdout, existsSync(join(folder.path, "data"))]).toEqual(["", false]);
  }
});

/** Most of these starts wait for a Redis that is not there. */
test.concurrent("without any Redis it starts and serves: ready, degraded, and reported in the metrics and the log [OPS-10, HLT-03, RTE-13, OPS-12, OPS-13]", async ({
  onTestFinished,
}) => {
  const folder = dataFolder();
  const program = await startProgram({ ...settings, DATA_DIR: folder.path, BASE_URL: "https://api.example.com/" });
  onTestFinished(async () => {
    await endProgram(program);
    folder.remove();
  });
  expect(program.base).toBe("https://api.example.com");
  const port = /"port":(\d+)/.exec(program.stdout)?.[1];
  expect(port).toBeUndefined();
  const ready = await fetch(`${program.internal}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: "ok", mongodb: true, redis: false }]);
  expect((await fetch(`${program.internal}/livez`)).status).toBe(200);
  expect(await (await fetch(`${program.internal}/metrics`)).text()).toMatch(/^records_redis_up 0$/m);
  expect(program.stdout).toMatch(/"level":40.*Redis is unavailable/);
  expect(program.stdout).not.toContain("demo");
  expect(existsSync(join(folder.path, "demo.json"))).toBe(false);
  const call = (authorization: string) =>
    fetch(`${program.internal}/records.v1.HealthService/CheckHealth`, {
      method: "POST",
      headers: { "Content-Type": "application/json", authorization },
      body: "{}",
    });
  expect(await (await call(`Bearer ${token}`)).json()).toEqual({
    health: { status: "HEALTH_STATUS_DEGRADED", version: "1.0.0" },
  });
});

test.concurrent("with an external identity provider there is no demo: no account, key, password or development provider, even with an embedded database [OPS-07]", async ({
  onTestFinished,
}) => {
  const folder = dataFolder();
  const { SERVICE_TOKENS, SESSION_SECRET } = settings as { SERVICE_TOKENS: string; SESSION_SECRET: string };
  const oidc = { OIDC_ISSUER: "http://127.0.0.1:9", OIDC_CLIENT_ID: "records", OIDC_CLIENT_SECRET: "of-the-client" };
  const program = await startProgram({ DATA_DIR: folder.path, SERVICE_TOKENS, SESSION_SECRET, ...oidc });
  onTestFinished(async () => {
    await endProgram(program);
    folder.remove();
  });
  expect(program.stdout).toContain(`  dashboard             ${program.base}\n`);
  expect(program.stdout).not.toMatch(/demo|for development|rec_/);
  for (const name of ["demo.json", "demo-secret", "provider", "service-token", "session-secret"])
    expect([name, existsSync(join(folder.path, name))]).toEqual([name, false]);
  const listed = await fetch(`${program.internal}/records.admin.v1.AccountService/ListAccounts`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: "{}",
  });
  expect(await listed.json()).toEqual({});
});

test.concurrent("with an external database and no identity provider, sign-in is off, and the start says so [OPS-07]", async ({
  onTestFinished,
}) => {
  const folder = dataFolder();
  const program = await startProgram({ ...settings, DATA_DIR: folder.path });
  onTestFinished(async () => {
    await endProgram(program);
    folder.remove();
  });
  expect(program.stdout).toContain("  dashboard             sign-in is off: set OIDC_ISSUER\n");
  expect(existsSync(join(folder.path, "provider"))).toBe(false);
  expect(await (await fetch(program.base)).text()).toMatch(/sign-in is off/i);
  expect((await fetch(`${program.base}/sign-in`)).status).toBe(503);
  expect((await rest(program.base, "/v1/api-key")).status).toBe(401);
});

test.concurrent.for([
  ["is a full disk", "/dev/full", "ENOSPC"],
  ["has lost its reader", undefined, "EPIPE"],
] as const)(
  "if standard output %s, it starts, serves, reports that once and ends with 0 [OPS-16]",
  async ([, file, code], { expect, onTestFinished }) => {
    // Below the range from which the system gives ports to others: the program cannot report one of its own choice.
    const port = 20_000 + 2 * randomInt(6_000);
    const ports = { PORT: String(port), INTERNAL_PORT: String(port + 1) };
    const output = file === undefined ? "pipe" : openSync(file, "w");
    const program = spawnProgram({ ...settings, ...ports }, output);
    onTestFinished(() => endProgram(program));
    if (output === "pipe") program.child.stdout?.destroy();
    else closeSync(output);
    const ready = () =>
      fetch(`http://localhost:${ports.INTERNAL_PORT}/readyz`).then(
        ({ status }) => status,
        () => undefined,
      );
    await expect.poll(ready, { timeout: 60_000, interval: 50 }).toBe(200);
    const requests = Array.from({ length: 50 }, () => rest(`http://localhost:${ports.PORT}`, "/v1/health"));
    for (const { status } of await Promise.all(requests)) expect(status).toBe(200);
    await expect.poll(() => program.stderr).toContain(code);
    expect(await ready()).toBe(200);
    program.child.kill("SIGTERM");
    expect(await program.ended).toBe(0);
    expect(program.stderr).toMatch(/^records: the log cannot be written to standard output \(\w+\): [^\n]+\n$/);
  },
);

test("SIGTERM under load: every accepted request is served completely, no new one is accepted, and it ends with 0 [OPS-16]", async () => {
  const program = await startProgram(settings);
  onTestFinished(() => endProgram(program));
  const uploads = Array.from({ length: 8 }, (_, at) => slowUpload(program, `Slow ${at}`));
  await Promise.all(uploads.map(({ taken }) => taken));
  const acknowledged: string[] = [];
  const wrong: unknown[] = [];
  let loading = true;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let turn = 0; loading; turn++) {
      const full_name = `Load ${client}-${turn}`;
      try {
        const { status, body } = await rest(program.base, "/v1/contacts", { key, body: { full_name } });
        if (status === 201 && body.data.full_name === full_name) acknowledged.push(full_name);
        else wrong.push([status, body]);
      } catch {
        // Not accepted: the written records show whether that is true.
        return;
      }
    }
  });
  await new Promise((soon) => setTimeout(soon, 700));
  const began = acknowledged.length;
  expect(began).toBeGreaterThan(0);
  process.kill(program.pid, "SIGTERM");
  await new Promise((soon) => setTimeout(soon, 300));
  const responses = await Promise.all(uploads.map(({ finish }) => finish()));
  loading = false;
  await Promise.all(clients);
  expect(await program.ended).toBe(0);
  for (const response of responses)
    expect(response).toMatch(/^HTTP\/1\.1 201 Created\r\n[^]*\r\nConnection: close\r\n[^]*"full_name":"Slow \d"/i);
  expect(wrong).toEqual([]);
  const written = (
    await client
      .db()
      .collection("contacts")
      .find({ full_name: /^Load / })
      .toArray()
  ).map((contact) => String(contact["full_name"]));
  expect(written.sort()).toEqual(acknowledged.sort());
  expect(program.stderr).toBe("");
  await expect(rest(program.base, "/v1/health")).rejects.toThrow();
});

/** A request whose headers are taken at once and whose body comes on a call. */
function slowUpload(program: Program, full_name: string): { readonly taken: Promise<void>; finish(): Promise<string> } {
  const body = JSON.stringify({ full_name });
  const head = `POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(Number(new URL(program.base).port), "127.0.0.1", () => socket.write(head));
  let text = "";
  const taken = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      text += chunk.toString();
      // 100 Continue: the request is taken.
      resolve();
    });
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  return {
    taken,
    async finish() {
      socket.write(body);
      await closed;
      return text.replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    },
  };
}
