// The throttle as callers meet it: how many requests pass, who is charged, and what the refusal says on every wire.
import { setTimeout as sleep } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newSecret } from "../../src/api-keys/secret.ts";
import { connectRedis } from "../../src/db/redis.ts";
import { RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { pipelined, tallied } from "../http/pipelined.ts";
import { grpcCall, http2Call } from "../rpc/http2-call.ts";
import { listenToRedis } from "../support/commands.ts";
import type { RestAnswer, RestCall, TestService } from "../support/service.ts";
import { startService } from "../support/service.ts";

/** As the contract has it: 10 a second, 20 at once. */
let service: TestService;
/** One request at once and one a second: of many at once nearly all are refused. */
let tight: TestService;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: "10", RATE_BURST: "20", TRUST_PROXY: "1" });
  tight = await service.another({ RATE_LIMIT: "1", RATE_BURST: "1" });
});
afterAll(async () => {
  await tight.stop();
  await service.stop();
});

/** An address of its own for every test: the header is written by the proxy that TRUST_PROXY stands for. */
function from(address = randomBytes(4).join(".")): Record<string, string> {
  return { "X-Forwarded-For": address };
}

async function atOnce(count: number, send: (turn: number) => Promise<RestAnswer>): Promise<{ readonly answers: RestAnswer[]; readonly passed: number; readonly seconds: number }> {
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: count }, (_, turn) => send(turn)));
  return { answers, passed: answers.filter(({ status }) => status !== 429).length, seconds: (performance.now() - began) / 1_000 };
}

function expectRefused({ status, headers, body }: RestAnswer): void {
  expect(status).toBe(429);
  expect(headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  expect(body.error).toMatchObject({ code: "429", message: "Too many requests: try again in 1 second." });
}

/** Sends many at once to the tight instance, and expects all but one a second, and the first, to be refused. */
async function expectThrottled(path: string, call: RestCall): Promise<void> {
  const { answers, passed, seconds } = await atOnce(12, () => tight.rest(path, call));
  expect(passed, `${call.method ?? "GET"} ${path}`).toBeLessThanOrEqual(2 + Math.floor(seconds));
  for (const answer of answers.filter(({ status }) => status === 429)) {
    if (call.method === "HEAD") expect(answer.text).toBe("");
    else expectRefused(answer);
  }
}

test("a full bucket lets 20 requests through at once, and the next is 429 [RTE-01, RTE-09]", async () => {
  const { key } = await service.account();
  const { answers, passed, seconds } = await atOnce(40, () => service.rest("/v1/contacts?query=ann", { key }));
  expect(passed).toBeGreaterThanOrEqual(20);
  expect(passed).toBeLessThanOrEqual(21 + Math.ceil(seconds * 10));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  for (const answer of answers.filter(({ status }) => status === 429)) expectRefused(answer);
});

test("the bucket refills at 10 a second [RTE-02]", async () => {
  const { key } = await service.account();
  await atOnce(30, () => service.rest("/v1/health", { key }));
  const began = performance.now();
  let passed = 0;
  while (performance.now() - began < 2_000) {
    if ((await service.rest("/v1/health", { key })).status === 200) passed++;
    await sleep(10);
  }
  const due = (performance.now() - began) / 100;
  expect(passed).toBeGreaterThanOrEqual(due * 0.8 - 1);
  expect(passed).toBeLessThanOrEqual(due + 4);
});

test("after as many seconds as Retry-After says a request passes [RTE-03]", async () => {
  const { key } = await service.account();
  const { answers } = await atOnce(40, () => service.rest("/v1/contacts?query=ann", { key }));
  const refused = answers.find(({ status }) => status === 429);
  const seconds = Number(refused?.headers.get("Retry-After"));
  expect(seconds).toBe(1);
  await sleep(seconds * 1_000);
  expect((await service.rest("/v1/contacts?query=ann", { key })).status).toBe(200);
});

test("two instances charge one bucket [RTE-08, OPS-17]", async () => {
  const second = await service.another();
  try {
    const { key } = await service.account();
    await Promise.all([service, second].map((instance) => instance.rest("/v1/health")));
    const { passed, seconds } = await atOnce(60, (turn) => (turn % 2 === 0 ? service : second).rest("/v1/contacts?query=ann", { key }));
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(passed).toBeLessThanOrEqual(21 + Math.ceil(seconds * 10));
  } finally {
    await second.stop();
  }
});

test("a request with a valid key is charged to its account, wherever it comes from [RTE-09]", async () => {
  const [one, other] = await Promise.all([tight.account(), tight.account()]);
  await expectThrottled("/v1/contacts?query=ann", { key: one.key, headers: from() });
  const { passed } = await atOnce(12, () => tight.rest("/v1/contacts?query=ann", { key: one.key, headers: from() }));
  expect(passed).toBeLessThanOrEqual(3);
  const address = from();
  await expectThrottled("/v1/health", { headers: address });
  expect((await tight.rest("/v1/contacts?query=ann", { key: other.key, headers: address })).status).toBe(200);
});

test("health with a valid key is charged to its account, and is 429 over the throttle [RTE-09, HLT-04]", async () => {
  const { key } = await tight.account();
  const { answers, passed } = await atOnce(12, () => tight.rest("/v1/health", { key, headers: from() }));
  expect(passed).toBeLessThanOrEqual(3);
  expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 429]);
});

