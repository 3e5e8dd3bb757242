// A plain HTTP/1.1 connection that reports errors which an HTTP library would silently retry.
import type { Socket } from "node:net";
import { connect } from "node:net";

export interface Reply {
  readonly status: number;
  /** Names in lowercase. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The body as it was received, with the sizes of its chunks; undefined for a reply that is no HTTP/1.1. */
  readonly bytes?: Buffer;
  /** Whether it has `Connection: close`. */
  readonly closes: boolean;
  /** Milliseconds since the request was written; undefined if unknown. */
  readonly wireMs?: number;
}

/** A connection for one request at a time. */
export interface Connection {
  /** False once it is closed or a response had `Connection: close`. */
  readonly usable: boolean;
  /**
   * Sends a complete request. Rejects with `NotAcceptedError`, with the socket's error, or with `NO_RESPONSE` if the
   * connection ends first.
   */
  send(request: string): Promise<Reply>;
  close(): void;
}

/** The connection ended without a response. */
class NoResponseError extends Error {
  override readonly name = "Unserved";
  readonly code = "NO_RESPONSE";
}

/**
 * A connection was reset before anything was received on it. The kernel does this if a port closes before the instance
 * accepts the connection. To a client, an instance that accepts and resets it looks the same, so only reads and writes
 * with an idempotency key may be retried.
 */
export class NotAcceptedError extends Error {
  override readonly name = "NotAcceptedError";
  readonly code = "NOT_ACCEPTED";
}

/** Whether a socket failed because its peer reset it. */
export function isReset(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

interface PendingReply {
  readonly sentAt: number;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** Connects to `http://HOST:PORT`. Rejects with the socket's error, such as ECONNREFUSED. */
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

/** Sends one request on a new connection. */
export async function sendOnce(base: string, request: string): Promise<Reply> {
  const connection = await openConnection(base);
  try {
    return await connection.send(request);
  } finally {
    connection.close();
  }
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
    end(
      silent && isReset(error) ? new NotAcceptedError("the connection was reset before anything was received") : error,
    ),
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
 * The first complete response in `received` and its length in bytes, or undefined. Headers and text are decoded lazily,
 * to leave the CPU to the service.
 */
function readReply(received: Buffer, sentAt: number): { readonly reply: Reply; readonly length: number } | undefined {
  const headLength = received.indexOf("\r\n\r\n");
  if (headLength === -1) return undefined;
  const head = received.toString("latin1", 0, headLength);
  const length = lengthOf(received, headLength + 4, head);
  if (length === undefined || received.length < length) return undefined;
  const bytes = received.subarray(headLength + 4, length);
  let headers: ReadonlyMap<string, string> | undefined;
  return {
    reply: {
      status: Number(head.slice(9, 12)),
      wireMs: performance.now() - sentAt,
      closes: /\r\nconnection: *close/i.test(head),
      get headers() {
        return (headers ??= readHeaders(head));
      },
      get body() {
        return bytes.toString();
      },
      bytes,
    },
    length,
  };
}

/** The length of a response; undefined if it is chunked and not complete. */
function lengthOf(received: Buffer, bodyAt: number, head: string): number | undefined {
  if (!/\r\ntransfer-encoding: *chunked/i.test(head))
    return bodyAt + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  // The last chunk has these five bytes, and JSON contains no line breaks.
  return received.toString("latin1", received.length - 5) === "0\r\n\r\n" ? received.length : undefined;
}

function readHeaders(head: string): ReadonlyMap<string, string> {
  const [, ...lines] = head.split("\r\n");
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
}

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
