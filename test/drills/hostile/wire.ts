// Sends a request over HTTP/1.1 or HTTP/2 with a short timeout, without a library that would correct its headers.
import type { ClientHttp2Session } from "node:http2";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import type { Sent } from "../isolation/raw.ts";

/** The HTTP status; 0 without a response. */
export interface Status {
  readonly status: number;
}

/** A way to send requests, by HTTP version. */
export interface Wire {
  readonly version: "HTTP/1.1" | "HTTP/2";
  /** The maximum size of a header in bytes. */
  readonly maxBytes: number;
  /** Headers that it cannot carry. */
  readonly lacks: ReadonlySet<string>;
  send(sent: Sent): Promise<Status>;
}

/** Some headers make the service wait for a body until its own limit. The drill does not wait that long. */
const patienceMs = 400;

let addresses = 0;

/** Gives each request another address in the proxy's header, so that none is throttled. */
function nextAddress(): Readonly<Record<string, string>> {
  addresses += 1;
  return { "x-forwarded-for": `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}` };
}

/** HTTP/1.1 with a new connection for each request. */
export const http1: Wire = {
  version: "HTTP/1.1",
  maxBytes: 15_000,
  lacks: new Set([":authority"]),
  send: ({ base, method, path, headers, body }) => {
    const lines = Object.entries({ host: "localhost", connection: "close", ...nextAddress(), ...headers });
    const length = body === undefined ? [] : [["content-length", String(body.length)] as const];
    const names = new Set(lines.map(([name]) => name));
    const all = [...lines, ...length.filter(([name]) => !names.has(name))].map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${all.join("")}\r\n`, "latin1");
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(base).port), "127.0.0.1");
      const timer = setTimeout(() => end(0), patienceMs);
      const end = (status: number): void => {
        clearTimeout(timer);
        socket.destroy();
        resolve({ status });
      };
      socket.once("data", (chunk: Buffer) => end(Number(chunk.toString("latin1", 9, 12)) || 0));
      socket.once("error", () => end(0));
      socket.once("close", () => end(0));
      socket.end(Buffer.concat([head, body ?? Buffer.alloc(0)]));
    });
  },
};

/** HTTP/2 with one connection to each listener, which `close` ends. */
export function createHttp2(): Wire & { close(): void } {
  const sessions = new Map<string, ClientHttp2Session>();
  const sessionTo = (base: string): ClientHttp2Session => {
    const known = sessions.get(base);
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connectHttp2(base, { maxSendHeaderBlockLength: 1_000_000 } as object);
    session.on("error", () => undefined);
    sessions.set(base, session);
    return session;
  };
  return {
    version: "HTTP/2",
    maxBytes: 58_000,
    lacks: new Set([
      "connection",
      "keep-alive",
      "transfer-encoding",
      "upgrade",
      "proxy-connection",
      "http2-settings",
      "host",
    ]),
    send: ({ base, method, path, headers, body }) =>
      new Promise((resolve) => {
        let status = 0;
        const timer = setTimeout(() => resolve({ status }), patienceMs);
        const done = (): void => {
          clearTimeout(timer);
          resolve({ status });
        };
        try {
          const stream = sessionTo(base).request(
            { ":method": method, ":path": path, ...nextAddress(), ...headers },
            { endStream: body === undefined },
          );
          stream.on("response", (received) => {
            status = Number(received[constants.HTTP2_HEADER_STATUS]);
            stream.resume();
          });
          stream.on("error", () => undefined);
          stream.once("close", done);
          if (body !== undefined) stream.end(body);
        } catch {
          done();
        }
      }),
    close() {
      for (const session of sessions.values()) session.destroy();
    },
  };
}
