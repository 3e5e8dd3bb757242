// Requests that are rejected at once, over a listener whose load shedding is up to the test: their form on each wire.
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { once } from "node:events";
import type { ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { connect, constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ArrivedAt } from "../../src/call/dispatch.ts";
import type { Response } from "../../src/call/exchange.ts";
import { readConfig } from "../../src/config/config.ts";
import { Failure } from "../../src/call/errors.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Listener } from "../../src/http/listener.ts";
import { createListener } from "../../src/http/listener.ts";
import { publicListener } from "../../src/app/public-listener.ts";
import { flags, frame, frameReader, literal, preface, types } from "../fixtures/clients/http2-frames.ts";

const [grpc, te] = ["application/grpc", "trailers"];
const origin = "https://app.example.com";
const message = "The service is handling too many requests. Try again.";
const overload = new Failure(Reason.UNAVAILABLE, { message });
const limited = new Failure(Reason.RATE_LIMITED, { message: "Too many requests.", retryAfterSeconds: 3 });

let failure: Failure | undefined;
/** How many requests may wait for their turn, if not all are rejected. */
let maxWaiting: number | undefined;
let waiting: Set<object>;
/** For each decision, the bucket from which the request would take a token. */
let decided: ArrivedAt["bucket"][];
let reported: string[];
let served: string[];
let listener: Listener;
let base: string;

beforeEach(async () => {
  [failure, decided, reported, served] = [overload, [], [], []];
  [maxWaiting, waiting] = [undefined, new Set()];
  const serve = (response: Response, path: string | undefined): void => {
    served.push(path ?? "");
    response.end("served");
  };
  const options = publicListener(readConfig({ CORS_ORIGINS: origin, BASE_URL: "https://records.example" }), {
    rest: (request, response) => serve(response, request.url),
    rpc: {
      serves: (path) => path.startsWith("/records.v1."),
      handle: async (path, _request, response) => serve(response, path),
    },
    others: [{ serves: (path) => path === "/mcp", handle: async (path, _request, response) => serve(response, path) }],
    documents: new Map(),
    rejectUnknown(_request, response, _inbound, { kind }) {
      response.statusCode = kind.http;
      response.end("a page");
    },
    shed({ target, onTurn }) {
      const { bucket } = target();
      decided.push(bucket);
      if (bucket === undefined) return undefined;
      if (maxWaiting === undefined || (onTurn !== undefined && waiting.size >= maxWaiting)) return failure;
      const one = {};
      if (onTurn !== undefined) waiting.add(one);
      onTurn?.(() => waiting.delete(one));
      return undefined;
    },
    logShed: (request, { kind }) => void reported.push(`${request.method} ${request.url} ${kind.http}`),
    throttle: () => Promise.resolve(),
    throttleDocument: () => Promise.resolve(),
    onError: () => undefined,
    log: () => undefined,
    logRejected: () => undefined,
    onLimit: () => undefined,
  });
  listener = createListener(options);
  base = `http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`;
});
afterEach(() => listener.close(0, 0));

test("over REST it is the envelope with the common headers; Retry-After goes out with 429 alone [RTE-04, RTE-05, RTE-22]", async () => {
  for (const [rejection, status, retryAfter] of [
    [overload, 503, null],
    [limited, 429, "3"],
  ] as const) {
    failure = rejection;
    for (const init of [{}, { method: "POST", body: "{}" }, { method: "HEAD" }]) {
      const response = await fetch(`${base}/v1/contacts`, {
        ...init,
        headers: { "X-Request-Id": "a-1", Origin: origin },
      });
      expect(response.status).toBe(status);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        "x-request-id": "a-1",
        "x-content-type-options": "nosniff",
        "strict-transport-security": "max-age=31536000",
        "ratelimit-limit": "10",
        "ratelimit-policy": "10;w=1",
        vary: "Origin",
        "access-control-allow-origin": origin,
      });
      expect(response.headers.get("retry-after")).toBe(retryAfter);
      const text = await response.text();
      if (init.method !== "HEAD")
        expect(JSON.parse(text)).toEqual({
          error: { code: String(status), message: rejection.message, reason: rejection.reasonName },
        });
    }
  }
  expect(reported).toHaveLength(6);
  expect(served).toEqual([]);
});

