// An HTTP/1.1 connection with nothing between the drill and the socket: what the client of a library would retry is
// reported here.
import type { Socket } from "node:net";
import { connect } from "node:net";

/** A response, read whole. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** It said `Connection: close`. */
  readonly closes: boolean;
  /** The milliseconds since the request was written; undefined if unknown. */
  readonly wireMs?: number;
}

/** A connection on which one request at a time is sent. */
export interface Connection {
  /** False once it has been closed, or its last response said `Connection: close`. */
  readonly usable: boolean;
  /**
   * Sends a whole request, as bytes or text. Rejects with `NotAcceptedError`, with the socket's error, or with
   * `NO_RESPONSE` when the connection ended first.
   */
  send(request: string): Promise<Reply>;
  close(): void;
}

/** The connection ended without a response to what was sent on it. */
class NoResponseError extends Error {
  override readonly name = "Unserved";
  readonly code = "NO_RESPONSE";
}

/**
 * A connection was reset on which nothing had ever come back. The kernel does so where a port closes before the
 * instance accepts the connection. To a client, an instance that accepts and resets it looks the same, so only a read,
 * or a write with an idempotency key, may be repeated.
 */
export class NotAcceptedError extends Error {
  override readonly name = "NotAcceptedError";
  readonly code = "NOT_ACCEPTED";
}

/** Returns whether a socket failed because its peer reset it. */
export function isReset(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

interface PendingReply {
  readonly sentAt: number;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** Connects to `http://HOST:PORT`. Rejects with the socket's error: ECONNREFUSED where nobody listens. */
export function openConnection(base: string): Promise<Connection> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(overSocket(socket));
    });
  });
}

function overSocket(socket: Socket): Connection {
  let pending: PendingReply | undefined;
  let usable = true;
  let silent = true;
  let received: Buffer = Buffer.alloc(0);

  function end(error: Error): void {
    usable = false;
    pending?.reject(error);
    pending = undefined;
    socket.destroy();
  }
  socket.on("data", (chunk: Buffer) => {
    silent = false;
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const read = readReply(received, pending?.sentAt ?? NaN);
    if (read === undefined) return;
    received = received.subarray(read.length);
    const { reply } = read;
    if (reply.closes) usable = false;
    const current = pending;
    pending = undefined;
    current?.resolve(reply);
  });
  socket.on("error", (error) =>
    end(silent && isReset(error) ? new NotAcceptedError("the connection was reset before anything came back") : error),
  );
  socket.on("end", () => end(new NoResponseError("the connection was closed before a response")));
  socket.on("close", () => end(new NoResponseError("the connection was closed before a response")));

  return {
    get usable() {
      return usable;
    },
    send(request) {
      return new Promise((resolve, reject) => {
        pending = { sentAt: performance.now(), resolve, reject };
        socket.write(request);
      });
    },
    close: () => socket.destroy(),
  };
}

/**
 * The first response in what was received, and its length in bytes; undefined while it is not whole. Headers are read
 * when they are requested: under load the machine is the service's.
 */
function readReply(received: Buffer, sentAt: number): { readonly reply: Reply; readonly length: number } | undefined {
  const headLength = received.indexOf("\r\n\r\n");
  if (headLength === -1) return undefined;
  const head = received.toString("latin1", 0, headLength);
  const length = headLength + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  if (received.length < length) return undefined;
  let headers: ReadonlyMap<string, string> | undefined;
  return {
    reply: {
      status: Number(head.slice(9, 12)),
      wireMs: performance.now() - sentAt,
      closes: /\r\nconnection: *close/i.test(head),
      get headers() {
        return (headers ??= readHeaders(head));
      },
      body: received.toString("utf8", headLength + 4, length),
    },
    length,
  };
}

function readHeaders(head: string): ReadonlyMap<string, string> {
  const [, ...lines] = head.split("\r\n");
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
}

/** The text of a request over HTTP/1.1. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const typed =
    body === undefined
      ? headers
      : { ...headers, "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) };
  return `${method} ${path} HTTP/1.1\r\nHost: drill\r\n${Object.entries(typed)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n${text}`;
}
