// HTTP/2 with prior knowledge, on the port that speaks HTTP/1.1 as well.
import { connect as connectTcp } from "node:net";
import { connect } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { beforeAll, expect, test } from "vitest";
import type { Http2Response } from "../fixtures/clients/http2-call.ts";
import { http2Call } from "../fixtures/clients/http2-call.ts";
import { flags, frame, frameReader, literal, preface, types } from "../fixtures/clients/http2-frames.ts";
import { useService } from "../support/client.ts";

const service = useService({
  RATE_LIMIT: "10",
  V1_DEPRECATED_AT: "2026-01-31T00:00:00Z",
  V1_SUNSET_AT: "2026-12-31T23:59:59Z",
});
let key: string;

beforeAll(async () => {
  ({ key } = await service().account());
});

function expectHeaders({ headers }: Http2Response): void {
  expect(headers).toMatchObject({
    "ratelimit-limit": "10",
    "ratelimit-policy": "10;w=1",
    deprecation: "@1769817600",
    sunset: "Thu, 31 Dec 2026 23:59:59 GMT",
    "x-request-id": expect.stringMatching(/^[\w.-]{1,128}$/),
  });
  for (const name of ["retry-after", "ratelimit-remaining", "ratelimit-reset", "connection"])
    expect(headers[name]).toBeUndefined();
}

function expectRejected(response: Http2Response, status: number): void {
  expect(response.status).toBe(status);
  expectHeaders(response);
  expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(JSON.parse(response.text)).toMatchObject({
    error: { code: String(status), message: expect.stringMatching(/\S/) },
  });
}

test("REST is served over HTTP/2 as over HTTP/1.1, with the same headers [WIR-01, VER-01, RTE-05, FMT-01, VER-03]", async () => {
  const created = await http2Call(
    service().base,
    {
      ":method": "POST",
      ":path": "/v1/contacts",
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-request-id": "h2.1",
    },
    Buffer.from(JSON.stringify({ full_name: "Ann Two" })),
  );
  expect(created.status).toBe(201);
  expectHeaders(created);
  expect(created.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-request-id": "h2.1",
  });
  const { id } = JSON.parse(created.text).data;
  expect(created.headers.location).toBe(`/v1/contacts/${id}`);
  const read = await http2Call(service().base, { ":path": `/v1/contacts/${id}`, authorization: `Bearer ${key}` });
  expect(JSON.parse(read.text)).toEqual((await service().rest(`/v1/contacts/${id}`, { key })).body);
  const head = await http2Call(service().base, {
    ":method": "HEAD",
    ":path": `/v1/contacts/${id}`,
    authorization: `Bearer ${key}`,
  });
  expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", read.headers["content-length"]]);
  const options = await http2Call(service().base, { ":method": "OPTIONS", ":path": "/v1/contacts" });
  expect([options.status, options.headers.allow]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
});

test.each([
  ["no key", 401, { ":path": "/v1/sessions" }],
  ["an unknown path", 404, { ":path": "/v1/nothing" }],
  ["another method", 405, { ":method": "PATCH", ":path": "/v1/contacts" }],
  ["a method that does not exist", 405, { ":method": "FETCH", ":path": "/v1/contacts" }],
  ["an unknown Expect", 417, { ":method": "POST", ":path": "/v1/contacts", expect: "something" }],
  ["an invalid query", 422, { ":path": "/v1/contacts?query=%ff" }],
] as const)("over HTTP/2 %s is %i in the envelope [ERR-01, ERR-08, RTE-05, VER-03]", async (name, status, headers) => {
  expectRejected(
    await http2Call(service().base, {
      ...headers,
      ...(name === "an invalid query" ? { authorization: `Bearer ${key}` } : {}),
    }),
    status,
  );
});

test.each(["100-continue", "100-Continue"])("over HTTP/2 Expect: %s is served [ERR-08]", async (expectation) => {
  const response = await http2Call(service().base, { ":path": "/v1/health", expect: expectation });
  expect(response.status).toBe(200);
});

test("CONNECT over HTTP/2 gets the envelope too, not an empty response [ERR-01]", async () => {
  const response = await http2Call(service().base, { ":method": "CONNECT", ":authority": "example.com:443" });
  expect(response.status).toBe(405);
  expect(JSON.parse(response.text)).toMatchObject({ error: { code: "405" } });
});

test("two Authorization lines in HTTP/2 are 400, even if one of them is valid [ERR-09]", async () => {
  const line = (value: string): Buffer => literal("authorization", value);
  const { status, body } = await rawHttp2([
    Buffer.from([0x82, 0x86]),
    literal(":path", "/v1/sessions"),
    literal(":authority", "localhost"),
    line(`Bearer ${key}`),
    line("Bearer rec_other"),
  ]);
  expect(status).toBe(400);
  expect(JSON.parse(body)).toEqual({
    error: { code: "400", message: "Authorization: must not be sent more than once.", reason: "MALFORMED_HTTP" },
  });
});

