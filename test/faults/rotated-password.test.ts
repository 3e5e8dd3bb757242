// Tests an instance whose MongoDB password changes while it runs.
import type { Document } from "mongodb";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import type { TestDatabase } from "../fixtures/databases/database.ts";
import { asAdministrator, createDatabase, directUri } from "../fixtures/databases/database.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";
import { createServices } from "../../src/app/services.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { Proxy } from "../fixtures/network/proxy.ts";
import { startProxy } from "../fixtures/network/proxy.ts";
import { passwordOf } from "../fixtures/service/secrets.ts";
import type { RestResponse, TestAccount, TestService } from "../fixtures/service/service.ts";
import { rest, startInstance } from "../fixtures/service/service.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let database: TestDatabase;
let redis: EmbeddedServer;
let proxy: Proxy;
let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  [database, redis] = await Promise.all([createDatabase(inject("administratorUri")), startOwnRedis()]);
  proxy = await startProxy(new URL(database.uri).host);
  service = await startInstance({ ...database, uri: directUri(database.uri, proxy.host) }, redis, {});
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  await Promise.all([proxy.close(), redis.stop()]);
  await database.drop();
});

const setPassword = (pwd: string): Promise<unknown> =>
  asAdministrator(database.administratorUri, (db) => db.command({ updateUser: "service", pwd }));
const readiness = (): Promise<RestResponse> => rest(service.internal, "/readyz");
const read = (): Promise<RestResponse> => service.rest("/v1/contacts?query=ann", { key: account.key });
const lines = (): Record<string, unknown>[] =>
  service.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
/** Returns the distinct statuses of concurrent reads. */
async function statusesOf(count: number): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: count }, read));
  return [...new Set(responses.map(({ status }) => status))];
}
/** Returns the gauges of MongoDB and readiness. */
async function gauges(): Promise<readonly string[]> {
  const { text } = await rest(service.internal, "/metrics");
  return text.split("\n").filter((line) => /^records_(ready|mongodb_up|mongodb_accepts_connections) /.test(line));
}

/** Returns the problems that the background work of erasures reports in its next run. */
async function problemsOfErasures(): Promise<string[]> {
  const problems: string[] = [];
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    const { erasures } = createServices(service.app.client);
    const background = erasures.follow((what) => problems.push(what));
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    // Commands queue for the one connection that the pool tries to open.
    for (let turn = 0; turn < 5; turn++) await statusesOf(1);
    background.stop();
  } finally {
    vi.useRealTimers();
  }
  return problems;
}

const reason =
  "MongoDB rejects the user or the password of MONGODB_URI (AuthenticationFailed): correct them, and restart the instance";

test("after a password change, readiness, health, metrics and one log line report it, and open connections keep serving [OPS-15]", async () => {
  await proxy.set("gone");
  await proxy.set({ delayMs: 20 });
  await expect.poll(() => statusesOf(4), { timeout: 30_000 }).toEqual([200]);
  await setPassword("another-password");
  // More requests than connections: those that need a new one wait for an open one.
  for (let round = 0; round < 5; round++) expect(await statusesOf(10)).toEqual([200]);
  await proxy.set("fair");
  await expect.poll(async () => (await readiness()).status, { timeout: 30_000 }).toBe(503);
  expect((await readiness()).body).toMatchObject({ status: "unavailable", mongodb: false, reason });
  expect((await service.rest("/v1/health")).body).toMatchObject({ data: { status: "degraded" } });
  expect(await gauges()).toEqual(["records_ready 0", "records_mongodb_up 0", "records_mongodb_accepts_connections 0"]);
  expect(await statusesOf(10)).toEqual([200]);
  const warned = lines().slice(service.linesAtStart);
  expect(warned.filter(({ level, route }) => Number(level) >= 40 && route !== "/readyz")).toEqual([
    expect.objectContaining({
      level: 40,
      code: "AuthenticationFailed",
      reason,
      msg: "this instance cannot get connections to MongoDB: it is not ready",
    }),
  ]);

  await setPassword(passwordOf(database.uri));
  await expect.poll(async () => (await readiness()).status, { timeout: 30_000 }).toBe(200);
  expect(lines().map(({ msg }) => msg)).toContain("this instance can open connections to MongoDB again");
  expect(await statusesOf(10)).toEqual([200]);
});

test("if its connections are gone too, readiness and the request log name the rejected password [OPS-15]", async () => {
  await setPassword("another-password");
  await proxy.set("gone");
  await expect.poll(async () => (await readiness()).status, { timeout: 30_000 }).toBe(503);
  await proxy.set("fair");
  await expect.poll(async () => (await readiness()).body, { timeout: 30_000 }).toMatchObject({ reason });
  expect(await statusesOf(10)).toEqual([503]);
  await expect
    .poll(() => lines().findLast(({ route }) => route === "/v1/contacts"), { timeout: 10_000 })
    .toMatchObject({ status: 503, cause: expect.stringContaining("AuthenticationFailed") });
  expect(await problemsOfErasures()).toEqual([]);
  await setPassword(passwordOf(database.uri));
  await expect.poll(async () => (await readiness()).status, { timeout: 30_000 }).toBe(200);
  expect(await statusesOf(10)).toEqual([200]);
});

test("if the user loses its role, readiness and one log line name that and not the primary [OPS-15]", async () => {
  const reason = "the user of MONGODB_URI may not read the database (Unauthorized): grant it readWrite there";
  const setRoles = (roles: readonly Document[]): Promise<unknown> =>
    asAdministrator(database.administratorUri, (db) => db.command({ updateUser: "service", roles }));
  const { users } = (await asAdministrator(database.administratorUri, (db) =>
    db.command({ usersInfo: "service" }),
  )) as unknown as { readonly users: readonly [{ readonly roles: readonly Document[] }] };
  await setRoles([]);
  await expect.poll(async () => (await readiness()).body.reason, { timeout: 30_000 }).toBe(reason);
  expect((await readiness()).status).toBe(503);
  const lost = "no lease on the primary of MongoDB: requests that need it get 503";
  const logged = expect.poll(() => lines().filter(({ msg }) => msg === lost), { timeout: 10_000 });
  await logged.toEqual([expect.objectContaining({ level: 40, reason })]);
  await setRoles(users[0].roles);
  await expect.poll(async () => (await readiness()).status, { timeout: 30_000 }).toBe(200);
  expect(await statusesOf(10)).toEqual([200]);
});
