// Malformed HTTP/1.1, byte by byte: whatever is rejected leaves in the envelope, and the connection closes.
import { beforeAll, expect, test } from "vitest";
import { useService } from "../support/client.ts";
import { host, rejected } from "../fixtures/clients/malformed.ts";
import { exchange, expectEnvelope } from "../fixtures/clients/raw.ts";

const service = useService({
  RATE_LIMIT: "10",
  V1_DEPRECATED_AT: "2026-01-31T00:00:00Z",
  V1_SUNSET_AT: "2026-12-31T23:59:59Z",
});
let key: string;

beforeAll(async () => {
  ({ key } = await service().account());
});

test.each(rejected)(
  "%s is %i in the envelope, with the headers of /v1, and the connection closes [ERR-01, ERR-08, ERR-09, RTE-05, VER-03, FMT-06]",
  async (_, status, message) => {
    const { responses, closed, text } = await exchange(
      service().base,
      typeof message === "string" ? message.replaceAll("{key}", key) : message,
    );
    expect(responses.map((response) => response.status)).toEqual([status]);
    expectEnvelope(responses[0], status);
    expect(responses[0]?.headers.get("deprecation")).toBe("@1769817600");
    expect(responses[0]?.headers.get("sunset")).toBe("Thu, 31 Dec 2026 23:59:59 GMT");
    expect(text).not.toMatch(/<html|<!doctype|node|llhttp|HPE_|rec_/i);
    expect(closed).toBe(true);
  },
);

test.each(["/v1/contacts?query=Jos\u00e9", "/v1/contacts?query=ann lee"])(
  "%j is 400 with a message that says to percent-encode it, as clients send the text of a user as it is [ERR-02, ERR-08]",
  async (target) => {
    const { responses } = await exchange(service().base, Buffer.from(`GET ${target} HTTP/1.1\r\n${host}\r\n\r\n`));
    expectEnvelope(responses[0], 400);
    expect(responses[0]?.body).toContain("must be percent-encoded, such as a blank as %20 or \u00e9 as %C3%A9.");
  },
);

const health = { data: { status: "ok", version: "1.0.0" } };

/** Messages that are odd and yet HTTP: they are served like any other. */
const taken: readonly (readonly [name: string, message: string])[] = [
  ["HTTP/1.0 without a Host line", "GET /v1/health HTTP/1.0\r\n\r\n"],
  ["an empty line before the request", `\r\nGET /v1/health HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`],
  [
    "the whole URL as the target (RFC 9112 §3.2.2)",
    `GET http://localhost/v1/health HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`,
  ],
  ["a body on GET", `GET /v1/health HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`],
  [
    "a chunked body on GET",
    `GET /v1/health HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  ],
  [
    "an offer to upgrade to h2c",
    `GET /v1/health HTTP/1.1\r\n${host}\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings, close\r\n\r\n`,
  ],
  [
    "an offer to upgrade to a WebSocket",
    `GET /v1/health HTTP/1.1\r\n${host}\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n`,
  ],
  [
    "a query with signs of every kind",
    `GET /v1/health?a=%ff&&=&[]{}|\\^\` HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`,
  ],
  ["bytes above ASCII in a header", `GET /v1/health HTTP/1.1\r\n${host}\r\nX-A: \xe9\xff\r\nConnection: close\r\n\r\n`],
];

test.each(taken)("%s is served like any other request [ERR-08, HLT-01, RTE-05]", async (_, message) => {
  const { responses, closed } = await exchange(service().base, message);
  expect(responses).toHaveLength(1);
  expect(responses[0]?.status).toBe(200);
  expect(JSON.parse(responses[0]?.body ?? "")).toEqual(health);
  expect(responses[0]?.headers.get("ratelimit-limit")).toBe("10");
  expect(closed).toBe(true);
});

