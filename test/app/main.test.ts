// The real program with nothing configured: what it starts, what it prints, and how it ends.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import { nothingRuns, running } from "../embedded/machine.ts";
import type { Program } from "../program.ts";
import { dataFolder, endProgram, spawnProgram, startProgram } from "../program.ts";
import { rest } from "../fixtures/service/service.ts";

vi.setConfig({ testTimeout: 120_000 });

interface DemoAccount {
  readonly account_id: string;
  readonly email: string;
  readonly password: string;
  readonly api_key: string | null;
  readonly access: string | null;
}
interface DemoFile {
  readonly base_url: string;
  readonly internal_url: string;
  readonly service_token: string;
  readonly issuer: string;
  readonly mongodb_uri: string;
  readonly redis_url: string;
  readonly accounts: readonly DemoAccount[];
}

const folder = dataFolder();
const collectorToken = "a-token-of-the-collector";
/** The one that runs: a test that ends it starts it again. */
let program: Program;

beforeAll(async () => {
  // Without an endpoint the headers have no effect.
  program = await startProgram({
    DATA_DIR: folder.path,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${collectorToken}`,
  });
});
afterAll(async () => {
  await endProgram(program);
  await nothingRuns(folder.path);
  folder.remove();
});

function demo(): DemoFile {
  return JSON.parse(readFileSync(join(folder.path, "demo.json"), "utf8")) as DemoFile;
}

function keyOf(name: string): string {
  return demo().accounts.find(({ email }) => email === `${name}@example.com`)?.api_key ?? "";
}

async function names(name: string): Promise<string[]> {
  const { status, body } = await rest(program.base, "/v1/contacts?query=example", { key: keyOf(name) });
  expect([status, body]).toEqual([200, expect.anything()]);
  return (body.data as { id: string }[]).map(({ id }) => id).sort();
}

test("prints every address, and serves health there, ok, once everything is up [OPS-01, OPS-11, OPS-12, HLT-02]", async () => {
  expect(program.base).toMatch(/^http:\/\/localhost:\d+$/);
  expect(program.internal).toMatch(/^http:\/\/localhost:\d+$/);
  expect(program.stdout).toMatch(/^ {2}MongoDB +mongodb:\/\/127\.0\.0\.1:\d+\//m);
  expect(program.stdout).toContain(`  dashboard             ${program.base}\n`);
  expect(program.stdout).toContain(`  identity provider     ${demo().issuer} (for development)\n`);
  expect(await (await fetch(`${demo().issuer}/.well-known/openid-configuration`)).json()).toMatchObject({
    issuer: demo().issuer,
  });
  expect(program.stdout).toMatch(/^ {2}Redis +redis:\/\/127\.0\.0\.1:\d+ /m);
  const { status, body } = await rest(program.base, "/v1/health");
  expect([status, body]).toEqual([200, { data: { status: "ok", version: "1.0.0" } }]);
  expect((await fetch(`${program.internal}/readyz`)).status).toBe(200);
});

test("demo.json is readable by its owner alone and has exactly the contract's shape and accounts [OPS-05, OPS-06]", () => {
  expect(statSync(join(folder.path, "demo.json")).mode & 0o777).toBe(0o600);
  const { accounts, ...rest } = demo();
  const mongodb_uri = expect.stringMatching(/^mongodb:\/\/records:\w{64}@127\.0\.0\.1:\d+\/records\?/);
  const redis_url = expect.stringMatching(/^redis:\/\/:\w{64}@127\.0\.0\.1:\d+$/);
  expect(rest).toEqual({
    base_url: program.base,
    internal_url: program.internal,
    service_token: expect.stringMatching(/^\S{32,}$/),
    issuer: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    mongodb_uri,
    redis_url,
  });
  const key = expect.stringMatching(/^rec_[0-9A-Za-z]{49}$/);
  const password = expect.stringMatching(/^[\w-]{16}$/);
  const account_id = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(accounts).toEqual([
    { account_id, email: "demo@example.com", password, api_key: key, access: "read_write" },
    { account_id, email: "second@example.com", password, api_key: key, access: "read_write" },
    { account_id, email: "reader@example.com", password, api_key: key, access: "read_only" },
    { account_id, email: "enrolled@example.com", password, api_key: null, access: null },
    { account_id, email: "waiting@example.com", password, api_key: null, access: null },
  ]);
});

test("the demo's keys work, the reader's for reading only, and the accounts have different data [OPS-06, AUT-05]", async () => {
  const lists = await Promise.all(
    ["demo", "second", "reader"].map((name) => rest(program.base, "/v1/sessions?limit=25", { key: keyOf(name) })),
  );
  const ids = lists.map(({ status, body }) => {
    expect(status).toBe(200);
    return (body.data as { id: string }[]).map(({ id }) => id);
  });
  expect(ids[0]?.length).toBe(25);
  for (const id of ids[0] ?? []) expect(ids[1]).not.toContain(id);
  const writes = await Promise.all(
    ["demo", "second", "reader"].map((name) =>
      rest(program.base, "/v1/contacts", { key: keyOf(name), body: { full_name: "Demo Check" } }),
    ),
  );
  expect(writes.map(({ status }) => status)).toEqual([201, 201, 403]);
});

test("each of the demo's users signs in with their password and sees their account, enrolled or not [OPS-06, OPS-01, DSH-01]", async () => {
  for (const { email, password, access } of demo().accounts) {
    const browser = createBrowser();
    const home = await browser.submit(await browser.open(`${program.base}/sign-in`), { login: email, password });
    expect(home.url.href).toBe(`${program.base}/`);
    expect(home.text).toContain(email);
    const { status, body } = await rest(program.base, "/v1/api-key", {
      headers: { Cookie: browser.cookiesFor(program.base) },
    });
    expect([email, status, body.data?.access]).toEqual([email, access === null ? 404 : 200, access ?? undefined]);
    expect(home.text.includes("Not enrolled in the beta")).toBe(email === "waiting@example.com");
  }
});

test("the service token of demo.json gives access to the internal listener; admin, metrics and probes are not public [ADM-01, ISO-09, OPS-10, OPS-13]", async () => {
  const call = (base: string) =>
    fetch(`${base}/records.admin.v1.AccountService/ListAccounts`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${demo().service_token}` },
      body: "{}",
    });
  const inside = await call(program.internal);
  expect(inside.status).toBe(200);
  expect(((await inside.json()) as { accounts: unknown[] }).accounts).toHaveLength(5);
  expect((await call(program.base)).status).toBe(404);
  for (const path of ["/metrics", "/livez", "/readyz"]) {
    expect([(await fetch(program.internal + path)).status, (await fetch(program.base + path)).status]).toEqual([
      200, 404,
    ]);
  }
  expect(statSync(join(folder.path, "service-token")).mode & 0o777).toBe(0o600);
});

