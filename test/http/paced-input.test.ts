// Paced input: nothing that a connection sends is lost or reordered, and only a few requests start at once.
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Socket } from "node:net";
import { connect } from "node:net";
import { connect as connectHttp2 } from "node:http2";
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { ListenerOptions, Request, Response } from "../../src/call/exchange.ts";
import type { Listener } from "../../src/http/listener.ts";
import { createListener } from "../../src/http/listener.ts";
import { flags, frame, literal, preface, types } from "../fixtures/clients/http2-frames.ts";
import { exchange } from "../fixtures/clients/raw.ts";

let listener: Listener;
afterEach(() => listener.close(0, 0));

/** Listens with this handler, and with this load shedding; returns the base URL. */
async function listen(
  handle: (request: Request, response: Response) => void,
  shed: NonNullable<ListenerOptions["shed"]> = () => undefined,
): Promise<string> {
  const nothing = (): void => undefined;
  listener = createListener({
    handle,
    shed,
    rejectMessage: () => "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    rejectExpectation: nothing,
    rejectSlow: nothing,
    peersAreClients: true,
    onLimit: () => undefined,
  });
  return `http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`;
}

function digest(received: Request, response: Response): void {
  const hash = createHash("sha256");
  received.on("data", (chunk: Buffer) => hash.update(chunk));
  received.on("end", () => response.end(hash.digest("hex")));
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
/** Around the size of a piece, and beyond what is read at once. */
const sizes = [0, 1, 2_047, 2_048, 2_049, 65_536, 300_000, 3_000_000];

test("pipelined requests start a few at a time, and are served in their order", async () => {
  const waiting: (() => void)[] = [];
  const base = await listen(({ url }, response) => void waiting.push(() => response.end(url)));
  const count = 1_000;
  const one = (at: number): string =>
    `GET /${at} HTTP/1.1\r\nHost: a\r\n${at === count - 1 ? "Connection: close\r\n" : ""}\r\n`;
  const exchanged = exchange(base, Array.from({ length: count }, (_, at) => one(at)).join(""), 30_000);
  let most = 0;
  let completed = 0;
  while (completed < count) {
    // Long enough for all of them to begin, if they could.
    for (let turns = 0; turns < 50; turns++) await turn();
    most = Math.max(most, waiting.length);
    completed += waiting.length;
    for (const response of waiting.splice(0)) response();
  }
  expect((await exchanged).responses.map(({ body }) => body)).toEqual(
    Array.from({ length: count }, (_, at) => `/${at}`),
  );
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(150);
});

test.each(sizes)("a body of %i bytes arrives unchanged over HTTP/1.1, with and without chunks", async (size) => {
  const base = await listen(digest);
  const body = randomBytes(size);
  for (const headers of [{ "Content-Length": String(size) }, { "Transfer-Encoding": "chunked" }]) {
    const response = await new Promise<string>((resolve, reject) => {
      const sent = request(base, { method: "POST", headers, agent: false }, (response) => {
        let text = "";
        response
          .setEncoding("utf8")
          .on("data", (chunk: string) => (text += chunk))
          .on("end", () => resolve(text));
      });
      sent.on("error", reject);
      for (let at = 0; at < size; at += 1_000) sent.write(body.subarray(at, at + 1_000));
      sent.end();
    });
    expect(response).toBe(sha256(body));
  }
});

test.each(sizes)("a body of %i bytes arrives unchanged over HTTP/2, in parallel with another", async (size) => {
  const base = await listen(digest);
  const session = connectHttp2(base);
  const bodies = [randomBytes(size), randomBytes(size)];
  const responses = await Promise.all(
    bodies.map((body) => {
      const stream = session.request({ ":method": "POST", ":path": "/" });
      stream.end(body);
      return stream.setEncoding("utf8").reduce((text: string, chunk: string) => text + chunk, "");
    }),
  );
  expect(responses).toEqual(bodies.map(sha256));
  session.destroy();
});

test("the responses of a broken connection close, also those that wait for another", async () => {
  let [begun, closed] = [0, 0];
  const base = await listen((_request, response) => {
    begun++;
    response.once("close", () => closed++);
  });
  const socket = connect(Number(new URL(base).port), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(10));
  while (begun < 10) await turn();
  socket.resetAndDestroy();
  while (closed < 10) await turn();
  // Nothing is left for a stop to wait for.
  await listener.close(60_000, 0);
  expect([begun, closed]).toEqual([10, 10]);
});

test("a client with one request waits for few of those of a client with many connections", async () => {
  const parsed: string[] = [];
  let before: number | undefined;
  const base = await listen(
    ({ headers }, response) => {
      if (headers[":authority"] === "one") before = parsed.length;
      response.end();
    },
    ({ headers }, onTurn) => {
      if (onTurn === undefined) return undefined;
      // Longer than a decision takes, so that a few fill a turn.
      for (const until = performance.now() + 0.1; performance.now() < until; );
      parsed.push(headers[":authority"] as string);
      return undefined;
    },
  );
  const open = async (localAddress: string): Promise<Socket> => {
    const socket = connect({ port: Number(new URL(base).port), host: "127.0.0.1", localAddress });
    socket.write(Buffer.concat([preface, frame(types.settings, 0, 0)]));
    await once(socket, "data");
    return socket;
  };
  const request = (at: number, client: string): Buffer =>
    frame(
      types.headers,
      flags.endStream | flags.endHeaders,
      2 * at + 1,
      Buffer.concat(
        Object.entries({ ":method": "GET", ":scheme": "http", ":path": "/", ":authority": client }).map((header) =>
          literal(...header),
        ),
      ),
    );
  const many = await Promise.all(Array.from({ length: 50 }, () => open("127.0.0.1")));
  const one = await open("127.0.0.2");
  for (const socket of many) socket.write(Buffer.concat(Array.from({ length: 60 }, (_, at) => request(at, "many"))));
  one.write(request(0, "one"));
  while (before === undefined) await turn();
  expect(before).toBeLessThan(400);
  for (const socket of [...many, one]) socket.destroy();
});

test("rejects garbage after a request once, and serves the request before it", async () => {
  let closeListeners = 0;
  const base = await listen((_request, response) => {
    setTimeout(() => {
      closeListeners = response.listenerCount("close");
      response.end("late");
    }, 50);
  });
  const garbage = `GET / HTTP/1.1\r\nHost: a\r\n\r\n${"\0".repeat(60_000)}`;
  const { responses } = await exchange(base, garbage);
  expect(responses.map(({ status }) => status)).toEqual([200, 400]);
  expect(closeListeners).toBeLessThan(10);
});

test("rejects CONNECT with bytes behind it, and closes its connection", async () => {
  const base = await listen((_request, response) => response.end());
  const { closed, responses } = await exchange(base, `CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${"x".repeat(5_000)}`);
  expect([closed, responses[0]?.status]).toEqual([true, 400]);
});

test("serves what has arrived on an idle connection when the listener stops", async () => {
  const base = await listen(digest);
  const port = Number(new URL(base).port);
  const sockets = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    }),
  );
  const body = Buffer.alloc(10_000, "a");
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`;
  // Each has had a request before: a connection that is fresh counts as one whose request is on its way.
  const completed = sockets.map(async (socket) => {
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "data");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    return { socket, closed: once(socket, "close"), text: () => text };
  });
  const idle = await Promise.all(completed);
  for (const { socket } of idle) socket.write(head + body.toString());
  await listener.close(5_000, 0);
  // The listener may have closed before this process reads its last responses.
  await Promise.all(idle.map(({ closed }) => closed));
  expect(idle.filter(({ text }) => text().includes(sha256(body)))).toHaveLength(50);
});
