// Slow clients that send single bytes, or nothing, over HTTP/1.1 and HTTP/2.
import type { Socket } from "node:net";
import { connect } from "node:net";
import { flags, frame, literal, preface as magic, types } from "../../fixtures/clients/http2-frames.ts";

/** The port that slow clients connect to, and a valid key. */
export interface Victim {
  readonly port: number;
  readonly key: string;
}

export interface Slowness {
  readonly name: string;
  /** What is sent at once, and what is then sent repeatedly, byte by byte. */
  readonly first: (victim: Victim) => Buffer;
  readonly drip: (victim: Victim) => Buffer;
}

/** How the clients of one kind ended. */
export interface Outcome {
  readonly kind: Slowness;
  readonly clients: number;
  /** How long each stayed connected, in milliseconds; undefined if it was not closed. */
  readonly keptMs: readonly (number | undefined)[];
}

const nothing = Buffer.alloc(0);
const preface = Buffer.concat([magic, frame(types.settings, 0, 0)]);
const prefaceWithoutWindow = Buffer.concat([magic, frame(types.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))]);
const getHealth = frame(
  types.headers,
  flags.endStream | flags.endHeaders,
  1,
  Buffer.concat([Buffer.from([0x82, 0x86]), literal(":path", "/v1/health"), literal(":authority", "localhost")]),
);
const head = (victim: Victim, more: string): Buffer =>
  Buffer.from(
    `POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${victim.key}\r\n` +
      `Content-Type: application/json\r\n${more}`,
  );

export const slownesses: readonly Slowness[] = [
  { name: "silent", first: () => nothing, drip: () => nothing },
  { name: "headers byte by byte", first: (victim) => head(victim, "X-Slow: "), drip: () => Buffer.from("a") },
  {
    name: "a body byte by byte",
    first: (victim) => head(victim, "Content-Length: 100000\r\n\r\n{"),
    drip: () => Buffer.from(" "),
  },
  {
    name: "a chunked body byte by byte",
    first: (victim) => head(victim, "Transfer-Encoding: chunked\r\n\r\n"),
    drip: () => Buffer.from("1\r\n \r\n"),
  },
  { name: "half of HTTP/2's preface", first: () => preface.subarray(0, 10), drip: () => nothing },
  { name: "HTTP/2 without a request", first: () => preface, drip: () => nothing },
  {
    name: "HTTP/2 with pings and no request",
    first: () => preface,
    drip: () => frame(types.ping, 0, 0, Buffer.alloc(8)),
  },
  {
    name: "HTTP/2 headers byte by byte",
    first: (victim) => Buffer.concat([preface, headersOf(victim).subarray(0, 12)]),
    drip: (victim) => headersOf(victim).subarray(12),
  },
  {
    name: "an HTTP/2 body byte by byte",
    first: (victim) => Buffer.concat([preface, headersOf(victim)]),
    drip: () => frame(types.data, 0, 1, Buffer.from(" ")),
  },
  {
    name: "a missing HTTP/2 body",
    first: (victim) => Buffer.concat([preface, headersOf(victim)]),
    drip: () => nothing,
  },
  {
    name: "nothing after a response",
    first: () => Buffer.from("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    drip: () => nothing,
  },
  {
    name: "an HTTP/2 response byte by byte",
    first: () => Buffer.concat([prefaceWithoutWindow, getHealth]),
    drip: () => frame(types.windowUpdate, 0, 1, Buffer.from([0, 0, 0, 1])),
  },
];

/** How often a slow client sends a byte. */
const everyMs = 300;

/** Starts `count` clients, the same number of each kind. `settled` waits until all are closed or the time is up. */
export function startSlow(
  victim: Victim,
  kinds: readonly Slowness[],
  count: number,
): { settled(waitMs: number): Promise<Outcome[]> } {
  const begun = performance.now();
  const clients = Array.from({ length: count }, (_, at) => client(victim, kinds[at % kinds.length] as Slowness));
  return {
    async settled(waitMs) {
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>(
        (resolve) => (timer = setTimeout(resolve, Math.max(0, waitMs - (performance.now() - begun)))),
      );
      await Promise.race([over, Promise.all(clients.map(({ closed }) => closed))]);
      clearTimeout(timer);
      const outcomes = kinds.map((kind) => {
        const own = clients.filter((one) => one.kind === kind);
        return { kind, clients: own.length, keptMs: own.map(({ keptMs }) => keptMs()) };
      });
      for (const { socket } of clients) socket.destroy();
      return outcomes;
    },
  };
}

interface Client {
  readonly kind: Slowness;
  readonly socket: Socket;
  readonly closed: Promise<void>;
  keptMs(): number | undefined;
}

function client(victim: Victim, kind: Slowness): Client {
  const drip = kind.drip(victim);
  let kept: number | undefined;
  let at = 0;
  let begun = performance.now();
  const socket = connect(victim.port, "127.0.0.1", () => {
    begun = performance.now();
    socket.write(kind.first(victim));
  });
  // Starts over after the last byte of a frame.
  const timer = setInterval(() => {
    if (drip.length === 0 || socket.connecting || !socket.writable) return;
    socket.write(drip.subarray(at % drip.length, (at % drip.length) + 1));
    at++;
  }, everyMs);
  socket.on("error", () => undefined);
  socket.resume();
  const closed = new Promise<void>((resolve) => {
    const end = (): void => {
      clearInterval(timer);
      kept ??= performance.now() - begun;
      resolve();
    };
    socket.once("end", end);
    socket.once("close", end);
  });
  return { kind, socket, closed, keptMs: () => kept };
}

/** The HEADERS frame of a POST to contacts: method and scheme from the static table, the others as literals. */
function headersOf({ key }: Victim): Buffer {
  const fields = { ":path": "/v1/contacts", ":authority": "localhost", authorization: `Bearer ${key}` };
  const all = Object.entries({ ...fields, "content-type": "application/json" });
  const block = [Buffer.from([0x83, 0x86]), ...all.map(([name, value]) => literal(name, value))];
  return frame(types.headers, flags.endHeaders, 1, Buffer.concat(block));
}