test("one connection carries many requests at once, REST and gRPC mixed with rejected ones [WIR-01]", async () => {
  const session = connect(service().base);
  try {
    // Fewer than the requests of unknown callers that an instance serves at once.
    const paths = Array.from({ length: 48 }, (_, at) => ["/v1/health", "/v1/sessions", "/v1/nothing"][at % 3] ?? "");
    const statuses = await Promise.all(paths.map((path) => status(session, path)));
    expect(statuses).toEqual(paths.map((path) => ({ "/v1/health": 200, "/v1/sessions": 401 })[path] ?? 404));
  } finally {
    session.close();
  }
});

const post = [Buffer.from([0x83, 0x86]), literal(":path", "/v1/nothing"), literal(":authority", "localhost")];
const opening = frame(types.headers, flags.endHeaders, 1, Buffer.concat(post));

test.each<[string, ...Buffer[]]>([
  ["bytes that are no frame", Buffer.from("rubbish that is no frame at all")],
  ["a request and a frame that breaks HTTP/2", opening, frame(types.windowUpdate, 0, 1, Buffer.alloc(4))],
  ["a request and its reset with an error", opening, frame(types.reset, 0, 1, Buffer.from([0, 0, 0, 1]))],
  ["a request and a GOAWAY with an error", opening, frame(types.goaway, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]))],
])("in one packet, %s end only their own connection [ERR-08]", async (_what, ...frames) => {
  const errors: Error[] = [];
  const note = (error: Error): void => void errors.push(error);
  process.on("uncaughtExceptionMonitor", note);
  const socket = connectTcp(service().app.port, "127.0.0.1", () =>
    socket.end(Buffer.concat([preface, frame(types.settings, 0, 0), ...frames])),
  );
  await new Promise<void>((resolve) => {
    socket
      .on("close", () => resolve())
      .on("error", () => undefined)
      .resume();
  });
  expect((await http2Call(service().base, { ":path": "/v1/health" })).status).toBe(200);
  process.off("uncaughtExceptionMonitor", note);
  expect(errors).toEqual([]);
});

test("the preface may arrive byte by byte [WIR-01]", async () => {
  const { status: completed } = await rawHttp2(
    [Buffer.from([0x82, 0x86]), literal(":path", "/v1/nothing"), literal(":authority", "localhost")],
    1,
  );
  expect(completed).toBe(404);
});

function status(session: ClientHttp2Session, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":path": path });
    stream
      .on("response", (headers) => resolve(headers[":status"] ?? 0))
      .on("error", reject)
      .resume();
  });
}

/** Indexed `:status` fields of the static table (RFC 7541, appendix A). */
const statuses: Readonly<Record<number, number>> = { 0x88: 200, 0x8c: 400, 0x8d: 404, 0x8e: 500 };

/**
 * Sends one request in frames of our own, which a client would not send; `step` bytes of the preface at a time.
 */
function rawHttp2(fields: readonly Buffer[], step = 24): Promise<{ status: number; body: string }> {
  const read = frameReader();
  return new Promise((resolve, reject) => {
    let completed = 0;
    let body = "";
    const socket = connectTcp(service().app.port, "127.0.0.1", () => {
      socket.setNoDelay(true);
      void sendFrames();
    });
    async function sendFrames(): Promise<void> {
      for (let at = 0; at < preface.length; at += step) {
        socket.write(preface.subarray(at, at + step));
        if (step < preface.length) await new Promise((soon) => setTimeout(soon, 2));
      }
      socket.write(Buffer.concat([frame(4, 0, 0), frame(1, 0x5, 1, Buffer.concat(fields))]));
    }
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      for (const { type, flags, payload } of read(chunk)) {
        if (type === 1) completed = statuses[payload.find((byte) => byte in statuses) ?? 0] ?? 0;
        if (type === 0) body += payload.toString();
        if ((type === 0 || type === 1) && (flags & 1) === 1) {
          socket.destroy();
          resolve({ status: completed, body });
        }
      }
    });
  });
}

// Node 20 drops such a header, and has no setting for it.
if (Number(process.versions.node.split(".")[0]) >= 22)
  test("blanks around the value of a header are no part of it, as over HTTP/1.1: a write keeps its idempotency key [WIR-01, IDM-09]", async () => {
    const write = (idempotencyKey: string): Promise<Http2Response> =>
      http2Call(
        service().base,
        {
          ":method": "POST",
          ":path": "/v1/contacts",
          authorization: ` Bearer ${key} `,
          "content-type": "application/json ",
          "idempotency-key": idempotencyKey,
        },
        Buffer.from(JSON.stringify({ full_name: "Ann Blank" })),
      );
    const [first, second] = [await write("once \t"), await write("once")];
    expect([first.status, second.status, second.headers["idempotent-replayed"]]).toEqual([201, 201, "true"]);
    expect(second.text).toBe(first.text);
  });
