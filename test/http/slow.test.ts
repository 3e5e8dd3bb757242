// Clients over HTTP/2 that do not send the whole of a request: HTTP/1.1 has limits of Node's own, HTTP/2 has ours.
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connect } from "node:http2";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { receiveBytes } from "../../src/http/body.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Request, Response, Surface } from "../../src/call/exchange.ts";
import type { Listener } from "../../src/http/listener.ts";
import { createListener } from "../../src/http/listener.ts";
import { publicListener } from "../../src/app/public-listener.ts";

let listener: Listener;
let session: ClientHttp2Session;
/** The handler of a request, which each test sets. */
let serve: (request: Request, response: Response) => void;

beforeEach(async () => {
  const rpc: Surface = {
    serves: (path) => path.startsWith("/records."),
    handle: async (_path, request, response) => serve(request, response),
  };
  listener = createListener(
    publicListener(readConfig({}), {
      rest: (request, response) => serve(request, response),
      rpc,
      others: [],
      documents: new Map(),
      rejectUnknown: () => undefined,
      throttle: () => Promise.resolve(),
      throttleDocument: () => Promise.resolve(),
      onError: () => undefined,
      log: () => undefined,
      shed: () => undefined,
      logShed: () => undefined,
      logRejected: () => undefined,
      onLimit: () => undefined,
    }),
  );
  session = connect(`http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`);
  await new Promise((resolve) => session.once("connect", resolve));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  session.destroy();
  await listener.close(0, 0);
});

/** Sends the head of a request and a part of its body; resolves when the listener has it. */
async function begin(path = "/v1/contacts", type = "application/json"): Promise<ClientHttp2Stream> {
  const received = new Promise<void>((resolve) => {
    const inner = serve;
    serve = (request, response) => {
      resolve();
      inner(request, response);
    };
  });
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": type }, { endStream: false });
  stream.on("error", () => undefined);
  stream.write("{");
  await received;
  return stream;
}

function statusOf(stream: ClientHttp2Stream): Promise<number> {
  return new Promise((resolve) => stream.once("response", (head) => resolve(Number(head[":status"]))));
}

test("a request that does not arrive completely within 15 seconds is 408 in the envelope, its stream is closed, and the connection stays open [ERR-08, RTE-05]", async () => {
  serve = (request) => void request.on("data", () => undefined);
  const stream = await begin();
  const head = new Promise<Record<string, unknown>>((resolve) => stream.once("response", resolve));
  let body = "";
  stream.setEncoding("utf8").on("data", (text: string) => (body += text));
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await head).toMatchObject({ ":status": 408, "ratelimit-limit": "10", "ratelimit-policy": "10;w=1" });
  await vi.advanceTimersByTimeAsync(1_000);
  await expect.poll(() => stream.closed).toBe(true);
  expect(JSON.parse(body)).toEqual({
    error: {
      code: "408",
      message: "The HTTP request did not arrive in time. Send it again.",
      reason: "REQUEST_TIMEOUT",
    },
  });
  serve = (_request, response) => void response.end();
  expect(await statusOf(session.request({ ":path": "/v1/health" }))).toBe(200);
});

test.each([
  ["application/grpc", { ":status": 200, "ratelimit-limit": "10", "grpc-status": "4" }],
  ["application/json", { ":status": 504, "ratelimit-limit": "10" }],
])(
  "over %s a call that does not arrive completely in time has the status of its protocol [ERR-08, WIR-06]",
  async (type, head) => {
    serve = (request) => void request.on("data", () => undefined);
    const stream = await begin("/records.v1.ContactService/GetContact", type);
    const received: Record<string, unknown>[] = [];
    stream
      .on("response", (headers) => received.push(headers))
      .on("trailers", (headers) => received.push(headers))
      .resume();
    await vi.advanceTimersByTimeAsync(15_000);
    await expect.poll(() => received.length).toBe(1);
    expect(received).toMatchObject([head]);
    await vi.advanceTimersByTimeAsync(1_000);
    await expect.poll(() => stream.closed).toBe(true);
  },
);

test("a request that got its 408 is not executed, even if its body is completed before its stream is closed [ERR-08]", async () => {
  const received = new Promise((resolve) => (serve = (request) => void receiveBytes(request, 10).then(resolve)));
  const stream = await begin();
  const status = statusOf(stream);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await status).toBe(408);
  stream.end("}");
  expect(await received).toBe("gone");
});

test("a client that was served and never stops sending is cut off after the same time", async () => {
  serve = (request, response) => {
    request.resume();
    response.writeHead(401).end();
  };
  const stream = await begin();
  expect(await statusOf(stream)).toBe(401);
  expect(stream.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(15_000);
  await expect.poll(() => stream.destroyed).toBe(true);
});

test("serves a request that arrived completely, however long that takes", async () => {
  let respond = (): void => undefined;
  serve = (request, response) => {
    request.resume();
    respond = () => void response.end();
  };
  const stream = await begin();
  const status = statusOf(stream);
  stream.end("}");
  await new Promise((resolve) => session.ping(resolve));
  await vi.advanceTimersByTimeAsync(20_000);
  respond();
  expect(await status).toBe(200);
});
