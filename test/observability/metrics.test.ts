// What Prometheus is shown: requests, commands and state, with labels that no caller can multiply and nothing of a
// request's content.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { http2Call } from "../fixtures/clients/http2-call.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";
import { importAll, ingestClient, messages } from "../support/streams.ts";

vi.setConfig({ testTimeout: 60_000 });

let service: TestService;
let owner: TestAccount;

beforeAll(async () => {
  service = await startService();
  owner = await service.account();
});
afterAll(() => service.stop());

async function text(from = service): Promise<string> {
  return (await fetch(`${from.internal}/metrics`)).text();
}

/** The value of the series with these labels, in whatever order; undefined where there is none. */
async function value(name: string, labels: Record<string, string> = {}, from = service): Promise<number | undefined> {
  const line = (await text(from))
    .split("\n")
    .find(
      (one) =>
        new RegExp(`^${name}[ {]`).test(one) &&
        Object.entries(labels).every(([label, wanted]) => one.includes(`${label}="${wanted}"`)),
    );
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

/** Waits until the series has grown to this: the line of a request is written when its response is closed. */
async function expectValue(
  wanted: number,
  name: string,
  labels: Record<string, string> = {},
  from = service,
): Promise<void> {
  let last: number | undefined;
  const reached = async (): Promise<boolean> => (last = await value(name, labels, from)) === wanted;
  await until(reached, AbortSignal.timeout(5_000)).catch(() => undefined);
  // The last value read, not a new one: a background task may use a connection again.
  expect(last).toBe(wanted);
}

test("counts and measures a request by wire, method, template and status", async () => {
  for (let count = 0; count < 3; count++) await service.rest(`/v1/sessions/${randomUUID()}`, { key: owner.key });
  const labels = { listener: "public", wire: "rest", method: "GET", route: "/v1/sessions/{session_id}", status: "404" };
  await expectValue(3, "records_requests_total", labels);
  await expectValue(3, "records_request_duration_seconds_count", labels);
  await expectValue(0, "records_requests_in_flight", { listener: "public" });
});

test("counts a failed gRPC call with the status that REST has for it", async () => {
  const client = createClient(ContactService, createGrpcTransport({ baseUrl: service.base }));
  await client
    .getContact({ contactId: randomUUID() }, { headers: { authorization: `Bearer ${owner.key}` } })
    .catch(() => undefined);
  await client.getContact({ contactId: randomUUID() }).catch(() => undefined);
  const labels = { wire: "grpc", method: "POST", route: "/records.v1.ContactService/GetContact" };
  await expectValue(1, "records_requests_total", { ...labels, status: "404" });
  await expectValue(1, "records_requests_total", { ...labels, status: "401" });
});

test("the number of series stays the same, whatever paths, methods and names callers invent", async () => {
  const series = async (): Promise<number> =>
    (await text()).split("\n").filter((line) => /^records_(requests|request_duration)/.test(line)).length;
  const madeUp = async (mark: string): Promise<void> => {
    await service.rest(`/v1/${mark}/${mark}`, { key: owner.key });
    await service.rest(`/docs/${mark}`);
    await service.rest(`/v1/contacts/${mark}`, { key: owner.key });
    await service.rest(`/${mark}`);
    await service.rest(`/records.v1.ContactService/${mark}`, { body: {} });
    await service.internalCall(`records.${mark}/X`, {});
    await service.rest("/v1/contacts", { method: "PROPFIND" });
    await http2Call(service.base, { ":method": `M${mark.toUpperCase()}`, ":path": "/v1/contacts" });
  };
  await madeUp("first");
  await expectValue(2, "records_requests_total", { route: "/v1/contacts", method: "other", wire: "rest" });
  const before = await series();
  for (let count = 0; count < 5; count++) await madeUp(`made${count}up`);
  await expectValue(12, "records_requests_total", { route: "/v1/contacts", method: "other", wire: "rest" });
  expect(await series()).toBe(before);
  expect(await text()).not.toMatch(/made\dup/i);
});

test("counts commands to MongoDB and Redis by name and outcome, and measures them", async () => {
  const before = {
    find: (await value("records_mongodb_commands_total", { command: "aggregate", outcome: "ok" })) ?? 0,
    script: (await value("records_redis_commands_total", { command: "evalsha", outcome: "ok" })) ?? 0,
  };
  for (let count = 0; count < 4; count++) await service.rest("/v1/contacts?query=ann", { key: owner.key });
  expect(await value("records_mongodb_commands_total", { command: "aggregate", outcome: "ok" })).toBeGreaterThanOrEqual(
    before.find + 4,
  );
  expect(
    await value("records_mongodb_command_duration_seconds_count", { command: "aggregate", outcome: "ok" }),
  ).toBeGreaterThanOrEqual(before.find + 4);
  expect(await value("records_redis_commands_total", { command: "evalsha", outcome: "ok" })).toBeGreaterThanOrEqual(
    before.script + 4,
  );
  await service.app.client
    .db()
    .command({ noSuchCommand: 1 })
    .catch(() => undefined);
  expect(await value("records_mongodb_commands_total", { command: "noSuchCommand", outcome: "failed" })).toBe(1);
});

test("a create that is rejected for its caller's reasons is no failed command: neither a duplicate nor one of a suspended account", async () => {
  const { id, key } = await service.account();
  const create = async (): Promise<number> =>
    (await service.rest("/v1/contacts", { key, body: { full_name: "Ann", email: "ann@example.com" } })).status;
  const failed = () => value("records_mongodb_commands_total", { command: "aggregate", outcome: "failed" });
  const before = await failed();
  // The key is known from then on, so that the next proves it and inserts by one command.
  expect([await create(), await create()]).toEqual([201, 409]);
  const keys = service.app.client.db().collection("api_keys");
  await keys.updateOne({ account_id: new UUID(id) }, { $set: { suspended: true } });
  expect(await create()).toBe(403);
  expect(await failed()).toBe(before);
});

test("counts replays and rejections by the throttle", async () => {
  const slow = await service.another({ RATE_LIMIT: "1", RATE_BURST: "3" });
  const { key } = await service.account();
  const headers = { "Idempotency-Key": randomUUID() };
  for (let count = 0; count < 3; count++)
    await slow.rest("/v1/contacts", { key, body: { full_name: "Ann Lee", email: "ann@example.com" }, headers });
  expect((await slow.rest("/v1/contacts?query=ann", { key })).status).toBe(429);
  await expectValue(2, "records_idempotent_replays_total", { wire: "rest" }, slow);
  await expectValue(1, "records_throttled_total", { listener: "public", wire: "rest" }, slow);
  await slow.stop();
});

test("shows the state of the instance: ready, MongoDB, Redis, both switches, release", async () => {
  for (const name of ["records_ready", "records_mongodb_up", "records_redis_up"])
    expect(await value(name), name).toBe(1);
  expect(await value("records_build_info", { node_version: process.version })).toBe(1);
  const other = await startService();
  expect(await value("records_switch_enabled", { switch: "writes" }, other)).toBe(1);
  await other.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: false, reason: "test" });
  expect(await value("records_switch_enabled", { switch: "writes" }, other)).toBe(0);
  expect(await value("records_switch_enabled", { switch: "public_interface" }, other)).toBe(1);
  await other.stop();
});

