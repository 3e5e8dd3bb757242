// HTTP/2 side of a listener: Node's server, on connections with paced input, with the time limits of HTTP/1.1.
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { constants, createServer, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { closeSent, lingerMs } from "./linger.ts";
import type { Schedule } from "../call/fair-queue.ts";
import { createSerialQueue } from "../call/fair-queue.ts";
import type { SharedTotal } from "../call/shared-total.ts";
import type { Head, HeadResponse, ListenerOptions, Request, Response } from "../call/exchange.ts";
import { withExpectation } from "./expectation.ts";
import { sizeOf } from "./inbound.ts";
import type { PacedInput } from "./paced-input.ts";
import { networkOfPeer, setPeer } from "./peer-limits.ts";
import { originForm } from "./query.ts";
import type { ResponseTracker } from "./running.ts";
import type { IdleLimits, OpenStreams } from "./session-end.ts";
import { endOutsideParser, limitIdle } from "./session-end.ts";
import { endUnread } from "./unread.ts";

/** The server, its sessions, and a function that hands it a connection. */
export interface Http2 {
  readonly server: Http2Server;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  connect(socket: Socket, input: PacedInput): void;
  /** Ends a stream whose client is too slow. */
  cut(stream: ServerHttp2Stream): void;
}

/** Dependencies of the HTTP/2 server. */
export interface Http2Dependencies extends Pick<ListenerOptions, "rejectExpectation" | "rejectSlow" | "shed"> {
  readonly receive: (request: Request, response: Response) => void;
  readonly running: ResponseTracker;
  /** The memory that open streams may hold, in bytes: a client can leave any response unread. */
  readonly held: SharedTotal;
  readonly schedule: Schedule;
  readonly onSession: (session: ServerHttp2Session) => void;
  readonly idle: IdleLimits;
  readonly requestTimeout: number;
  /** How long a client may read nothing of a response, in milliseconds. */
  readonly stalledMs: number;
}

type StreamRequest = Request & { readonly stream: ServerHttp2Stream };

interface Connection {
  readonly socket: Socket;
  readonly network: string;
  readonly open: OpenStreams;
  /** Begins a request in the connection's turn. */
  readonly beginSoon: (begin: () => boolean) => void;
}

/**
 * The maximum number of streams of a connection, more than an instance has slots for by default (`MAX_IN_FLIGHT`).
 * Further requests of a connection wait in the client.
 */
const maxConcurrentStreams = 100;
/**
 * The maximum size of a request's headers in bytes. HTTP/2 counts 32 more for each header. The stream of a larger
 * request is reset, because its few bytes on the wire can expand to megabytes. A smaller one gets 431, as in HTTP/1.1
 * (`requireValidHead`).
 */
const maxHeaderListSize = 65_536;
const pairSize = 32;
const maxHeaderListPairs = maxHeaderListSize / pairSize;
/** The maximum memory of each session for unread data, in megabytes: as much as all streams may send. */
const maxSessionMemory = 64;
const settings = { maxConcurrentStreams, maxHeaderListSize };
/**
 * Otherwise, Node drops a header whose value begins or ends with a blank, without a word: a write would lose its
 * idempotency key. Node 20 lacks the setting.
 */
const whitespace = { strictFieldWhitespaceValidation: false };
/** The memory that an open stream holds in addition to its headers, in bytes. */
const streamBytes = 16_384;
/** How long the message of a rejected request may take to arrive, in milliseconds. */
const maxReadMs = 100;
/** How long an ended stream may take to close, before its connection is closed instead. */
const closingMs = 1_000;

const nothing = (): void => undefined;

export function createHttp2Server(dependencies: Http2Dependencies): Http2 {
  const { receive, running, held } = dependencies;
  const sessions = new Set<ServerHttp2Session>();
  const connections = new WeakMap<object, Connection>();

  function take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]): void {
    stream.on("error", nothing);
    // A client can reset the stream, or end the session, in the packet that opens it.
    const connection = stream.session && connections.get(stream.session);
    if (connection === undefined) return;
    const release = held.take(connection.network, streamBytes + sizeOf(rawHeaders));
    connection.open.begin();
    let [leaveQueue, forgetRejected] = [nothing, nothing];
    stream.once("close", () => {
      connection.open.end();
      release?.();
      leaveQueue();
      forgetRejected();
    });
    if (release === undefined) return cut(stream, constants.NGHTTP2_REFUSED_STREAM);
    const url = originForm(headers[":path"]);
    if (url === undefined) return stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
    if (exceedsList(rawHeaders)) return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const head: Head = { method: headers[":method"], url, headers, httpVersionMajor: 2, stream };
    // By its turn, it would have waited in a queue that nothing bounds. Reading would request the body of one that
    // expects 100-continue.
    const rejection =
      headers.expect === undefined ? dependencies.shed?.(head, (leave) => (leaveQueue = leave)) : undefined;
    if (rejection !== undefined && typeof rejection !== "function") {
      forgetRejected = running.followRejected(stream);
      return afterMessage(stream, () => rejectWith(stream, rejection));
    }
    const [request, response] = requestOf(stream, head, rawHeaders);
    running.follow(response);
    // Node emits `close` on a response to HEAD only if the response ended before its stream.
    if (request.method === "HEAD") stream.once("close", () => response.writableEnded || response.emit("close"));
    if (rejection !== undefined) {
      endUnread(request, response);
      return afterMessage(stream, () => rejection(request, response));
    }
    connection.beginSoon(() => {
      leaveQueue();
      // Rapid resets (CVE-2023-44487): nothing begins for a stream that was reset before its turn.
      if (stream.closed) {
        running.forget(response);
        return false;
      }
      limit(request, response, () => cut(stream), dependencies);
      begin(request, response);
      return true;
    });
  }
  const begin = withExpectation(receive, dependencies.rejectExpectation);

  function cut(stream: ServerHttp2Stream, code: number = constants.NGHTTP2_CANCEL): void {
    const connection = stream.session && connections.get(stream.session);
    stream.close(code);
    // If the client reads nothing from its connection, the reset cannot be sent either.
    setTimeout(() => stream.destroyed || connection?.socket.destroy(), closingMs).unref();
  }

  const server = createServer({ maxSessionMemory, maxHeaderListPairs, settings, ...whitespace });
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) =>
    take(stream, headers, raw),
  );
  server.on("sessionError", () => undefined);

  return {
    server,
    sessions,
    connect(socket, input) {
      // Node creates the session synchronously.
      server.once("session", (session) => {
        sessions.add(session);
        session.once("close", () => sessions.delete(session));
        endOutsideParser(session);
        setPeer(session, socket);
        const network = networkOfPeer(socket);
        const beginSoon = createSerialQueue((work) => dependencies.schedule(work, network), input.behind);
        const open = limitIdle(session, dependencies.idle, () => socket.destroy());
        connections.set(session, { socket, network, open, beginSoon });
        dependencies.onSession(session);
      });
      server.emit("connection", socketStream(socket));
    },
    cut,
  };
}

