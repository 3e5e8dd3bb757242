// Requests that are rejected by their headers alone: too large, repeated, or an expectation that is not understood.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connect, constants } from "node:http2";
import { describe, expect, test } from "vitest";
import type { Http2Response } from "../fixtures/clients/http2-call.ts";
import { http2Call } from "../fixtures/clients/http2-call.ts";
import { exchange, expectEnvelope } from "../fixtures/clients/raw.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { lineOf } from "../observability/request-lines.ts";
import { enveloped, forms, send, streamForms } from "../rpc/forms.ts";
import { useService } from "../support/client.ts";

const service = useService({ RATE_LIMIT: "10", RATE_BURST: "1000" });

const textsOf = ({ headers }: Http2Response): ReadonlyMap<string, string> =>
  new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const statusOf = (stream: ClientHttp2Stream): Promise<number | undefined> =>
  new Promise((resolve) => stream.once("response", (headers) => resolve(headers[":status"])));

/** Headers of about so many bytes, in lines of 1,000 or in one. */
const large = (bytes: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: bytes / 1_000 }, (_, at) => [`x-${at}`, "a".repeat(1_000)]));

test.each([
  ["many small lines", Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`x-a${at}`, "v"])), 200],
  ["15 KB", large(15_000), 200],
  ["one line of 17 KB", { "x-long": "a".repeat(17_000) }, 431],
  ["a path of 17 KB", { ":path": `/v1/health?query=${"a".repeat(17_000)}` }, 431],
  ["60 KB", large(60_000), 431],
])(
  "over HTTP/2 headers are limited only by their size, to 16 KiB as over HTTP/1.1: %s [ERR-08, RTE-05]",
  async (_, headers, status) => {
    const response = await http2Call(service().base, { ":path": "/v1/health", ...headers });
    expect(response.status).toBe(status);
    if (status === 431)
      expectEnvelope({ status: response.status, headers: textsOf(response), body: response.text }, status);
    const internal = await http2Call(service().internal, { ...headers, ":path": "/livez" });
    expect(internal.status).toBe(":path" in headers ? 200 : status);
  },
);

describe.each([
  ["as soon as it is connected", () => Promise.resolve()],
  ["once it knows the limit", (session: ClientHttp2Session) => once(session, "remoteSettings")],
])("over HTTP/2, for a client that sends %s", (_, ready) => {
  test.each([
    ["many lines", large(70_000)],
    ["2,000 lines that take a byte each", { "x-a": Array<string>(2_000).fill("a".repeat(3_000)) }],
  ])(
    "resets a stream with headers over 64 KiB, and the connection serves the others: %s [ERR-08]",
    async (_what, headers) => {
      const session = connect(service().base, { maxSendHeaderBlockLength: 10_000_000 });
      try {
        await ready(session);
        const path = { ":path": "/v1/health" };
        const before = statusOf(session.request({ ":path": "/v1/sessions" }));
        const stream = session.request({ ...path, ...headers }).on("error", () => undefined);
        await new Promise((resolve) => stream.once("close", resolve));
        expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
        const statuses = [await before, await statusOf(session.request(path))];
        expect(statuses).toEqual([401, 200]);
      } finally {
        session.close();
      }
    },
  );
});

