// The HTTP/2 side of a listener: Node's server, on connections whose input is paced, with the time limits of HTTP/1.1.
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { constants, createServer } from "node:http2";
import type { Socket } from "node:net";
import type { Wait } from "../turns.ts";
import { inTurn } from "../turns.ts";
import type { ListenerOptions, Request, Response } from "../call/exchange.ts";
import { expectsContinue } from "./expectation.ts";
import { sizeOf } from "./inbound.ts";
import type { PacedInput } from "./paced-input.ts";
import { setPeer } from "./peer.ts";
import type { Running } from "./running.ts";
import type { IdleLimits } from "./session-end.ts";
import { limitIdle } from "./session-end.ts";
import { socketStream } from "./socket-stream.ts";

/** The server, its sessions, and how it gets a connection. */
export interface Http2 {
  readonly server: Http2Server;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  connect(socket: Socket, input: PacedInput): void;
  /** Ends a stream whose client is too slow. */
  cut(stream: ServerHttp2Stream): void;
}

/** Its dependencies. */
export interface Http2Dependencies extends Pick<ListenerOptions, "rejectExpectation" | "rejectSlow"> {
  readonly receive: (request: Request, response: Response) => void;
  readonly running: Running;
  readonly wait: Wait;
  readonly onSession: (session: ServerHttp2Session) => void;
  readonly idle: IdleLimits;
  readonly requestTimeout: number;
  /** How long a client may take nothing of a response. */
  readonly stalledMs: number;
}

type StreamRequest = Request & { readonly stream: ServerHttp2Stream };

interface Connection {
  readonly socket: Socket;
  /** Begins a request when it is the turn of its connection. */
  readonly beginSoon: (begin: () => void) => void;
}

/** More than an instance has places for (`MAX_IN_FLIGHT`): the others of a connection wait on the client's side. */
const maxConcurrentStreams = 100;
/**
 * Of the headers of a request in bytes, as HTTP/2 counts them: with 32 more for each. The stream of a larger one is
 * reset: the few bytes that it is sent in can stand for megabytes. A smaller one gets 431 as in HTTP/1.1
 * (`requireSoundHead`).
 */
const maxHeaderListSize = 65_536;
const pairSize = 32;
const maxHeaderListPairs = maxHeaderListSize / pairSize;
/** How much the sessions may hold of what clients have not read, in megabytes each: as much as all streams may send. */
const maxSessionMemory = 64;
const settings = { maxConcurrentStreams, maxHeaderListSize };
/** How long a stream that was ended may take to close, before its connection is closed instead. */
const closingMs = 1_000;

export function createHttp2Server(dependencies: Http2Dependencies): Http2 {
  const { receive, running, rejectExpectation } = dependencies;
  const sessions = new Set<ServerHttp2Session>();
  const connections = new WeakMap<object, Connection>();

  function take(request: StreamRequest, response: Response, begin = receive): void {
    const { stream } = request;
    if (exceedsList(request)) return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    running.follow(response);
    // Node closes a response to HEAD only where it was ended before its stream.
    if (request.method === "HEAD") stream.once("close", () => response.writableEnded || response.emit("close"));
    const connection = stream.session && connections.get(stream.session);
    if (connection === undefined) return running.forget(response);
    connection.beginSoon(() => {
      // Rapid resets (CVE-2023-44487): by its turn the stream is reset, and nothing is begun for it.
      if (stream.destroyed) return running.forget(response);
      limit(request, response, () => cut(stream), dependencies);
      begin(request, response);
    });
  }

  function cut(stream: ServerHttp2Stream): void {
    const connection = stream.session && connections.get(stream.session);
    stream.close(constants.NGHTTP2_CANCEL);
    // Where the client reads nothing of its connection, the reset cannot be sent either.
    setTimeout(() => stream.destroyed || connection?.socket.destroy(), closingMs).unref();
  }

  const server = createServer({ maxSessionMemory, maxHeaderListPairs, settings });
  const serve = (request: StreamRequest, response: Response): void => take(request, response);
  server.on("request", serve as never);
  server.on("sessionError", () => undefined);
  // Without these Node would respond by itself, and without a body.
  server.on("connect", serve as never);
  server.on("checkExpectation", ((request: StreamRequest, response: Response) => {
    if (!expectsContinue(request)) return take(request, response, rejectExpectation);
    response.writeContinue();
    take(request, response);
  }) as never);

  return {
    server,
    sessions,
    connect(socket, input) {
      // Node creates the session at once.
      server.once("session", (session) => {
        sessions.add(session);
        session.once("close", () => sessions.delete(session));
        setPeer(session, socket);
        connections.set(session, { socket, beginSoon: inTurn(dependencies.wait, input.behind) });
        limitIdle(session, dependencies.idle, () => socket.destroy());
        dependencies.onSession(session);
      });
      server.emit("connection", socketStream(socket));
    },
    cut,
  };
}

/** Node looks at the size of headers itself once the client has acknowledged the limit. */
function exceedsList({ rawHeaders }: Request): boolean {
  return sizeOf(rawHeaders) + (rawHeaders.length / 2) * pairSize > maxHeaderListSize;
}

/** Node limits how long a request may take to come, and its response to go, in HTTP/1.1 alone. */
function limit(request: StreamRequest, response: Response, cut: () => void, dependencies: Http2Dependencies): void {
  const { rejectSlow, stalledMs, requestTimeout } = dependencies;
  if (rejectSlow === undefined) return;
  const { stream } = request;
  stream.setTimeout(stalledMs, cut);
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    // A client that has its response and continues to send is cut off.
    if (response.headersSent && !request.complete) stream.close();
    else if (!request.complete) rejectSlow(request, response);
  }, requestTimeout);
  response.once("close", () => clearTimeout(timer));
}
