// The throttle's rejection on every wire: 429 or RESOURCE_EXHAUSTED, with the time to retry.
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { expect, test } from "vitest";
import { RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { pipelined } from "../http/pipelined.ts";
import type { Http2Response } from "../fixtures/clients/http2-call.ts";
import { grpcCall, http2Call } from "../fixtures/clients/http2-call.ts";
import { listenToRedis } from "../fixtures/databases/commands.ts";
import { atOnce, expectThrottled, useThrottled } from "./throttled.ts";
import { from } from "../fixtures/service/from.ts";

const { service, tight } = useThrottled();

test("a request succeeds after as many seconds as Retry-After says [RTE-03]", async () => {
  const { key } = await service().account();
  // Its bucket has one token, so that even a busy machine sends more than it can serve.
  const { responses } = await atOnce(12, () => tight().rest("/v1/contacts?query=ann", { key }));
  const rejected = responses.find(({ status }) => status === 429);
  const seconds = Number(rejected?.headers.get("Retry-After"));
  expect(seconds).toBe(1);
  await sleep(seconds * 1_000);
  expect((await tight().rest("/v1/contacts?query=ann", { key })).status).toBe(200);
});

test.each([
  ["no header", []],
  ["a cookie that is not ours", ["Cookie: _ga=1; x=y"]],
])("with %s, the bucket of the address rejects from memory [RTE-20, RTE-22]", async (_what, headers) => {
  const narrow = await service().another({ RATE_LIMIT: "1", RATE_BURST: "5", TRUST_PROXY: "1" });
  try {
    const [name = "", address = ""] = Object.entries(from())[0] ?? [];
    await pipelined(narrow.base, "/v1/contacts?query=ann", 300, () => [...headers, `${name}: ${address}`]);
    const page = await (await fetch(`${narrow.internal}/metrics`)).text();
    expect(Number(/^records_throttled_from_memory_total (\d+)$/m.exec(page)?.[1])).toBeGreaterThan(200);
    // Most have no line of their own.
    expect(narrow.logLines.filter((line) => line.includes('"status":429')).length).toBeLessThan(100);
  } finally {
    await narrow.stop();
  }
});

/**
 * Sends requests in four lanes: fewer at a time than the instance serves, because the first ones would otherwise be
 * shed as overload.
 */
async function inLanes<T>(length: number, send: () => Promise<T>): Promise<T[]> {
  const lane = async (): Promise<T[]> => {
    const results: T[] = [];
    for (let at = 0; at < length; at++) results.push(await send());
    return results;
  };
  return (await Promise.all([lane(), lane(), lane(), lane()])).flat();
}

test("many requests with one key are 200 or 429, on REST and gRPC; most need no Redis command [RTE-22, RTE-03, RTE-14]", async () => {
  const narrow = await service().another({ MAX_IN_FLIGHT: "8", RATE_LIMIT: "1" });
  const transport = createGrpcTransport({ baseUrl: narrow.base });
  const client = createClient(ContactService, transport);
  try {
    const [one, other] = await Promise.all([narrow.account(), narrow.account()]);
    const monitor = await listenToRedis(service().redis.uri);
    const responses = await inLanes(50, () => narrow.rest("/v1/contacts?query=ann", { key: one.key }));
    expect([...new Set(responses.map(({ status }) => status))].sort()).toEqual([200, 429]);
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20);
    for (const { status, headers } of responses) expect(headers.get("retry-after")).toBe(status === 429 ? "1" : null);
    // One for each token in the bucket, and one for each token of the refill.
    expect((await monitor.stop()).filter((name) => name === "evalsha").length).toBeLessThan(60);
    const counted = /^records_throttled_from_memory_total (\d+)$/m.exec(
      await (await fetch(`${narrow.internal}/metrics`)).text(),
    );
    expect(Number(counted?.[1])).toBeGreaterThan(100);
    const call = (): Promise<string> =>
      client.searchContacts({ query: "ann" }, { headers: { authorization: `Bearer ${other.key}` } }).then(
        () => "ok",
        (error: unknown) => Code[ConnectError.from(error).code],
      );
    expect(await call()).toBe("ok");
    expect([...new Set(await inLanes(15, call))].sort()).toEqual(["ResourceExhausted", "ok"]);
  } finally {
    await narrow.stop();
  }
});

/** Returns the status of a gRPC response. That of gRPC-Web may be in the body. */
function trailersOf({ headers, bytes }: Http2Response): Headers {
  const inBody = headers["grpc-status"] === undefined ? [...trailerParse(bytes.subarray(5))] : [];
  return new Headers(
    [...(Object.entries(headers) as [string, string][]), ...inBody].filter(([name]) => name.startsWith("grpc-")),
  );
}

