// HTTP/2 sessions that end: running requests are served, and the client knows that no other one has started.
import { once } from "node:events";
import type { ServerHttp2Session } from "node:http2";
import { connect as connectHttp2, createServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createListener } from "../../src/http/listener.ts";
import type { Listener } from "../../src/http/listener.ts";
import { endSession, limitIdle } from "../../src/http/session-end.ts";
import type { Frame } from "../fixtures/clients/http2-frames.ts";
import { flags, frame, frameReader, literal, preface, types } from "../fixtures/clients/http2-frames.ts";

let listener: Listener;
let port: number;
let [requests, delayMs] = [0, 0];
const clients = new Set<Socket>();
const head = Buffer.concat([
  literal(":method", "GET"),
  literal(":scheme", "http"),
  literal(":path", "/"),
  literal(":authority", "localhost"),
]);

beforeEach(async () => {
  [requests, delayMs] = [0, 0];
  const nothing = (): void => undefined;
  listener = createListener({
    handle: (_request, response) => void (requests++, setTimeout(() => response.end("done"), delayMs)),
    rejectMessage: () => "",
    rejectExpectation: nothing,
    rejectSlow: nothing,
    peersAreClients: true,
    onLimit: () => undefined,
  });
  port = await listener.listen(0, "127.0.0.1");
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  clients.clear();
  await listener.close(0, 0);
});

interface Client {
  readonly socket: Socket;
  readonly frames: readonly Frame[];
  send(stream: number): void;
  /** Resolves with the first matching frame. */
  seen(is: (frame: Frame) => boolean): Promise<Frame>;
}

/** A client that acknowledges nothing by itself. */
function open(at: number): Client {
  const [frames, read] = [[] as Frame[], frameReader()];
  const socket = connect(at, "127.0.0.1");
  clients.add(socket);
  socket.on("error", () => undefined).on("data", (chunk: Buffer) => frames.push(...read(chunk)));
  socket.write(Buffer.concat([preface, frame(types.settings, 0, 0)]));
  return {
    socket,
    frames,
    send(stream) {
      socket.write(frame(types.headers, flags.endStream | flags.endHeaders, stream, head));
    },
    async seen(is) {
      await expect.poll(() => frames.some(is), { timeout: 4_000 }).toBe(true);
      return frames.find(is) as Frame;
    },
  };
}

const isType =
  (type: number) =>
  (one: Frame): boolean =>
    one.type === type;
const responses =
  (stream: number) =>
  (one: Frame): boolean =>
    one.type === types.data && one.stream === stream;
const acknowledge = ({ socket }: Client, { type, payload }: Frame): void =>
  void socket.write(frame(type, flags.ack, 0, type === types.ping ? payload : undefined));

test("an idle session ends with the last stream that was served, so that the client knows that a later request did not start [OPS-16]", async () => {
  const client = open(port);
  acknowledge(client, await client.seen(isType(types.settings)));
  client.send(1);
  await client.seen(responses(1));
  const stopped = listener.close(5_000, 4_000);
  client.send(3);
  const { payload } = await client.seen(isType(types.goaway));
  const last = payload.readUInt32BE(0);
  expect(payload.readUInt32BE(4)).toBe(0);
  await stopped;
  const completed = client.frames.filter(isType(types.headers)).map(({ stream }) => stream);
  expect(completed).toEqual(last === 1 ? [1] : [1, 3]);
});

test("serves what is running when the session begins to end [OPS-16]", async () => {
  const client = open(port);
  acknowledge(client, await client.seen(isType(types.settings)));
  delayMs = 100;
  client.send(1);
  await expect.poll(() => requests).toBe(1);
  await listener.close(5_000, 4_000);
  expect(client.frames.filter(isType(types.data)).map(({ stream }) => stream)).toContain(1);
});

test("a client that connects while the listener stops gets the settings first, and its request is served [OPS-16]", async () => {
  const socket = connect(port, "127.0.0.1");
  clients.add(socket);
  await once(socket, "connect");
  const stopped = listener.close(5_000, 4_000);
  const [frames, read] = [[] as Frame[], frameReader()];
  socket.on("data", (chunk: Buffer) => {
    for (const one of read(chunk)) {
      frames.push(one);
      if ((one.type === types.settings || one.type === types.ping) && one.flags === 0)
        socket.write(frame(one.type, flags.ack, 0, one.type === types.ping ? one.payload : undefined));
    }
  });
  socket.write(
    Buffer.concat([
      preface,
      frame(types.settings, 0, 0),
      frame(types.headers, flags.endStream | flags.endHeaders, 1, head),
    ]),
  );
  await stopped;
  expect(frames[0]?.type).toBe(types.settings);
  expect(frames.map(({ type }) => type)).toEqual(expect.arrayContaining([types.goaway, types.data]));
});

test("a session without a request gets a GOAWAY and is closed", async () => {
  const server = createServer();
  server.on("session", (session: ServerHttp2Session) =>
    limitIdle(session, { firstMs: 20, nextMs: 20 }, () => session.destroy()),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [code] = (await once(client, "goaway")) as [number];
  await once(client, "close");
  expect(code).toBe(0);
  await new Promise((closed) => server.close(closed));
});

// What Node frees too early is overwritten only now and then, so that the process aborts after some hundred packets.
test.each([
  ["that ends the session", 0, flags.endStream],
  ["with an error", 2, 0],
])("requests around a GOAWAY %s, in one packet, abort nothing", async (_what, code, end) => {
  const goaway = Buffer.alloc(8);
  goaway.writeUInt32BE(code, 4);
  const packet = Buffer.concat([
    preface,
    frame(types.settings, 0, 0),
    frame(types.headers, flags.endHeaders, 1, head),
    frame(types.goaway, 0, 0, goaway),
    frame(types.headers, flags.endHeaders | end, 3, head),
    end === 0 ? frame(types.data, 0, 3, Buffer.from("{}")) : Buffer.alloc(0),
  ]);
  for (let packets = 0; packets < 1_000; packets += 50) {
    const sent = Array.from({ length: 50 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    await Promise.all(
      sent.map(async (socket) => {
        socket.write(packet);
        await once(socket, "data");
        socket.destroy();
      }),
    );
  }
  const client = open(port);
  client.send(1);
  expect((await client.seen(responses(1))).payload.toString()).toBe("done");
});

test("leaves a session alone that is already destroyed", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on("error", () => undefined);
  const [session] = (await once(server, "session")) as [ServerHttp2Session];
  session.destroy();
  expect(() => endSession(session)).not.toThrow();
  client.destroy();
  await new Promise((closed) => server.close(closed));
});
