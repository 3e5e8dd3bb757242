// What Prometheus is shown: requests, commands and state, with labels that no caller can multiply and nothing of a request's content.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { http2Call } from "../rpc/http2-call.ts";
import type { TestAccount, TestService } from "../support/service.ts";
import { startService } from "../support/service.ts";

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
  const line = (await text(from)).split("\n").find((one) => new RegExp(`^${name}[ {]`).test(one) && Object.entries(labels).every(([label, wanted]) => one.includes(`${label}="${wanted}"`)));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

/** Waits until the series has grown to this: the line of a request is written when its answer is closed. */
async function expectValue(wanted: number, name: string, labels: Record<string, string> = {}, from = service): Promise<void> {
  await until(async () => (await value(name, labels, from)) === wanted, AbortSignal.timeout(5_000)).catch(() => undefined);
  expect(await value(name, labels, from)).toBe(wanted);
}

test("a request is counted and measured by wire, method, template and status", async () => {
  for (let count = 0; count < 3; count++) await service.rest(`/v1/sessions/${randomUUID()}`, { key: owner.key });
  const labels = { listener: "public", wire: "rest", method: "GET", route: "/v1/sessions/{session_id}", status: "404" };
  await expectValue(3, "records_requests_total", labels);
  await expectValue(3, "records_request_duration_seconds_count", labels);
  await expectValue(0, "records_requests_in_flight", { listener: "public" });
});

test("a failed gRPC call counts with the status that REST has for it", async () => {
  const client = createClient(ContactService, createGrpcTransport({ baseUrl: service.base }));
  await client.getContact({ contactId: randomUUID() }, { headers: { authorization: `Bearer ${owner.key}` } }).catch(() => undefined);
  await client.getContact({ contactId: randomUUID() }).catch(() => undefined);
  const labels = { wire: "grpc", method: "POST", route: "/records.v1.ContactService/GetContact" };
  await expectValue(1, "records_requests_total", { ...labels, status: "404" });
  await expectValue(1, "records_requests_total", { ...labels, status: "401" });
});

test("whatever paths, methods and names callers make up, the series stay as many as they were", async () => {
  const series = async (): Promise<number> => (await text()).split("\n").filter((line) => /^records_(requests|request_duration)/.test(line)).length;
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

test("commands to MongoDB and Redis are counted by name and outcome, and measured", async () => {
  const before = { find: await value("records_mongodb_commands_total", { command: "aggregate", outcome: "ok" }) ?? 0, script: await value("records_redis_commands_total", { command: "evalsha", outcome: "ok" }) ?? 0 };
  for (let count = 0; count < 4; count++) await service.rest("/v1/contacts?query=ann", { key: owner.key });
  expect(await value("records_mongodb_commands_total", { command: "aggregate", outcome: "ok" })).toBeGreaterThanOrEqual(before.find + 4);
  expect(await value("records_mongodb_command_duration_seconds_count", { command: "aggregate", outcome: "ok" })).toBeGreaterThanOrEqual(before.find + 4);
  expect(await value("records_redis_commands_total", { command: "evalsha", outcome: "ok" })).toBeGreaterThanOrEqual(before.script + 4);
  await service.app.client.db().command({ noSuchCommand: 1 }).catch(() => undefined);
  expect(await value("records_mongodb_commands_total", { command: "noSuchCommand", outcome: "failed" })).toBe(1);
});

test("replays and refusals by the throttle are counted", async () => {
  const slow = await service.another({ RATE_LIMIT: "1", RATE_BURST: "3" });
  const { key } = await service.account();
  const headers = { "Idempotency-Key": randomUUID() };
  for (let count = 0; count < 3; count++) await slow.rest("/v1/contacts", { key, body: { full_name: "Ann Lee", email: "ann@example.com" }, headers });
  expect((await slow.rest("/v1/contacts?query=ann", { key })).status).toBe(429);
  await expectValue(2, "records_idempotent_replays_total", { wire: "rest" }, slow);
  await expectValue(1, "records_throttled_total", { listener: "public", wire: "rest" }, slow);
  await slow.stop();
});

test("the state of the instance is shown: ready, MongoDB, Redis, both switches, release", async () => {
  for (const name of ["records_ready", "records_mongodb_up", "records_redis_up"]) expect(await value(name), name).toBe(1);
  expect(await value("records_build_info", { node_version: process.version })).toBe(1);
  const other = await startService();
  expect(await value("records_switch_enabled", { switch: "writes" }, other)).toBe(1);
  await other.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: false, reason: "test" });
  expect(await value("records_switch_enabled", { switch: "writes" }, other)).toBe(0);
  expect(await value("records_switch_enabled", { switch: "public_interface" }, other)).toBe(1);
  await other.stop();
});

test("without Redis the callers who have a bucket of the instance are counted", async () => {
  const alone = await service.another({ REDIS_URL: "" });
  expect(await value("records_throttle_fallback_buckets", {}, alone)).toBe(0);
  await alone.rest("/v1/contacts?query=ann", { key: owner.key });
  await alone.rest("/v1/contacts?query=ann");
  expect(await value("records_throttle_fallback_buckets", {}, alone)).toBe(2);
  await alone.stop();
});