/**
 * Returns the request and the response of a stream, with the interface of HTTP/1.1. Node creates them for each stream
 * if the server has a listener for requests, but they cost more than the rejection of one.
 */
function requestOf(stream: ServerHttp2Stream, { url, headers }: Head, rawHeaders: string[]): [StreamRequest, Response] {
  const request = new Http2ServerRequest(stream, headers, {}, rawHeaders);
  request.url = url ?? "/";
  return [request, new Http2ServerResponse(stream)] as unknown as [StreamRequest, Response];
}

/**
 * Calls back as soon as the message of a request is read, because a client may lose a status that ends its stream
 * before. Waits at most `maxReadMs` for it.
 */
function afterMessage(stream: ServerHttp2Stream, respond: () => void): void {
  const respondOnce = (): void => {
    if (!stream.headersSent && !stream.closed) respond();
  };
  // Node would reset a stream that nothing reads, behind its status.
  stream.resume();
  if (isWhole(stream)) return respondOnce();
  const timer = setTimeout(respondOnce, maxReadMs);
  stream.once("close", () => clearTimeout(timer));
  stream.once("end", respondOnce);
}

/** Writes a response. Discards the rest of a message that is still arriving, for at most `lingerMs`. */
function rejectWith(stream: ServerHttp2Stream, { status, headers, body }: HeadResponse): void {
  stream.respond({ ":status": status, ...headers }, { endStream: body === undefined });
  if (!stream.writableEnded) stream.end(body);
  if (!isWhole(stream)) setTimeout(() => closeSent(stream), lingerMs).unref();
}

/** Returns whether the message of a request has arrived, read or not. That of a small one arrives with its headers. */
function isWhole(stream: ServerHttp2Stream): boolean {
  const { state } = stream.state;
  return state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE || state === constants.NGHTTP2_STREAM_STATE_CLOSED;
}

/** Returns whether the headers exceed the limit. Node checks this only once the client has acknowledged the limit. */
function exceedsList(rawHeaders: readonly string[]): boolean {
  return sizeOf(rawHeaders) + (rawHeaders.length / 2) * pairSize > maxHeaderListSize;
}

/** Limits how long a request may take to arrive, and its response to be sent. Node does so only for HTTP/1.1. */
function limit(request: StreamRequest, response: Response, cut: () => void, dependencies: Http2Dependencies): void {
  const { rejectSlow, stalledMs, requestTimeout } = dependencies;
  if (rejectSlow === undefined) return;
  const { stream } = request;
  stream.setTimeout(stalledMs, cut);
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    if (request.complete) return;
    // Cuts off a client that has its response and continues to send. Others may still read theirs.
    if (response.writableEnded) closeSent(stream);
    else if (!response.headersSent) rejectSlow(request, response);
  }, requestTimeout);
  response.once("close", () => clearTimeout(timer));
}

/** Returns a stream that reads from the socket and writes to it. Each ends with the other. */
export function socketStream(socket: Socket): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, written) => void socket.write(chunk, written),
    writev(chunks, written) {
      socket.cork();
      for (const [at, { chunk }] of chunks.entries()) {
        socket.write(chunk as Buffer, at === chunks.length - 1 ? written : undefined);
      }
      socket.uncork();
    },
    final: (ended) => void socket.end(ended),
    destroy(error, destroyed) {
      socket.destroy();
      destroyed(error);
    },
  });
  socket.on("data", (chunk: Buffer) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on("end", () => stream.push(null));
  socket.on("close", () => stream.destroy());
  return stream;
}
