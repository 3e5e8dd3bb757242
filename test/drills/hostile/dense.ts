// Connections full of minimal messages, so that one read of the server receives thousands.
import { connect } from "node:net";
import { flags, frame, literal, preface, types } from "../../fixtures/clients/http2-frames.ts";

/** A kind of small message. */
export interface Dense {
  readonly name: string;
  /** The first bytes of a connection. */
  readonly head: Buffer;
  readonly messages: Buffer;
  /** Whether the messages can be repeated forever. Otherwise they need a new connection each time. */
  readonly repeats: boolean;
}

export interface Sent {
  readonly megabytes: number;
  readonly connections: number;
}

/** The attacker's address in the proxy's header, so that it does not share a bucket with the probes. */
const address = "203.0.113.66";
const size = 262_144;
const lines = `Host: localhost\r\nX-Forwarded-For: ${address}\r\n`;
const resetCode = Buffer.from([0, 0, 0, 8]);

function full(message: Buffer): Buffer {
  return Buffer.alloc(size - (size % message.length), message);
}

/** The headers of a stream as an uncompressed HPACK block. */
function headers(method: string, path: string): Buffer {
  const fields = { ":method": method, ":scheme": "http", ":authority": "localhost", ":path": path };
  const all = Object.entries({ ...fields, "x-forwarded-for": address });
  return Buffer.concat(all.map(([name, value]) => literal(name, value)));
}

/** Frames for successive streams, with odd ids, as for a client. */
function streams(frames: (stream: number) => readonly Buffer[]): Buffer {
  const all: Buffer[] = [];
  for (let stream = 1, length = 0; length < size; stream += 2) {
    for (const one of frames(stream)) {
      all.push(one);
      length += one.length;
    }
  }
  return Buffer.concat(all);
}

const opened = (stream: number, method: string, path: string, end = 0): Buffer =>
  frame(types.headers, flags.endHeaders | end, stream, headers(method, path));
const begun = Buffer.concat([preface, frame(types.settings, 0, 0)]);

/** All kinds. None needs a key. */
export const dense: readonly Dense[] = [
  {
    name: "one-byte chunks",
    head: Buffer.from(`POST /v1/nothing HTTP/1.1\r\n${lines}Transfer-Encoding: chunked\r\n\r\n`),
    messages: full(Buffer.from("1\r\n \r\n")),
    repeats: true,
  },
  {
    name: "pipelined requests",
    head: Buffer.alloc(0),
    messages: full(Buffer.from(`GET /v1/contacts HTTP/1.1\r\n${lines}\r\n`)),
    repeats: false,
  },
  {
    name: "one-byte data frames",
    head: Buffer.concat([begun, opened(1, "POST", "/v1/nothing")]),
    messages: full(frame(types.data, 0, 1, Buffer.from(" "))),
    repeats: true,
  },
  {
    name: "streams",
    head: begun,
    messages: streams((stream) => [opened(stream, "GET", "/v1/contacts", flags.endStream)]),
    repeats: false,
  },
  {
    name: "reset streams",
    head: begun,
    messages: streams((stream) => [
      opened(stream, "GET", "/v1/contacts", flags.endStream),
      frame(types.reset, 0, stream, resetCode),
    ]),
    repeats: false,
  },
  {
    name: "pings and priorities",
    head: begun,
    messages: full(
      Buffer.concat([frame(types.ping, 0, 0, Buffer.alloc(8)), frame(types.priority, 0, 1, Buffer.alloc(5))]),
    ),
    repeats: true,
  },
];

/** Sends messages over `count` connections for `ms` milliseconds, each as fast as the server reads. */
export async function sendDense(
  base: string,
  { head, messages, repeats }: Dense,
  count: number,
  ms: number,
): Promise<Sent> {
  const port = Number(new URL(base).port);
  const until = performance.now() + ms;
  let bytes = 0;
  let connections = 0;

  function send(): Promise<void> {
    connections++;
    return new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write(head);
        more();
      });
      const end = setTimeout(() => socket.destroy(), until - performance.now());
      const more = (): void => {
        bytes += messages.length;
        const room = socket.write(messages);
        if (!repeats) socket.end();
        else if (room) setImmediate(more);
      };
      if (repeats) socket.on("drain", more);
      socket.on("error", () => undefined);
      socket.resume();
      socket.once("close", () => {
        clearTimeout(end);
        resolve();
      });
    });
  }
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() < until) await send();
    }),
  );
  return { megabytes: bytes / 1e6, connections };
}