test("each request gets an id of its own [RTE-05]", async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, async () => (await fetch(`${base}/v1/contacts`)).headers.get("x-request-id")),
  );
  expect(new Set(ids).size).toBe(5);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
});

test.each([
  ["Connect", createConnectTransport, { httpVersion: "1.1" }],
  ["gRPC", createGrpcTransport, {}],
  ["gRPC-Web", createGrpcWebTransport, { httpVersion: "1.1" }],
] as const)(
  "a client of %s gets the code, the message and the wait [WIR-08, RTE-14]",
  async (_wire, create, options) => {
    const client = createClient(ContactService, create({ baseUrl: base, ...options } as never));
    await expect(client.searchContacts({ query: "ann" })).rejects.toMatchObject({ rawMessage: message, code: 14 });
    failure = limited;
    await expect(client.searchContacts({ query: "ann" })).rejects.toMatchObject({
      rawMessage: "Too many requests.",
      code: 8,
      details: expect.arrayContaining([expect.objectContaining({ type: "google.rpc.RetryInfo" })]) as unknown[],
    });
  },
);

test("a gRPC status is in the headers, which end the stream, with the headers of the throttle [WIR-08, RTE-05]", async () => {
  const session = connect(base);
  const stream = session.request({
    ":method": "POST",
    ":path": "/records.v1.ContactService/SearchContacts",
    "content-type": grpc,
    te,
  });
  const endStream = 0x1;
  const received = await new Promise<[Record<string, unknown>, number]>((resolve) => {
    stream.once("response", (headers, flags) => resolve([headers, flags]));
  });
  expect(received[0]).toMatchObject({ ":status": 200, "grpc-status": "14", "ratelimit-limit": "10" });
  expect(received[1] & endStream).toBe(endStream);
  session.destroy();
});

test("no reset follows the gRPC status of a request that arrived whole [WIR-08]", async () => {
  const fields = [
    Buffer.from([0x83, 0x86]),
    literal(":path", "/records.v1.ContactService/SearchContacts"),
    literal(":authority", "localhost"),
    literal("content-type", grpc),
  ];
  const call = [
    frame(types.headers, flags.endHeaders, 1, Buffer.concat(fields)),
    frame(types.data, flags.endStream, 1, Buffer.alloc(5)),
  ];
  const socket = connectTcp(Number(new URL(base).port), "127.0.0.1");
  socket.write(Buffer.concat([preface, frame(types.settings, 0, 0), ...call]));
  const read = frameReader();
  const received: number[] = [];
  for await (const chunk of socket) {
    const frames = read(chunk as Buffer);
    received.push(...frames.filter(({ stream }) => stream === 1).map(({ type }) => type));
    if (frames.some(({ type }) => type === types.headers)) socket.write(frame(types.ping, 0, 0, Buffer.alloc(8)));
    if (frames.some(({ type }) => type === types.ping)) break;
  }
  expect(received).toEqual([types.headers]);
});

test("over HTTP/2, every stream of a crowd gets its status, also one whose message never ends [WIR-08]", async () => {
  const session = connect(base);
  const call = { ":method": "POST", ":path": "/records.v1.ContactService/SearchContacts", "content-type": grpc, te };
  const crowd = Array.from({ length: 90 }, (_, at) => {
    const stream = session.request(call, { endStream: false });
    stream.write(Buffer.alloc(5));
    if (at > 0) stream.end(Buffer.alloc(9_000));
    return new Promise((resolve, reject) => {
      stream.once("response", (headers) => resolve(headers["grpc-status"]));
      stream.once("error", reject);
      stream.resume();
    });
  });
  expect(new Set(await Promise.all(crowd))).toEqual(new Set(["14"]));
  session.destroy();
  expect(served).toEqual([]);
});

