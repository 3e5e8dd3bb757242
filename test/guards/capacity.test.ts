// The bound on what an instance works on at once: what is above it is refused before all else, in the caller's protocol.
import { connect } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCapacity } from "../../src/guards/capacity.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { until } from "../../src/embedded/wait.ts";
import type { TestService } from "../support/service.ts";
import { startService } from "../support/service.ts";

/** One request at a time. */
let service: TestService;
let key: string;

beforeAll(async () => {
  service = await startService({ MAX_IN_FLIGHT: "1" });
  ({ key } = await service.account());
});
afterAll(() => service.stop());

const atOnce = <T>(send: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 40 }, send));

test("above the bound REST answers 503 in the envelope, with the common headers and without Retry-After, and the rest is answered [RTE-04, RTE-05]", async () => {
  const answers = await atOnce(() => service.rest("/v1/contacts?query=ann", { key }));
  const refused = answers.filter(({ status }) => status === 503);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
  for (const { headers, body } of refused) {
    expect(body).toEqual({ error: { code: "503", message: "The service has too many requests at once; try again." } });
    expect([headers.get("Retry-After"), headers.get("RateLimit-Limit")]).toEqual([null, "100000"]);
    expect(headers.get("X-Request-Id")).toMatch(/./);
  }
  const metrics = await (await fetch(`${service.internal}/metrics`)).text();
  expect(metrics).toContain(`\nrecords_overloaded_total ${refused.length}\n`);
});

test("above the bound gRPC answers UNAVAILABLE, and the rest is answered [WIR-08]", async () => {
  const client = createClient(ContactService, createGrpcTransport({ baseUrl: service.base }));
  const call = (): Promise<string> => client.searchContacts({ query: "ann" }, { headers: { authorization: `Bearer ${key}` } }).then(() => "ok", (error: unknown) => Code[ConnectError.from(error).code]);
  expect(new Set(await atOnce(call))).toEqual(new Set(["ok", "Unavailable"]));
});

test("an unknown path is refused like all others, and health never is [HLT-01, HLT-04]", async () => {
  expect(new Set((await atOnce(() => service.rest("/v1/nothing"))).map(({ status }) => status))).toEqual(new Set([404, 503]));
  const [healthy] = await Promise.all([atOnce(() => service.rest("/v1/health")), atOnce(() => service.rest("/v1/contacts?query=ann", { key }))]);
  expect(new Set(healthy.map(({ status }) => status))).toEqual(new Set([200]));
});

test("the internal listener has no such bound [RTE-17]", async () => {
  const answers = await atOnce(() => service.internalCall("records.admin.v1.AccountService/ListAccounts", {}));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

test("a request takes no place while its body comes in", async () => {
  const body = JSON.stringify({ full_name: "Slow" });
  const head = `POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(Number(new URL(service.base).port), "127.0.0.1", () => socket.write(head));
  let received = "";
  // 100 Continue: the head was taken, and it is being found out whose it is.
  await new Promise<void>((resolve) => socket.on("data", (chunk: Buffer) => void ((received += chunk.toString()), resolve())));
  await until(async () => (await service.rest("/v1/contacts?query=ann", { key })).status === 200, AbortSignal.timeout(20_000));
  for (let turn = 0; turn < 5; turn++) expect((await service.rest("/v1/contacts?query=ann", { key })).status).toBe(200);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(body);
  await closed;
  expect(received).toContain("HTTP/1.1 201 Created");
});

test("a place is free again when the work is done, also when it fails", async () => {
  let refusals = 0;
  const capacity = createCapacity(2, () => (refusals += 1));
  let end: (() => void) | undefined;
  const first = capacity.count(() => new Promise<void>((resolve) => (end = resolve)));
  capacity.require();
  const second = capacity.count(() => Promise.reject(new Error("no")));
  expect(() => capacity.require()).toThrow("The service has too many requests at once; try again.");
  expect(refusals).toBe(1);
  await expect(second).rejects.toThrow("no");
  capacity.require();
  end?.();
  await first;
  expect(refusals).toBe(1);
});
