// HTTP/2 side of a listener: Node's server, on connections with paced input, with the time limits of HTTP/1.1.
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { constants, createServer } from "node:http2";
import type { Socket } from "node:net";
import { closeSent } from "./linger.ts";
import type { Schedule } from "../call/fair-queue.ts";
import { createSerialQueue } from "../call/fair-queue.ts";
import type { SharedTotal } from "../call/shared-total.ts";
import type { ListenerOptions, Request, Response } from "../call/exchange.ts";
import { withExpectation } from "./expectation.ts";
import { sizeOf } from "./inbound.ts";
import type { PacedInput } from "./paced-input.ts";
import { networkOfPeer } from "./peer-limits.ts";
import { setPeer } from "./peer.ts";
import { originForm } from "./query.ts";
import type { ResponseTracker } from "./running.ts";
import type { IdleLimits } from "./session-end.ts";
import { limitIdle } from "./session-end.ts";
import { socketStream } from "./socket-stream.ts";
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

export function createHttp2Server(dependencies: Http2Dependencies): Http2 {
  const { receive, running, held } = dependencies;
  const sessions = new Set<ServerHttp2Session>();
  const connections = new WeakMap<object, Connection>();

  function take(request: StreamRequest, response: Response, begin = receive): void {
    const { stream } = request;
    const target = originForm(request.url);
    if (target === undefined) return stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
    request.url = target;
    if (exceedsList(request)) return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const connection = stream.session && connections.get(stream.session);
    if (connection === undefined) return;
    const release = held.take(connection.network, streamBytes + sizeOf(request.rawHeaders));
    if (release === undefined) return cut(stream, constants.NGHTTP2_REFUSED_STREAM);
    let leaveQueue = (): void => undefined;
    stream.once("close", () => {
      release();
      leaveQueue();
    });
    running.follow(response);
    // Node emits `close` on a response to HEAD only if the response ended before its stream.
    if (request.method === "HEAD") stream.once("close", () => response.writableEnded || response.emit("close"));
    // By its turn, it would have waited in a queue that nothing bounds. Reading would request the body of one that
    // expects 100-continue.
    if (begin === receive && request.headers.expect === undefined) {
      const reject = dependencies.shed?.(request, (leave) => (leaveQueue = leave));
      if (reject !== undefined) {
        stream.setTimeout(dependencies.stalledMs, () => cut(stream));
        return rejectRead(request, response, reject);
      }
    }
    connection.beginSoon(() => {
      leaveQueue();
      // Rapid resets (CVE-2023-44487): nothing begins for a stream that was reset before its turn.
      if (stream.destroyed) {
        running.forget(response);
        return false;
      }
      limit(request, response, () => cut(stream), dependencies);
      begin(request, response);
      return true;
    });
  }

  function cut(stream: ServerHttp2Stream, code: number = constants.NGHTTP2_CANCEL): void {
    const connection = stream.session && connections.get(stream.session);
    stream.close(code);
    // If the client reads nothing from its connection, the reset cannot be sent either.
    setTimeout(() => stream.destroyed || connection?.socket.destroy(), closingMs).unref();
  }

  const server = createServer({ maxSessionMemory, maxHeaderListPairs, settings, ...whitespace });
  serveWith(server, take, dependencies);

  return {
    server,
    sessions,
    connect(socket, input) {
      // Node creates the session synchronously.
      server.once("session", (session) => {
        sessions.add(session);
        session.once("close", () => sessions.delete(session));
        setPeer(session, socket);
        const network = networkOfPeer(socket);
        const beginSoon = createSerialQueue((work) => dependencies.schedule(work, network), input.behind);
        connections.set(session, { socket, network, beginSoon });
        limitIdle(session, dependencies.idle, () => socket.destroy());
        dependencies.onSession(session);
      });
      server.emit("connection", socketStream(socket));
    },
    cut,
  };
}

/** Sets the handlers of a server's requests. */
function serveWith(
  server: Http2Server,
  take: (request: StreamRequest, response: Response, begin?: Http2Dependencies["receive"]) => void,
  { rejectExpectation }: Http2Dependencies,
): void {
  const serve = (request: StreamRequest, response: Response): void => take(request, response);
  server.on("request", serve as never);
  server.on("sessionError", () => undefined);
  // Without these handlers, Node would respond itself, without a body.
  server.on("connect", serve as never);
  const expecting = withExpectation(
    serve as never,
    ((request: StreamRequest, response: Response) => take(request, response, rejectExpectation)) as never,
  );
  server.on("checkExpectation", expecting as never);
  server.on("checkContinue", expecting as never);
}

/**
 * Rejects a request as soon as its message is read, because a client may lose a status that ends its stream before.
 * Waits at most `maxReadMs` for it.
 */
function rejectRead(request: StreamRequest, response: Response, reject: (response: Response) => void): void {
  const rejectOnce = (): void => {
    clearTimeout(timer);
    if (response.headersSent || request.stream.destroyed) return;
    endUnread(request, response);
    reject(response);
  };
  const timer = setTimeout(rejectOnce, maxReadMs);
  request.stream.once("close", () => clearTimeout(timer));
  request.once("end", rejectOnce);
  request.resume();
}

/** Returns whether the headers exceed the limit. Node checks this only once the client has acknowledged the limit. */
function exceedsList({ rawHeaders }: Request): boolean {
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