test("an unknown rpc is UNIMPLEMENTED over gRPC, and RESOURCE_EXHAUSTED with RetryInfo over the limit; elsewhere 404 and 429 [RTE-14, RTE-22]", async () => {
  const headers = from();
  const call = (rpc: string, type: string): ReturnType<typeof http2Call> =>
    http2Call(tight().base, {
      ":method": "POST",
      ":path": `/${rpc}`,
      "content-type": type,
      te: "trailers",
      "x-forwarded-for": headers["X-Forwarded-For"],
    });
  for (const rpc of ["records.v1.ContactService/Nothing", "records.v9.No/Thing", "grpc.health.v1.Health/Check"]) {
    await sleep(1_100);
    for (const type of ["application/grpc", "application/grpc+proto", "application/grpc-web+proto"]) {
      const responses = await Promise.all([call(rpc, type), call(rpc, type)]);
      for (const { status, headers: sent } of responses)
        expect([status, sent["content-type"], sent["retry-after"]]).toEqual([200, type, undefined]);
      const trailers = responses.map(trailersOf);
      const codes = trailers.map((one) => one.get("grpc-status")).sort();
      expect(codes.at(-1)).toBe("8");
      expect(["12", "8"]).toContain(codes[0]);
      if (type === "application/grpc") expect(codes).toEqual(["12", "8"]);
      const error = findTrailerError(trailers.find((one) => one.get("grpc-status") === "8") ?? new Headers());
      expect(error?.code).toBe(Code.ResourceExhausted);
      expect(error?.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({ seconds: 1n, nanos: 0 });
    }
    await expectThrottled(tight(), `/${rpc}`, { raw: "{}", headers });
    expect((await tight().rest(`/${rpc}`, { raw: "{}", headers: from() })).status).toBe(404);
  }
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
])("any request can be 429, before any other check: %s %s [ERR-10, HLT-04]", async (method, path) => {
  await expectThrottled(tight(), path, { method, headers: from() });
});

test("only a 429 has Retry-After [RTE-04]", async () => {
  const [account, reader] = await Promise.all([service().account(), service().account("read_only")]);
  const { key } = account;
  const responses = await Promise.all([
    service().rest("/v1/health", { headers: from() }),
    service().rest("/v1/nothing", { headers: from() }),
    service().rest("/v1/health", { method: "DELETE", headers: from() }),
    service().rest("/v1/sessions", { headers: from() }),
    service().rest("/v1/contacts", { key: reader.key, body: { full_name: "Ann" } }),
    service().rest("/v1/contacts", { key, body: { full_name: "" } }),
    service().rest("/v1/contacts", { key, body: { full_name: "Ann" } }),
    service().rest("/v1/contacts/8c0f6f0e-8f0d-4b43-9d0e-000000000000", { key }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 405, 401, 403, 422, 201, 404]);
  for (const { headers } of responses) expect(headers.has("Retry-After")).toBe(false);
});

test("a throttled gRPC call is RESOURCE_EXHAUSTED, and HTTP 200 [RTE-14, WIR-08, RTE-07, RTE-04]", async () => {
  const { key } = await tight().account();
  const call = (): ReturnType<typeof grpcCall> =>
    grpcCall(tight().base, "records.v1.ContactService/SearchContacts", Buffer.from("\x0a\x03ann"), {
      authorization: `Bearer ${key}`,
    });
  const responses = await Promise.all(Array.from({ length: 10 }, call));
  const rejected = responses.filter(({ headers }) => headers["grpc-status"] === "8");
  expect(rejected.length).toBeGreaterThanOrEqual(7);
  for (const { status, headers } of responses) {
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": expect.stringMatching(/^application\/grpc/),
      "ratelimit-limit": "1",
      "ratelimit-policy": "1;w=1",
    });
    expect(headers["retry-after"]).toBeUndefined();
  }
});

test.each([
  ["application/json", '{"query":"ann"}', 429],
  ["application/json", "no JSON at all", 429],
  ["application/proto", "\x0a\x03ann", 429],
  ["application/grpc-web+proto", "\0\0\0\0\x05\x0a\x03ann", 200],
])(
  "a throttled call in %s is rejected in its own protocol, whatever its message: %j [RTE-14, WIR-08, WIR-09, RTE-07]",
  async (type, body, status) => {
    const { key } = await tight().account();
    const send = (): Promise<Response> =>
      fetch(`${tight().base}/records.v1.ContactService/SearchContacts`, {
        method: "POST",
        headers: { "Content-Type": type, Authorization: `Bearer ${key}` },
        body,
      });
    const responses = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const response = await send();
        return { status: response.status, headers: response.headers, text: await response.text() };
      }),
    );
    const rejected = responses.filter(
      ({ headers, text }) =>
        /resource_exhausted/.test(text) || /grpc-status: ?8/i.test(text) || headers.get("grpc-status") === "8",
    );
    expect(rejected.length).toBeGreaterThanOrEqual(7);
    for (const response of rejected) {
      expect(response.status).toBe(status);
      expect(response.headers.get("RateLimit-Limit")).toBe("1");
      expect(response.headers.get("Retry-After")).toBe(status === 429 ? "1" : null);
    }
  },
);
