// Malformed HTTP/1.1: messages that are refused with 400, 417 or 431.
import { randomBytes } from "node:crypto";

/** What every message has that is as it should be. */
export const host = "Host: localhost";
const clientHello = Buffer.from("16030100c8010000c40303", "hex");

/** Each with its status; `{key}` stands for an API key. */
export const refused: readonly (readonly [name: string, status: number, message: string | Buffer])[] = [
  ["no Host line", 400, "GET /v1/health HTTP/1.1\r\n\r\n"],
  ["two Host lines", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\nHost: other\r\n\r\n`],
  ["two equal Host lines", 400, `GET /v1/health HTTP/1.1\r\n${host}\r\n${host}\r\n\r\n`],
  [
    "two Authorization lines",
    400,
    `GET /v1/sessions HTTP/1.1\r\n${host}\r\nAuthorization: Bearer {key}\r\nauthorization: Bearer rec_other\r\n\r\n`,
  ],
  [
    "two Authorization lines with 2,100 others between them",
    400,
    `GET /v1/sessions HTTP/1.1\r\n${host}\r\nAuthorization: Bearer {key}\r\n${"a:b\r\n".repeat(2_100)}Authorization: Bearer {key}\r\n\r\n`,
  ],
  [
    "two equal Authorization lines",
    400,
    `GET /v1/sessions HTTP/1.1\r\n${host}\r\nAuthorization: Bearer {key}\r\nAuthorization: Bearer {key}\r\n\r\n`,
  ],
  ["two Host lines on an unknown path", 400, `GET /v1/nothing HTTP/1.1\r\n${host}\r\nHost: other\r\n\r\n`],
  ["a method that does not exist", 400, `FETCH /v1/health HTTP/1.1\r\n${host}\r\n\r\n`],
  ["a method in lower case", 400, `get /v1/health HTTP/1.1\r\n${host}\r\n\r\n`],
  ["a version that does not exist", 400, `GET /v1/health HTTP/9.9\r\n${host}\r\n\r\n`],
  ["a version that is none", 400, `GET /v1/health HTPP/1.1\r\n${host}\r\n\r\n`],
  ["HTTP/2.0 in words", 400, `GET /v1/health HTTP/2.0\r\n${host}\r\n\r\n`],
  ["no version", 400, `GET /v1/health\r\n${host}\r\n\r\n`],
  ["headers over 16 KiB", 431, `GET /v1/health HTTP/1.1\r\n${host}\r\nX-Long: ${"a".repeat(17_000)}\r\n\r\n`],
  ["a target over 16 KiB", 431, `GET /v1/contacts?query=${"a".repeat(17_000)} HTTP/1.1\r\n${host}\r\n\r\n`],
  [
    "many headers over 16 KiB",
    431,
    `GET /v1/health HTTP/1.1\r\n${host}\r\n${Array.from({ length: 1_000 }, (_, at) => `X-${at}: aaaaaaaaaaaaaaa\r\n`).join("")}\r\n`,
  ],
  [
    "an Expect that is not understood",
    417,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nExpect: something\r\nContent-Length: 2\r\n\r\n{}`,
  ],
  [
    "Content-Length and Transfer-Encoding",
    400,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    "two Content-Length lines that differ",
    400,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  ],
  [
    "two Content-Length lines that agree",
    400,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  ],
  ["a negative Content-Length", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: -1\r\n\r\n`],
  ["a Content-Length that is no number", 400, `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: two\r\n\r\n{}`],
  [
    "a Content-Length beyond all numbers",
    400,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nContent-Length: 99999999999999999999\r\n\r\n{}`,
  ],
  [
    "a Transfer-Encoding after chunked",
    400,
    `POST /v1/contacts HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  ],
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
