// Malformed HTTP/1.1, byte by byte: whatever is refused leaves in the envelope, and the connection closes.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "../support/service.ts";
import { startService } from "../support/service.ts";
import { exchange, expectEnvelope } from "./raw.ts";

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: "10", V1_DEPRECATED_AT: "2026-01-31T00:00:00Z", V1_SUNSET_AT: "2026-12-31T23:59:59Z" });
  ({ key } = await service.account());
});
afterAll(() => service.stop());

const host = "Host: localhost";
const clientHello = Buffer.from("16030100c8010000c40303", "hex");

/** Messages that are refused, with the status; `{key}` stands for an API key. */
const refused: readonly (readonly [name: string, status: number, message: string | Buffer])[] = [
  ["no Host line", 400, "GET /v1/health HTTP/1.1\r\n\r\n"],
  ["two Host lines", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nHost: other\r\n\r\n`],
  ["two equal Host lines", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\n${host}\r\n\r\n`],
  ["two Authorization lines", 400, `GET /v1/sessions HTTP/1.1\r\n${host}\r\nAuthorization: Bearer {key}\r\nauthorization: Bearer rec_other\r\n\r\n`],
  ["two Authorization lines with 2,100 others between them", 400, `GET /v1/sessions HTTP/1.1\r\n${host}\r\nAuthorization: Bearer {key}\r\n${"a:b\r\n".repeat(2_100)}Authorization: Bearer {key}\r\n\r\n`],
  ["two equal Authorization lines", 400, `GET /v1/sessions HTTP/1.1\r\n${host}\r\nAuthorization: Bearer {key}\r\nAuthorization: Bearer {key}\r\n\r\n`],
  ["two Host lines on an unknown path", 400, `GET /v1/nothing HTTP/1.1\r\n${host}\r\nHost: other\r\n\r\n`],
  ["a method that does not exist", 400, `FETCH /v1/health HTTP/1.1\r\n${host}\r\n\r\n`],
  ["a method in lower case", 400, `get /v1/health HTTP/1.1\r\n${host}\r\n\r\n`],
  ["a version that does not exist", 400, `GET /v1/health HTTP/9.9\r\n${host}\r\n\r\n`],
  ["a version that is none", 400, `GET /v1/health HTPP/1.1\r\n${host}\r\n\r\n`],
  ["HTTP/2.0 in words", 400, `GET /v1/health HTTP/2.0\r\n${host}\r\n\r\n`],
  ["no version", 400, `GET /v1/health\r\n${host}\r\n\r\n`],
  ["headers over 16 KiB", 431, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-Long: ${"a".repeat(17_000)}\r\n\r\n`],
  ["a target over 16 KiB", 431, `GET /v1/contacts?query=${"a".repeat(17_000)} HTTP/1.1\r\n${host}\r\n\r\n`],
  ["many headers over 16 KiB", 431, `GET /v1/health HTTP/1.1\r\n${host}\r\n${Array.from({ length: 1_000 }, (_, at) => `X-${at}: aaaaaaaaaaaaaaa\r\n`).join("")}\r\n`],
  ["an Expect that is not understood", 417, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nExpect: something\r\nContent-Length: 2\r\n\r\n{}`],
  ["Content-Length and Transfer-Encoding", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["two Content-Length lines that differ", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ["two Content-Length lines that agree", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
  ["a negative Content-Length", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: -1\r\n\r\n`],
  ["a Content-Length that is no number", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: two\r\n\r\n{}`],
  ["a Content-Length beyond all numbers", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 99999999999999999999\r\n\r\n{}`],
  ["a Transfer-Encoding after chunked", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
  ["a folded header", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-A: one\r\n two\r\n\r\n`],
  ["a space before the colon", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-A : one\r\n\r\n`],
  ["a header without a colon", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nnonsense\r\n\r\n`],
  ["a header without a name", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\n: one\r\n\r\n`],
  ["a forbidden character in a header's name", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nX@A: one\r\n\r\n`],
  ["a control character in a header", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-A: o\x01ne\r\n\r\n`],
  ["NUL in a header", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-A: o\0ne\r\n\r\n`],
  ["NUL in the path", 400, `GET /v1/he\0alth HTTP/1.1\r\n${host}\r\n\r\n`],
  ["a blank in the path", 400, `GET /v1/he alth HTTP/1.1\r\n${host}\r\n\r\n`],
  ["raw UTF-8 in the path", 400, Buffer.from(`GET /v1/é HTTP/1.1\r\n${host}\r\n\r\n`)],
  ["a target without a slash", 400, `GET v1/health HTTP/1.1\r\n${host}\r\n\r\n`],
  ["CONNECT", 400, `CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`],
  ["bare line feeds", 400, `GET /v1/health HTTP/1.1\n${host}\n\n`],
  ["a bare carriage return", 400, `GET /v1/health HTTP/1.1\r${host}\r\r`],
  ["bytes that are nothing", 400, Buffer.from("00ff80deadbeef0d0a0d0a", "hex")],
  ["random bytes", 400, Buffer.concat([Buffer.from("\xffx", "latin1"), randomBytes(200)])],
  ["a TLS ClientHello", 400, Buffer.concat([clientHello, Buffer.alloc(200, 7)])],
  ["a response", 400, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
  ["half of HTTP/2's preface, then something else", 400, "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"],
  ["PRI as HTTP/1.1", 400, `PRI * HTTP/1.1\r\n${host}\r\n\r\n`],
  ["an SMTP greeting", 400, "EHLO localhost\r\n"],
];

test.each(refused)("%s is %i in the envelope, with the headers of /v1, and the connection closes [ERR-01, ERR-08, ERR-09, RTE-05, VER-03, FMT-06]", async (_, status, message) => {
  const { answers, closed, text } = await exchange(service.base, typeof message === "string" ? message.replaceAll("{key}", key) : message);
  expect(answers.map((answer) => answer.status)).toEqual([status]);
  expectEnvelope(answers[0], status);
  expect(answers[0]?.headers.get("deprecation")).toBe("@1769817600");
  expect(answers[0]?.headers.get("sunset")).toBe("Thu, 31 Dec 2026 23:59:59 GMT");
  expect(text).not.toMatch(/<html|<!doctype|node|llhttp|HPE_|rec_/i);
  expect(closed).toBe(true);
});

const health = { data: { status: "ok", version: "1.0.0" } };

/** Messages that are odd and yet HTTP: they are answered like any other. */
const taken: readonly (readonly [name: string, message: string])[] = [
  ["HTTP/1.0 without a Host line", "GET /v1/health HTTP/1.0\r\n\r\n"],
  ["an empty line before the request", `\r\nGET /v1/health HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`],
  ["the whole URL as the target (RFC 9112 §3.2.2)", `GET http://localhost/v1/health HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`],
  ["a body on GET", `GET /v1/health HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`],
  ["a chunked body on GET", `GET /v1/health HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
  ["an offer to upgrade to h2c", `GET /v1/health HTTP/1.1\r\n${host}\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings, close\r\n\r\n`],
  ["an offer to upgrade to a WebSocket", `GET /v1/health HTTP/1.1\r\n${host}\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n`],
  ["a query with signs of every kind", `GET /v1/health?a=%ff&&=&[]{}|\\^\` HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`],
  ["bytes above ASCII in a header", `GET /v1/health HTTP/1.1\r\n${host}\r\nX-A: \xe9\xff\r\nConnection: close\r\n\r\n`],
];

test.each(taken)("%s is answered like any other request [ERR-08, HLT-01, RTE-05]", async (_, message) => {
  const { answers, closed } = await exchange(service.base, message);
  expect(answers).toHaveLength(1);
  expect(answers[0]?.status).toBe(200);
  expect(JSON.parse(answers[0]?.body ?? "")).toEqual(health);
  expect(answers[0]?.headers.get("ratelimit-limit")).toBe("10");
  expect(closed).toBe(true);
});

test("requests that come together are answered one after the other, in their order [ERR-08]", async () => {
  const one = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\n${host}\r\n${more}\r\n`;
  const { answers, closed } = await exchange(service.base, `${one("/v1/health")}${one("/v1/sessions")}${one("/v1/nothing")}${one("/v1/health", "Connection: close\r\n")}`);
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 200]);
  expect(closed).toBe(true);
});

test("rubbish after an answered request is refused in the envelope, and the connection closes [ERR-08]", async () => {
  const { answers, closed } = await exchange(service.base, `GET /v1/health HTTP/1.1\r\n${host}\r\n\r\n\0\0\0rubbish\r\n\r\n`);
  expect(closed).toBe(true);
  expect(answers.length).toBeGreaterThan(0);
  expectEnvelope(answers.at(-1), 400);
});

test("a chunked body that breaks off in rubbish is refused, and nothing is written [ERR-08]", async () => {
  const head = `POST /v1/contacts HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { answers, closed } = await exchange(service.base, `${head}14\r\n{"full_name":"Chunky\r\nZZ\r\n"}\r\n0\r\n\r\n`);
  expectEnvelope(answers[0], 400);
  expect(answers).toHaveLength(1);
  expect(closed).toBe(true);
  expect((await service.rest("/v1/contacts?query=chunky", { key })).body.data).toEqual([]);
});

test("Expect: 100-continue is answered with 100, then with the answer [ERR-08]", async () => {
  const body = JSON.stringify({ full_name: "Expected" });
  const { text, closed } = await exchange(
    service.base,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
  expect(closed).toBe(true);
});

test("headers that do not come within 10 seconds are 408 in the envelope; who sends nothing at all is closed [ERR-08, RTE-05, VER-03]", async () => {
  const [slow, silent, half] = await Promise.all([
    exchange(service.base, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-Slow: `, 14_000),
    exchange(service.base, "", 14_000),
    exchange(service.base, "PRI * HTTP/2", 14_000),
  ]);
  expectEnvelope(slow.answers[0], 408);
  expect(slow.answers[0]?.headers.has("deprecation")).toBe(true);
  for (const { closed } of [slow, silent, half]) expect(closed).toBe(true);
});

test("the service goes on answering after all of it [ERR-08]", async () => {
  expect((await service.rest("/v1/health")).body).toEqual(health);
});

test.each([0, 1, 3, 6, 15])("junk that follows a request after %i ms takes nothing from its answer: what was written is answered 201, then comes the 400 [ERR-08]", async (delayMs) => {
  const body = `{"full_name":"Junk After ${delayMs}"}`;
  const request = `POST /v1/contacts HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { answers } = await exchange(service.base, [request, "xx\r\n\r\n"], 4_000, delayMs);
  expect(answers.map(({ status }) => status)).toEqual([201, 400]);
  expectEnvelope(answers[1], 400);
  expect((await service.rest(`/v1/contacts?query=junk+after+${delayMs}`, { key })).body.data).toHaveLength(1);
});