describe("a request that is rejected by its headers alone", () => {
  const { getContact } = ContactService.method;
  const cases = [
    ["headers over 16 KiB", large(17_000), "invalid_argument", "HEADERS_TOO_LARGE"],
    ["an unknown Expect", { expect: "something" }, "unimplemented", "EXPECTATION_FAILED"],
    ["an Expect with a second value", { expect: "100-continue, x" }, "unimplemented", "EXPECTATION_FAILED"],
  ] as const;

  test.each(cases)(
    "gets a response in its own protocol, on both listeners, and is logged: %s [ERR-08, WIR-06, RTE-07, OPS-25]",
    async (_, headers, code, reason) => {
      for (const form of [...forms.filter(({ http }) => http === 2), ...streamForms]) {
        for (const [base, rpc] of [
          [service().base, getContact],
          [service().internal, getContact],
          [service().internal, IngestService.method.import],
        ] as const) {
          const id = randomUUID();
          const reply = await send(base, form, rpc, enveloped(form, Buffer.from("{}")), {
            ...headers,
            "x-request-id": id,
          });
          const where = `${form.name}, ${rpc.name}`;
          expect([reply.code, reply.reason], where).toEqual([code, reason]);
          expect(reply.headers.get("ratelimit-limit"), where).toBe(base === service().base ? "10" : null);
          expect(await lineOf(id, service()), where).toMatchObject({ status: reply.status, code, wire: form.protocol });
        }
      }
    },
  );

  test("gets the gRPC status if it is a gRPC call of an unknown path [WIR-06]", async () => {
    const form = forms.find(({ protocol }) => protocol === "grpc");
    const { headers } = await http2Call(
      service().base,
      { ":method": "POST", ":path": "/other.Service/Call", "content-type": form?.type, expect: "something" },
      Buffer.alloc(0),
    );
    expect(headers["grpc-status"]).toBe("12");
  });

  test("over HTTP/1.1 two Authorization lines on an rpc are a Connect error, and the connection closes [ERR-09, WIR-06]", async () => {
    const { responses, closed } = await exchange(
      service().base,
      `POST /records.v1.ContactService/GetContact HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer rec_one\r\nAuthorization: Bearer rec_other\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(responses.map(({ status: one, body }) => [one, JSON.parse(body)])).toMatchObject([
      [400, { code: "invalid_argument", message: "Authorization: must not be sent more than once." }],
    ]);
    expect(closed).toBe(true);
  });
});

describe("a client beyond its rate limit", () => {
  const strict = useService({ RATE_LIMIT: "1", RATE_BURST: "3" });
  const send = async (lines: string): Promise<number | undefined> =>
    (await exchange(strict().base, `GET /v1/health HTTP/1.1\r\nHost: a\r\n${lines}\r\n`)).responses[0]?.status;

  test("gets 429 before its headers are checked [ERR-10, RTE-05]", async () => {
    const twice = "Authorization: a\r\nAuthorization: b\r\n";
    const statuses: (number | undefined)[] = [];
    for (let sent = 0; sent < 8; sent++) statuses.push(await send(twice));
    expect(statuses[0]).toBe(400);
    expect(statuses).toContain(429);
    while ((await send(twice)) !== 429);
    expect(await send("Expect: something\r\n")).toBe(429);
  });
});

const heads = (host: string): string => `GET /v1/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

test.each([
  "",
  "a b",
  "user@records.example",
  "records.example/a",
  "a?b",
  "a#b",
  "<x>",
  'a"b',
  "a%zz",
  "m\u00fcnchen.example",
  "localhost:abc",
  "localhost:65536",
  "a:1:2",
  ":80",
  "::1",
  "[::1",
  "[::1]x",
  "[1]",
  "[::1%25eth0]",
])("rejects the Host %j with 400 in the envelope (RFC 9112 §3.2) [ERR-08]", async (host) => {
  const { responses } = await exchange(service().base, heads(host));
  expectEnvelope(responses[0], 400);
  expect(responses[0]?.body).toContain("Host: must be the name or address of a host, with or without a port.");
  const probe = await exchange(service().internal, heads(host).replace("/v1/health", "/livez"));
  expect(probe.responses.map(({ status }) => status)).toEqual([400]);
});

test.each([
  "localhost",
  "RECORDS.example:8080",
  "records.example.",
  "a_b",
  "a%41b",
  "127.0.0.1:65535",
  "localhost:",
  "[::1]",
  "[::ffff:1.2.3.4]:8080",
])("serves the Host %j [ERR-08, HLT-01]", async (host) => {
  const { responses } = await exchange(service().base, heads(host));
  expect(responses.map(({ status }) => status)).toEqual([200]);
});

test.each([
  ["a:99999", {}, 400],
  ["[::1", {}, 400],
  ["records.example", { host: "another.example" }, 400],
  ["records.example", { host: "RECORDS.example" }, 200],
  ["[::1]:8080", {}, 200],
])("over HTTP/2 the authority %s with %j is %d (RFC 9113 §8.3.1) [ERR-08]", async (authority, headers, status) => {
  const response = await http2Call(service().base, { ":path": "/v1/health", ":authority": authority, ...headers });
  expect(response.status).toBe(status);
  if (status === 400) expectEnvelope({ status, headers: textsOf(response), body: response.text }, 400);
});

test.each(["gzip, chunked", "deflate, chunked", "gzip\r\nTransfer-Encoding: chunked"])(
  "rejects a body in a transfer coding that is not decoded: %j (RFC 9112 §6.1) [ERR-08]",
  async (coding) => {
    const { key } = await service().account();
    const sent = `POST /v1/contacts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: ${coding}\r\n\r\n11\r\n{"full_name":"x"}\r\n0\r\n\r\n`;
    const { responses } = await exchange(service().base, sent);
    expectEnvelope(responses[0], 400);
    expect(responses[0]?.body).toContain("Transfer-Encoding: must be chunked.");
  },
);

test("OPTIONS * responds with the methods of the whole server on both listeners (RFC 9110 §9.3.7) [FMT-09]", async () => {
  for (const base of [service().base, service().internal]) {
    const { responses } = await exchange(base, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect([responses[0]?.status, responses[0]?.headers.get("allow")]).toEqual([
      204,
      "GET, HEAD, POST, PATCH, DELETE, OPTIONS",
    ]);
    expect((await http2Call(base, { ":method": "OPTIONS", ":path": "*" })).status).toBe(204);
  }
});
