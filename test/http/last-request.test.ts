// What ends a connection: the requests before it get their responses in order, and nothing behind it is taken.
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { flags, frame, frameReader, literal, preface, types } from "../fixtures/clients/http2-frames.ts";
import { exchange } from "../fixtures/clients/raw.ts";
import { writeFailureAndClose } from "../../src/http/linger.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Response } from "../../src/call/exchange.ts";
import type { Listener } from "../../src/http/listener.ts";
import { createListener } from "../../src/http/listener.ts";

let listener: Listener;
let base: string;
/** The targets of the requests that were begun, and how many expectations were rejected. */
let begun: (string | undefined)[];
let expectations: number;
/** The first response that is begun. */
let received: Promise<Response>;

beforeEach(async () => {
  [begun, expectations] = [[], 0];
  let receive: (response: Response) => void;
  received = new Promise((resolve) => (receive = resolve));
  listener = createListener({
    handle({ url, method }, response) {
      begun.push(url);
      receive(response);
      const body = `${method} ${url}`;
      response.setHeader("Content-Length", body.length);
      setTimeout(() => response.end(body), url === "/slow" ? 100 : 0);
    },
    rejectMessage: (status) => `HTTP/1.1 ${status} Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    rejectExpectation(request, response) {
      expectations++;
      writeFailureAndClose(request, response, new Failure(Reason.EXPECTATION_FAILED));
    },
    rejectSlow: () => undefined,
    peersAreClients: true,
    onLimit: () => undefined,
  });
  base = `http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`;
});
afterEach(() => listener.close(0, 0));

const get = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const upgrading = "Connection: Upgrade\r\nUpgrade: h2c\r\n";

test.each([
  ["in one piece", [get("/offer", upgrading) + get("/behind")]],
  ["behind a body", [`POST /offer HTTP/1.1\r\nHost: a\r\n${upgrading}Content-Length: 2\r\n\r\nok${get("/behind")}`]],
  // What a header of the second request holds must not become a third.
  ["in a header", [`${get("/offer", upgrading)}GET /behind HTTP/1.1\r\nHost: a\r\nX-Note: `, get("/smuggled")]],
  ["in pieces", [get("/offer", upgrading), get("/behind")]],
])(
  "a request that offers an upgrade is served, and is the last of its connection: %s [ERR-08]",
  async (_how, parts) => {
    const { responses, closed } = await exchange(base, parts, 4_000, 5);
    expect(responses.map(({ status, headers }) => [status, headers.get("connection")])).toEqual([[200, "close"]]);
    expect([begun, closed]).toEqual([["/offer"], true]);
  },
);

test.each([
  ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["an unknown version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"],
  ["rubbish", "rubbish\r\n\r\n"],
])("rejects %s behind a request after the response to that request [ERR-08]", async (_what, message) => {
  const { responses, closed } = await exchange(base, get("/slow") + message);
  expect(responses.map(({ status, body }) => [status, body])).toEqual([
    [200, "GET /slow"],
    [400, ""],
  ]);
  expect(closed).toBe(true);
});

test("rejects an Expect behind a request after the response to that request, and serves nothing more [ERR-08]", async () => {
  const { responses } = await exchange(base, get("/slow") + get("/", "Expect: more\r\n") + get("/behind"));
  expect(responses.map(({ status }) => status)).toEqual([200, 417]);
  expect(begun).toEqual(["/slow"]);
});

test("streams that are reset at once start nothing, whatever they expect (CVE-2023-44487) [ERR-08]", async () => {
  const fields = (...more: Buffer[]): Buffer =>
    Buffer.concat([Buffer.from([0x82, 0x86]), literal(":path", "/"), literal(":authority", "a"), ...more]);
  const request = (stream: number, isExpecting: boolean): Buffer =>
    frame(
      types.headers,
      flags.endStream | flags.endHeaders,
      stream,
      isExpecting ? fields(literal("expect", "more")) : fields(),
    );
  const cancel = Buffer.from([0, 0, 0, 8]);
  const reset = Array.from({ length: 200 }, (_, number) => {
    const stream = 2 * number + 1;
    return Buffer.concat([request(stream, number % 2 === 0), frame(types.reset, 0, stream, cancel)]);
  });
  const last = 401;
  const socket = connect(Number(new URL(base).port), "127.0.0.1");
  // In one write: apart from each other, a request and its reset would arrive one after the other.
  socket.write(Buffer.concat([preface, frame(types.settings, 0, 0), ...reset, request(last, true)]));
  const read = frameReader();
  await new Promise<void>((resolve) =>
    socket.on("data", (chunk) => {
      if (read(chunk).some(({ type, stream }) => type === types.headers && stream === last)) resolve();
    }),
  );
  socket.destroy();
  expect([begun, expectations]).toEqual([[], 1]);
});

test("a response to HEAD over HTTP/2 closes with its stream, and is cancelled if it was not ended [ERR-08]", async () => {
  const session = connectHttp2(base);
  session.on("error", () => undefined);
  const stream = session.request({ ":path": "/slow", ":method": "HEAD" });
  stream.on("error", () => undefined);
  const response = await received;
  const closed = new Promise((resolve) => response.once("close", () => resolve(response.writableEnded)));
  stream.close(8);
  expect(await closed).toBe(false);
  session.destroy();
});