test("a request without a valid key is charged to its address: with none, an unknown, a malformed one [RTE-11]", async () => {
  const address = from();
  const credentials = [{}, { Authorization: `Bearer ${newSecret()}` }, { Authorization: "Bearer rec_wrong" }, { Authorization: "Basic eDp5" }];
  const { passed, seconds } = await atOnce(16, (turn) => tight.rest("/v1/contacts?query=ann", { headers: { ...address, ...credentials[turn % 4] } as Record<string, string> }));
  expect(passed).toBeLessThanOrEqual(2 + Math.floor(seconds));
  const { passed: elsewhere } = await atOnce(8, () => tight.rest("/v1/health", { headers: from() }));
  expect(elsewhere).toBe(8);
});

test("a revoked key is charged to the address from then on [RTE-09, RTE-11]", async () => {
  const { id, key } = await tight.account();
  expect((await tight.rest("/v1/sessions", { key, headers: from() })).status).toBe(200);
  await tight.app.services.apiKeys.revoke(new UUID(id));
  await sleep(1_100);
  // The first look-up finds out; an instance that remembers the key charges the key once more at most.
  await tight.rest("/v1/sessions", { key, headers: from() });
  const { passed } = await atOnce(8, () => tight.rest("/v1/sessions", { key, headers: from() }));
  expect(passed).toBe(8);
});

test("a rotated key keeps the bucket of the old one, and the operations on it take from the same [RTE-09, RTE-10]", async () => {
  const { id, key } = await tight.account();
  await expectThrottled("/v1/health", { key, headers: from() });
  const account = new UUID(id);
  const keys = tight.app.services.apiKeys;
  for (let rotation = 0; rotation < 4; rotation++) {
    await keys.revoke(account);
    const { secret } = await keys.create(account, "read_write");
    const { passed, seconds } = await atOnce(6, () => tight.rest("/v1/sessions", { key: secret, headers: from() }));
    expect(passed).toBeLessThanOrEqual(1 + Math.ceil(seconds));
  }
});

test("many requests at once with one key are 200 or 429, never 503, with a place for one alone, over REST and gRPC; most of them ask Redis for nothing [RTE-22, RTE-03, RTE-14]", async () => {
  const narrow = await service.another({ MAX_IN_FLIGHT: "1", RATE_LIMIT: "1" });
  const transport = createGrpcTransport({ baseUrl: narrow.base });
  const client = createClient(ContactService, transport);
  try {
    const [one, other] = await Promise.all([narrow.account(), narrow.account()]);
    const heard = await listenToRedis(service.redis.uri);
    const answers = await pipelined(narrow.base, "/v1/contacts?query=ann", 200, () => [`Authorization: Bearer ${one.key}`]);
    expect(Object.keys(tallied(answers))).toEqual(["200", "429"]);
    expect(tallied(answers)[200]).toBeGreaterThanOrEqual(20);
    for (const { status, headers } of answers) expect(headers.get("retry-after")).toBe(status === 429 ? "1" : undefined);
    // As many as there are tokens, and one for each that comes back meanwhile.
    expect((await heard.stop()).filter((name) => name === "evalsha").length).toBeLessThan(60);
    const counted = /^records_throttled_from_memory_total (\d+)$/m.exec(await (await fetch(`${narrow.internal}/metrics`)).text());
    expect(Number(counted?.[1])).toBeGreaterThan(100);
    const call = (): Promise<string> => client.searchContacts({ query: "ann" }, { headers: { authorization: `Bearer ${other.key}` } }).then(() => "ok", (error: unknown) => Code[ConnectError.from(error).code]);
    expect(await call()).toBe("ok");
    const told = await Promise.all(Array.from({ length: 60 }, call));
    expect([...new Set(told)].sort()).toEqual(["ResourceExhausted", "ok"]);
  } finally {
    await narrow.stop();
  }
});