test("counts the callers with a bucket of the instance if there is no Redis", async () => {
  const alone = await service.another({ REDIS_URL: "" });
  expect(await value("records_throttle_fallback_buckets", {}, alone)).toBe(0);
  await alone.rest("/v1/contacts?query=ann", { key: owner.key });
  await alone.rest("/v1/contacts?query=ann");
  expect(await value("records_throttle_fallback_buckets", {}, alone)).toBe(2);
  await alone.stop();
});

describe("under load and under faults", () => {
  let mongod: OwnMongod;
  let faulty: TestService;
  let account: TestAccount;

  beforeAll(async () => {
    mongod = await startOwnMongod();
    faulty = await startInstance({ ...mongod, uri: `${mongod.uri}&maxPoolSize=4` }, service.redis, {
      MAX_IN_FLIGHT: "8",
    });
    account = await faulty.account();
  });
  afterAll(async () => {
    await faulty.stop();
    await mongod.stop();
  });

  test("shows the pool of MongoDB and the work in flight with their bounds", async () => {
    await faulty.rest("/v1/contacts?query=ann", { key: account.key });
    await expectValue(0, "records_mongodb_pool_connections", { state: "in_use" }, faulty);
    expect(await value("records_mongodb_pool_connections", { state: "available" }, faulty)).toBeGreaterThan(0);
    expect(await value("records_work_in_flight_limit", {}, faulty)).toBe(8);
    const waited = () => value("records_mongodb_pool_wait_seconds_total", {}, faulty);
    const before = (await waited()) ?? 0;
    const block = { failCommands: ["aggregate"], blockConnection: true, blockTimeMS: 1_500, appName: "records" };
    await withFault(mongod, "alwaysOn", block, async () => {
      const read = `/v1/contacts/${randomUUID()}`;
      const responses = Array.from({ length: 12 }, () => faulty.rest(read, { key: account.key }));
      // They wait for half a second at most, and one scrape shows them all.
      let shown = "";
      await until(async () => {
        shown = await (await fetch(`${faulty.internal}/metrics`)).text();
        return shown.includes("\nrecords_work_waiting 6\n");
      }, AbortSignal.timeout(5_000));
      for (const line of [
        'records_mongodb_pool_connections{state="in_use"} 4',
        'records_work_in_flight{credential="verified"} 6',
        'records_work_in_flight{credential="unverified"} 0',
      ])
        expect(shown).toContain(`\n${line}\n`);
      await Promise.all(responses);
    });
    await expectValue(0, "records_mongodb_pool_connections", { state: "in_use" }, faulty);
    expect(await waited()).toBeGreaterThan(before);
    await expectValue(0, "records_work_in_flight", { credential: "verified" }, faulty);
    await expectValue(0, "records_work_waiting", {}, faulty);
  });

  test("does not count connections that cannot be opened, or subtract them from the open ones", async () => {
    const block = { failCommands: ["hello", "isMaster", "saslStart"], closeConnection: true, appName: "records" };
    const before = (await value("records_mongodb_pool_connections", { state: "available" }, faulty)) ?? 0;
    await withFault(mongod, { times: 3 }, block, () =>
      Promise.all(Array.from({ length: 12 }, () => faulty.rest("/v1/contacts?query=ann", { key: account.key }))),
    );
    await until(
      async () => (await faulty.rest("/v1/contacts?query=ann", { key: account.key })).status === 200,
      AbortSignal.timeout(20_000),
    );
    await expectValue(0, "records_mongodb_pool_connections", { state: "in_use" }, faulty);
    expect(await value("records_mongodb_pool_connections", { state: "available" }, faulty)).toBeGreaterThan(0);
    expect(before).toBeGreaterThan(0);
  });

  test("counts each failure of a background task, and logs it once a minute", async () => {
    const failed = async (): Promise<number> =>
      (await value("records_background_failures_total", { task: "abandoned_transactions" }, faulty)) ?? 0;
    const fault = { failCommands: ["aggregate"], errorCode: 13, appName: "records" };
    await withFault(mongod, "alwaysOn", fault, () =>
      until(async () => (await failed()) >= 2, AbortSignal.timeout(20_000)),
    );
    expect(faulty.logLines.filter((line) => line.includes('"task":"abandoned_transactions"'))).toHaveLength(1);
  });
});

