// Clients that do not read their response, which would stay in memory for as long as they like.
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { TestContext } from "vitest";
import { flags, frame, literal, preface, types } from "../fixtures/clients/http2-frames.ts";
import { recordSize } from "../../src/large/sending.ts";
import { createListener } from "../../src/http/listener.ts";

/** More than the buffers of both ends hold. */
const large = Buffer.alloc(32 * 1024 * 1024, "a");
/** Longer than a busy process prevents its own client from reading. */
const limits = { stalledMs: 1_500, minRate: 500_000 };
/** The request for a response that has the time of a small one, though it does not fit in the buffers. */
const unannounced = "/unannounced";

/** A listener of one test, and the end of its only response. */
interface Own {
  readonly port: number;
  readonly closed: Promise<void>;
}

async function listen({ onTestFinished }: TestContext): Promise<Own> {
  let resolveClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (resolveClosed = resolve));
  const nothing = (): void => undefined;
  const listener = createListener(
    {
      handle(request, response) {
        response.once("close", resolveClosed);
        if (request.url !== unannounced) recordSize(response, large.length);
        response.end(large);
      },
      rejectMessage: () => "",
      rejectExpectation: nothing,
      rejectSlow: nothing,
      peersAreClients: true,
      onLimit: () => undefined,
    },
    limits,
  );
  onTestFinished(() => listener.close(0, 0));
  return { port: await listener.listen(0, "127.0.0.1"), closed };
}

/** Calls `act` repeatedly until the listener has closed the response. */
async function untilClosed(closed: Promise<void>, act: () => void): Promise<void> {
  const timer = setInterval(act, 100);
  await closed.finally(() => clearInterval(timer));
}

/** Reads everything that has arrived; resolves with its length. */
function readRest(stream: Readable): Promise<number> {
  let length = 0;
  stream.on("data", (chunk: Buffer) => (length += chunk.length)).on("error", () => undefined);
  return new Promise((resolve) => stream.once("close", () => resolve(length)));
}

/** They wait at the same time for the ends of their responses. */
test.concurrent("cuts off a client over HTTP/1.1 that reads nothing", async (context) => {
  const { port, closed } = await listen(context);
  const socket = connect(port, "127.0.0.1").pause();
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await closed;
  expect(await readRest(socket.resume())).toBeLessThan(large.length);
});

test.concurrent("cuts off a client over HTTP/2 that reads nothing", async (context) => {
  const { port, closed } = await listen(context);
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": "/" }).pause();
  await closed;
  expect(await readRest(stream.resume())).toBeLessThan(large.length);
  session.destroy();
});

test.concurrent("a client that reads a little at a time, for longer than it may read nothing, gets the whole response", async (context) => {
  const { port } = await listen(context);
  const socket = connect(port, "127.0.0.1");
  let read = 0;
  let cutOff = false;
  const begun = performance.now();
  socket.on("data", (chunk) => {
    read += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  socket.on("close", () => (cutOff = true));
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (read < large.length && !cutOff) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(read).toBeGreaterThanOrEqual(large.length);
  expect(performance.now() - begun).toBeGreaterThan(limits.stalledMs);
  socket.destroy();
});

test.concurrent("cuts off a client over HTTP/1.1 that reads steadily, but too slowly for the size of the response [OPS-71]", async (context) => {
  const { port, closed } = await listen(context);
  const socket = connect(port, "127.0.0.1").pause();
  let read = 0;
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    read += chunk.length;
    socket.pause();
  });
  socket.write(`GET ${unannounced} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await untilClosed(closed, () => socket.resume());
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(large.length);
  socket.destroy();
});

test.concurrent("cuts off a client over HTTP/2 that reads a byte at a time, too slowly for the size of the response [OPS-71]", async (context) => {
  const { port, closed } = await listen(context);
  const noWindow = Buffer.from([0, 4, 0, 0, 0, 0]);
  const oneByte = Buffer.from([0, 0, 0, 1]);
  const head = [
    [":method", "GET"],
    [":scheme", "http"],
    [":authority", "localhost"],
    [":path", unannounced],
  ].map(([name = "", value = ""]) => literal(name, value));
  const socket = connect(port, "127.0.0.1");
  let read = 0;
  socket.on("error", () => undefined).on("data", (chunk) => (read += chunk.length));
  socket.write(Buffer.concat([preface, frame(types.settings, 0, 0, noWindow)]));
  socket.write(frame(types.headers, flags.endStream | flags.endHeaders, 1, Buffer.concat(head)));
  await untilClosed(closed, () => void socket.write(frame(types.windowUpdate, 0, 1, oneByte)));
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(large.length);
  socket.destroy();
});