test("an unknown rpc is UNIMPLEMENTED to a gRPC client, and RESOURCE_EXHAUSTED with RetryInfo while it is throttled; on other wires it is 404 and 429 [RTE-14, RTE-22]", async () => {
  const headers = from();
  const call = (rpc: string, type: string): ReturnType<typeof http2Call> => http2Call(tight.base, { ":method": "POST", ":path": `/${rpc}`, "content-type": type, te: "trailers", "x-forwarded-for": headers["X-Forwarded-For"] });
  for (const rpc of ["records.v1.ContactService/Nothing", "records.v9.No/Thing", "grpc.health.v1.Health/Check"]) {
    await sleep(1_100);
    for (const type of ["application/grpc", "application/grpc+proto", "application/grpc-web+proto"]) {
      const answers = [await call(rpc, type), await call(rpc, type)];
      for (const { status, headers: sent } of answers) expect([status, sent["content-type"], sent["retry-after"]]).toEqual([200, type, undefined]);
      const codes = answers.map((answer) => answer.headers["grpc-status"]);
      expect(codes.at(-1)).toBe("8");
      expect(["12", "8"]).toContain(codes[0]);
      if (type === "application/grpc") expect(codes).toEqual(["12", "8"]);
      const error = findTrailerError(new Headers(Object.entries(answers[1]?.headers ?? {}).filter(([name]) => name.startsWith("grpc-")) as [string, string][]));
      expect(error?.code).toBe(Code.ResourceExhausted);
      expect(error?.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({ seconds: 1n, nanos: 0 });
    }
    const connect = await tight.rest(`/${rpc}`, { raw: "{}", headers });
    expectRefused(connect);
    expect((await tight.rest(`/${rpc}`, { raw: "{}", headers: from() })).status).toBe(404);
  }
});

test("one address is one bucket however it is spelled, mapped or followed by a port, and an IPv6 network is one as well [RTE-19]", async () => {
  const part = randomBytes(2).toString("hex");
  const spellings = [
    Array.from({ length: 12 }, (_, turn) => `203.0.113.77:${1_000 + turn}`).concat("::ffff:203.0.113.77", "[::ffff:cb00:714d]:1"),
    Array.from({ length: 12 }, (_, turn) => `2001:db8:${part}:1::${turn.toString(16)}`).concat(`[2001:DB8:${part}:0001:ffff::]:443`),
  ];
  for (const addresses of spellings) {
    const { passed, seconds } = await atOnce(addresses.length, (turn) => tight.rest("/v1/health", { headers: from(addresses[turn]) }));
    expect(passed).toBeLessThanOrEqual(2 + Math.floor(seconds));
  }
  const { passed } = await atOnce(8, (turn) => tight.rest("/v1/health", { headers: from(`2001:db8:${part}:${turn + 2}::1`) }));
  expect(passed).toBe(8);
});

test.each([
  ["GET", "/v1/health"],
  ["HEAD", "/v1/health"],
  ["GET", "/v1/no/such/path"],
  ["GET", "/v1"],
  ["GET", "/v1/contacts/"],
  ["DELETE", "/v1/contacts"],
  ["PUT", "/v1/health"],
  ["OPTIONS", "/v1/contacts"],
  ["GET", "/v1/contacts?query=a"],
  ["POST", "/v1/contacts"],
  ["GET", "/v1/contacts/not-a-uuid"],
  ["GET", "/v1/%ff"],
])("any request can be 429, before everything else: %s %s [ERR-10, HLT-04]", async (method, path) => {
  await expectThrottled(path, { method, headers: from() });
});

test("no answer but 429 carries Retry-After [RTE-04]", async () => {
  const [account, reader] = await Promise.all([service.account(), service.account("read_only")]);
  const { key } = account;
  const answers = await Promise.all([
    service.rest("/v1/health", { headers: from() }),
    service.rest("/v1/nothing", { headers: from() }),
    service.rest("/v1/health", { method: "DELETE", headers: from() }),
    service.rest("/v1/sessions", { headers: from() }),
    service.rest("/v1/contacts", { key: reader.key, body: { full_name: "Ann" } }),
    service.rest("/v1/contacts", { key, body: { full_name: "" } }),
    service.rest("/v1/contacts", { key, body: { full_name: "Ann" } }),
    service.rest("/v1/contacts/8c0f6f0e-8f0d-4b43-9d0e-000000000000", { key }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 405, 401, 403, 422, 201, 404]);
  for (const { headers } of answers) expect(headers.has("Retry-After")).toBe(false);
});

test("a throttled gRPC call is RESOURCE_EXHAUSTED with RetryInfo, and HTTP 200 [RTE-14, WIR-08, RTE-07, RTE-04]", async () => {
  const { key } = await tight.account();
  const call = (): ReturnType<typeof grpcCall> => grpcCall(tight.base, "records.v1.ContactService/SearchContacts", Buffer.from("\x0a\x03ann"), { authorization: `Bearer ${key}` });
  const answers = await Promise.all(Array.from({ length: 10 }, call));
  const refused = answers.filter(({ headers }) => headers["grpc-status"] === "8");
  expect(refused.length).toBeGreaterThanOrEqual(7);
  for (const { status, headers } of answers) {
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "content-type": expect.stringMatching(/^application\/grpc/), "ratelimit-limit": "1", "ratelimit-policy": "1;w=1" });
    expect(headers["retry-after"]).toBeUndefined();
  }
  const client = createClient(ContactService, createGrpcTransport({ baseUrl: tight.base }));
  const errors = await Promise.all(
    Array.from({ length: 10 }, () => client.searchContacts({ query: "ann" }, { headers: { authorization: `Bearer ${key}` } }).then(() => undefined, (error: ConnectError) => error)),
  );
  const error = errors.find((one) => one !== undefined);
  expect(error?.code).toBe(Code.ResourceExhausted);
  expect(error?.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({ seconds: 1n, nanos: 0 });
});

test.each([
  ["application/json", "{\"query\":\"ann\"}", 429],
  ["application/json", "no JSON at all", 429],
  ["application/proto", "\x0a\x03ann", 429],
  ["application/grpc-web+proto", "\0\0\0\0\x05\x0a\x03ann", 200],
])("a throttled call in %s is told in its own protocol, whatever its message: %j [RTE-14, WIR-08, WIR-09, RTE-07]", async (type, body, status) => {
  const { key } = await tight.account();
  const send = (): Promise<Response> =>
    fetch(`${tight.base}/records.v1.ContactService/SearchContacts`, { method: "POST", headers: { "Content-Type": type, Authorization: `Bearer ${key}` }, body });
  const answers = await Promise.all(Array.from({ length: 10 }, async () => {
    const response = await send();
    return { status: response.status, headers: response.headers, text: await response.text() };
  }));
  const refused = answers.filter(({ headers, text }) => /resource_exhausted/.test(text) || /grpc-status: ?8/i.test(text) || headers.get("grpc-status") === "8");
  expect(refused.length).toBeGreaterThanOrEqual(7);
  for (const answer of refused) {
    expect(answer.status).toBe(status);
    expect(answer.headers.get("RateLimit-Limit")).toBe("1");
    expect(answer.headers.get("Retry-After")).toBe(status === 429 ? "1" : null);
  }
});

test("the internal listener is not throttled, and takes nothing from the public bucket [RTE-17]", async () => {
  const { id } = await tight.account();
  const { passed } = await atOnce(25, () => tight.internalCall("records.v1.ContactService/SearchContacts", { query: "ann" }, { "records-account-id": id }));
  expect(passed).toBe(25);
});

test("RATE_LIMIT and RATE_BURST set the limits, a burst below the rate too, and the headers follow [RTE-15, RTE-05, RTE-06]", async () => {
  const other = await service.another({ RATE_LIMIT: "7", RATE_BURST: "3" });
  try {
    const { key } = await other.account();
    for (let round = 0; round < 2; round++) {
      const { answers, passed, seconds } = await atOnce(15, () => other.rest("/v1/sessions", { key }));
      expect(passed).toBeGreaterThanOrEqual(3);
      expect(passed).toBeLessThanOrEqual(4 + Math.ceil(seconds * 7));
      for (const { headers } of answers) {
        expect(headers.get("RateLimit-Limit")).toBe("7");
        expect(headers.get("RateLimit-Policy")).toBe("7;w=1");
        expect(headers.has("RateLimit-Remaining") || headers.has("RateLimit-Reset")).toBe(false);
      }
      await sleep(1_000);
    }
  } finally {
    await other.stop();
  }
});

test("what Redis keeps of callers goes by itself, and names no key [RTE-08, KEY-03]", async () => {
  const { key } = await service.account();
  await service.rest("/v1/sessions", { key });
  const link = connectRedis(service.redis.uri, () => undefined);
  await link.firstReady;
  const names = await link.client.keys("*");
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    expect(await link.client.pttl(name), name).not.toBe(-1);
    expect(name).not.toContain(key.slice(8));
  }
  link.close();
});