test("counts imports by their end, and their records by the result", async () => {
  const counts = async () =>
    Promise.all([
      value("records_imports_total", { outcome: "done" }),
      value("records_imports_total", { outcome: "failed" }),
      value("records_imports_total", { outcome: "broken_off" }),
      value("records_import_items_total", { outcome: "written" }),
      value("records_import_items_total", { outcome: "rejected" }),
    ]);
  expect(await counts()).toEqual([0, 0, 0, 0, 0]);
  const { id } = await service.account();
  await importAll(service, {
    accountId: id,
    records: [
      { contact: { full_name: "Ann" } },
      { contact: { full_name: "Bo", email: "none" } },
      { contact: { full_name: "Cy", email: "none" } },
    ],
  });
  expect(await counts()).toEqual([1, 0, 0, 1, 2]);
  await importAll(service, { accountId: randomUUID(), records: [] }).catch(() => undefined);
  expect(await counts()).toEqual([1, 1, 0, 1, 2]);
  const left = new AbortController();
  const sending = messages({
    accountId: id,
    records: [{ contact: { full_name: "Cy" } }],
    between: () => new Promise(() => undefined),
  });
  const responses = ingestClient(service).import(sending, { signal: left.signal })[Symbol.asyncIterator]();
  await responses.next();
  left.abort();
  await responses.next().catch(() => undefined);
  await expectValue(1, "records_imports_total", { outcome: "broken_off" });
  expect(await counts()).toEqual([1, 1, 1, 1, 2]);
});

test("shows and counts that an identity provider does not respond", async () => {
  expect(await value("records_identity_provider_up")).toBe(1);
  expect((await fetch(`${service.app.baseUrl}/sign-in`)).status).toBe(503);
  expect(await value("records_identity_provider_up")).toBe(0);
  expect(await value("records_identity_provider_failures_total")).toBeGreaterThanOrEqual(1);
});