test("requests that arrive together are served one after the other, in their order [ERR-08]", async () => {
  const one = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\n${host}\r\n${more}\r\n`;
  const { responses, closed } = await exchange(
    service().base,
    `${one("/v1/health")}${one("/v1/sessions")}${one("/v1/nothing")}${one("/v1/health", "Connection: close\r\n")}`,
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 401, 404, 200]);
  expect(closed).toBe(true);
});

test("garbage after a completed request is rejected in the envelope, and the connection closes [ERR-08]", async () => {
  const { responses, closed } = await exchange(
    service().base,
    `GET /v1/health HTTP/1.1\r\n${host}\r\n\r\n\0\0\0rubbish\r\n\r\n`,
  );
  expect(closed).toBe(true);
  expect(responses.length).toBeGreaterThan(0);
  expectEnvelope(responses.at(-1), 400);
});

test("a chunked body that ends in garbage is rejected, and nothing is written [ERR-08]", async () => {
  const head = `POST /v1/contacts HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { responses, closed } = await exchange(
    service().base,
    `${head}14\r\n{"full_name":"Chunky\r\nZZ\r\n"}\r\n0\r\n\r\n`,
  );
  expectEnvelope(responses[0], 400);
  expect(responses).toHaveLength(1);
  expect(closed).toBe(true);
  expect((await service().rest("/v1/contacts?query=chunky", { key })).body.data).toEqual([]);
});

test("a rejection by the headers arrives, although the body behind them is malformed [ERR-01, ERR-08]", async () => {
  const { internal } = service();
  const chunked = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{}";
  const head = (more: string): string => `POST /livez HTTP/1.1\r\n${more}\r\n`;
  for (const [status, sent] of [
    [400, head("Host: a b")],
    [417, head(`${host}\r\nExpect: something`)],
  ] as const) {
    const { responses, closed } = await exchange(internal, sent + chunked);
    expect(responses.map((one) => [one.status, JSON.parse(one.body)])).toMatchObject([
      [status, { error: { code: String(status) } }],
    ]);
    expect(closed).toBe(true);
  }
});

test("Expect: 100-continue gets 100, then the response [ERR-08]", async () => {
  const body = JSON.stringify({ full_name: "Expected" });
  const { text, closed } = await exchange(
    service().base,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
  expect(closed).toBe(true);
});

test("headers that do not arrive within 10 seconds are 408 in the envelope; a client that sends nothing, or no request over HTTP/2, is disconnected [ERR-08, RTE-05, VER-03]", async () => {
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
  const [slow, silent, half, idle, pinging] = await Promise.all([
    exchange(service().base, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-Slow: `, 14_000),
    exchange(service().base, "", 14_000),
    exchange(service().base, "PRI * HTTP/2", 14_000),
    exchange(service().base, preface, 20_000),
    exchange(
      service().base,
      [preface, ...Array<string>(12).fill("\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0")],
      20_000,
      1_000,
    ),
  ]);
  expectEnvelope(slow.responses[0], 408);
  expect(slow.responses[0]?.headers.has("deprecation")).toBe(true);
  for (const { closed } of [slow, silent, half, idle, pinging]) expect(closed).toBe(true);
});

test("the service still responds after all malformed requests [ERR-08]", async () => {
  expect((await service().rest("/v1/health")).body).toEqual(health);
});

test.each([0, 1, 3, 6, 15])(
  "junk that follows a request after %i ms does not replace its response: the write gets 201, and then the 400 follows [ERR-08]",
  async (delayMs) => {
    const body = `{"full_name":"Junk After ${delayMs}"}`;
    const request = `POST /v1/contacts HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { responses } = await exchange(service().base, [request, "xx\r\n\r\n"], 4_000, delayMs);
    expect(responses.map(({ status }) => status)).toEqual([201, 400]);
    expectEnvelope(responses[1], 400);
    expect((await service().rest(`/v1/contacts?query=junk+after+${delayMs}`, { key })).body.data).toHaveLength(1);
  },
);