test("the URIs of demo.json connect to the embedded MongoDB and Redis, and no password is printed [OPS-05, EMB-05]", async () => {
  const { mongodb_uri, redis_url } = demo();
  const client = await MongoClient.connect(mongodb_uri);
  expect(await client.db().collection("accounts").countDocuments()).toBe(5);
  await client.close();
  const redis = new Redis(redis_url);
  expect(await redis.ping()).toBe("PONG");
  redis.disconnect();
  for (const uri of [mongodb_uri, redis_url])
    expect(program.stdout + program.stderr).not.toContain(new URL(uri).password);
});

test("mongod and Redis get no secret of the settings in their environment [EMB-05]", async () => {
  const servers = (await running(folder.path)).filter(({ where }) => /mongod|redis-server/.test(where));
  expect(servers.length).toBeGreaterThanOrEqual(2);
  expect(readFileSync(`/proc/${program.pid}/environ`, "utf8")).toContain(collectorToken);
  for (const { pid } of servers) expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain(collectorToken);
});

test("rejects a second program on the same data folder with one line, and the first continues [OPS-14, OPS-21]", async () => {
  const other = spawnProgram({ DATA_DIR: folder.path });
  expect(await other.ended).toBe(1);
  expect(other.stderr).toMatch(/^records: [^\n]*\n$/);
  expect(other.stderr).toContain(folder.path);
  expect((await rest(program.base, "/v1/health")).body.data.status).toBe("ok");
});