test("over HTTP/2, a crowd is rejected beyond the requests that wait for their turn; one that is reset gives up its place [RTE-22]", async () => {
  maxWaiting = 5;
  const session = connect(base);
  const get = (path: string): ClientHttp2Stream => session.request({ ":path": path }).resume();
  const statusOf = async (stream: ClientHttp2Stream): Promise<unknown> => {
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    return headers[":status"];
  };
  const crowd = await Promise.all(Array.from({ length: 90 }, () => statusOf(get("/v1/contacts"))));
  expect(new Set(crowd)).toEqual(new Set([200, 503]));
  for (let turn = 0; turn < 20; turn++) get("/v1/contacts").close(constants.NGHTTP2_CANCEL);
  await statusOf(get("/v1/health"));
  expect(waiting.size).toBe(0);
  session.destroy();
});

test.each([
  ["GET", undefined],
  ["POST", "{}"],
  ["HEAD", undefined],
] as const)("over HTTP/2 a %s is rejected as over HTTP/1.1 [RTE-22]", async (method, body) => {
  const session = connect(base);
  const stream = session.request({ ":method": method, ":path": "/v1/contacts" }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  const text = (await stream.setEncoding("utf8").toArray()).join("");
  const response = await fetch(`${base}/v1/contacts`, { method, ...(body !== undefined && { body }) });
  expect([headers[":status"], text]).toEqual([response.status, await response.text()]);
  for (const name of ["content-type", "content-length", "cache-control", "ratelimit-policy", "vary"])
    expect(headers[name]).toBe(response.headers.get(name));
  session.destroy();
});

test("streams that are reset before their rejection leave the others theirs [RTE-22]", async () => {
  const session = connect(base);
  for (let turn = 0; turn < 50; turn++) {
    session.request({ ":path": "/v1/contacts" }).close(constants.NGHTTP2_CANCEL);
    session.request({ ":method": "POST", ":path": "/v1/contacts" }).close(constants.NGHTTP2_CANCEL);
  }
  const [headers] = (await once(session.request({ ":path": "/v1/contacts" }), "response")) as [IncomingHttpHeaders];
  expect(headers[":status"]).toBe(503);
  session.destroy();
});

test("a stop waits for a rejection whose request is still arriving [RTE-22]", async () => {
  const session = connect(base);
  const stream = session.request({ ":method": "POST", ":path": "/v1/contacts" });
  stream.write("{");
  await vi.waitFor(() => expect(reported).toHaveLength(1));
  const [[headers]] = (await Promise.all([once(stream, "response"), listener.close(2_000, 0)])) as [
    [IncomingHttpHeaders],
    undefined,
  ];
  expect(headers[":status"]).toBe(503);
});

test("at /mcp it is also a JSON-RPC error, without fields of the throttle; a browser gets a page [RTE-22]", async () => {
  const response = await fetch(`${base}/mcp`, { method: "POST", body: "{}" });
  expect([response.status, response.headers.get("ratelimit-limit")]).toEqual([503, null]);
  expect(await response.json()).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: "503", message, reason: "UNAVAILABLE" },
  });
  expect(await (await fetch(`${base}/nothing`)).text()).toBe("a page");
  expect(reported).toEqual(["POST /mcp 503"]);
});

test("health is served, however its path is escaped; preflights at /mcp take no token [HLT-01, RTE-24]", async () => {
  for (const path of ["/v1/health", "/v1/h%65alth", "/records.v1.HealthService/CheckHealth"])
    expect(await (await fetch(base + path)).text()).toBe("served");
  const session = connect(base);
  const whole = session.request({ ":scheme": "foo", ":path": "http://a/v1/health" }).resume();
  expect((await once(whole, "response"))[0]).toMatchObject({ ":status": 200 });
  session.destroy();
  expect(new Set(decided.splice(0))).toEqual(new Set([undefined]));
  for (const [path, method] of [
    ["/v1/contacts", "GET"],
    ["/mcp", "OPTIONS"],
    ["/mcp", "POST"],
    ["/nothing", "GET"],
  ] as const)
    await fetch(base + path, { method });
  expect(decided).toEqual(["caller", "other", "caller", "caller"]);
});