test("Ctrl-C ends it with 0 and leaves nothing running; the next start finds its data, its keys and its token, and adds no demo data [OPS-02, OPS-13, OPS-21]", async () => {
  const before = demo();
  const records = await names("demo");
  expect(records.length).toBeGreaterThan(5);
  expect((await running(folder.path)).length).toBeGreaterThanOrEqual(2);
  process.kill(-program.pid, "SIGINT");
  // npm forwards the Ctrl-C that the terminal has sent to all processes, which is not a second one.
  process.kill(-program.pid, "SIGINT");
  expect(await program.ended).toBe(0);
  expect(program.stderr).toBe("");
  await nothingRuns(folder.path);
  program = await startProgram({ DATA_DIR: folder.path });
  expect(program.stdout).not.toContain("Creating the demo data");
  const elsewhere = { base_url: "", internal_url: "", mongodb_uri: "", redis_url: "" };
  expect({ ...demo(), ...elsewhere }).toEqual({ ...before, ...elsewhere });
  expect(new URL(demo().mongodb_uri).password).toBe(new URL(before.mongodb_uri).password);
  expect(await names("demo")).toEqual(records);
  expect((await rest(program.base, "/v1/health")).body.data.status).toBe("ok");
});

test("after SIGKILL the next start cleans up everything, and no acknowledged record is lost [OPS-21, OPS-02]", async () => {
  const before = demo();
  const { status, body } = await rest(program.base, "/v1/contacts", {
    key: keyOf("demo"),
    body: { full_name: "Kept Through" },
  });
  expect(status).toBe(201);
  process.kill(program.pid, "SIGKILL");
  expect(await program.ended).toBe("SIGKILL");
  program = await startProgram({ DATA_DIR: folder.path });
  expect(demo().accounts).toEqual(before.accounts);
  const read = await rest(program.base, `/v1/contacts/${body.data.id}`, { key: keyOf("demo") });
  expect([read.status, read.body]).toEqual([200, body]);
});

test("an embedded server that is killed is named in the log and restarted with its data [OPS-21, OPS-02]", async () => {
  const before = await names("demo");
  const pids = (): (string | undefined)[] =>
    ["mongod.", "redis."].map((role) =>
      readdirSync(join(folder.path, "processes")).find((name) => name.startsWith(role)),
    );
  const killed = pids();
  for (const name of killed) process.kill(Number(/\.(\d+)-/.exec(name ?? "")?.[1]), "SIGKILL");
  const responds = async (): Promise<unknown> => (await fetch(`${program.internal}/readyz`)).json();
  const isNew = (name: string | undefined): boolean => name !== undefined && !killed.includes(name);
  await expect.poll(() => pids().every(isNew), { timeout: 60_000 }).toBe(true);
  // The instance still seems ready until the lease of the killed mongod has passed.
  const { mongodb_uri, redis_url } = demo();
  const client = await MongoClient.connect(mongodb_uri, { serverSelectionTimeoutMS: 60_000 });
  await client.close();
  const redis = new Redis(redis_url);
  await redis.ping();
  redis.disconnect();
  await expect.poll(responds, { timeout: 60_000 }).toEqual({ status: "ok", mongodb: true, redis: true });
  expect(await names("demo")).toEqual(before);
  for (const role of ["mongod", "redis"])
    await expect.poll(() => program.stdout).toContain(`the embedded ${role} has ended (SIGKILL): it is started again`);
});
