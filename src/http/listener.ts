// One port for HTTP/1.1 and cleartext HTTP/2: looks at the first bytes of a connection and hands it to the right
// server.
import { createServer as createHttp1 } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, createServer as createHttp2 } from "node:http2";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { createServer as createTcp } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { createTurns, inTurn } from "../turns.ts";
import type { PacedInput } from "./paced-input.ts";
import { paceInput } from "./paced-input.ts";
import { setPeer } from "./peer.ts";
import { endSession, limitIdle } from "./session-end.ts";
import { sniff } from "./sniff.ts";
import { socketStream } from "./socket-stream.ts";

/** A request and a response of either version: those of HTTP/2 have the interface of HTTP/1.1. */
export type Request = IncomingMessage;
export type Response = ServerResponse;

/** What a listener does with requests, and with what the HTTP parser refuses by itself. */
export interface ListenerOptions {
  handle(request: Request, response: Response): void;
  /** The whole HTTP/1.1 response for a message that was refused with this status. */
  refuse(status: RefusedStatus): string;
  /** Answers an `Expect` that is not understood: 417. */
  refuseExpectation(request: Request, response: Response): void;
  /**
   * Answers a request over HTTP/2 that has not come whole in time, with 408; undefined where a request may last, as a
   * stream does.
   */
  readonly refuseSlow: ((request: Request, response: Response) => void) | undefined;
}

export type RefusedStatus = 400 | 408 | 431;

/** A port that is listened on. */
export interface Listener {
  /** Listens; 0 picks a free port. Returns the port. Rejects when the port is taken. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Stops taking connections, lets what runs finish within `graceMs`, and closes. For `idleMs` of these it also answers
   * what still comes on open connections, and tells each that it was the last: a client that sends on an idle one just
   * as it is closed would get no answer.
   */
  close(graceMs: number, idleMs: number): Promise<void>;
}

const headersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
const keepAliveMs = 65_000;
/** A client that takes nothing of its answer for so long is cut off: it holds the answer in our memory. */
const stalledMs = 30_000;
const maxConnections = 10_000;
/** How long the input of all connections is parsed before everything else has its turn. */
const turnMs = 2;
/** More than an instance has places for (`MAX_IN_FLIGHT`): the others of a connection wait on the client's side. */
const maxConcurrentStreams = 100;
/** A look at what has arrived is quick within this time; so many are taken in the hope of one. */
const quickMs = 0.5;
const mostLooks = 20;
/** However many connect: the port has to close. */
const longestTakeMs = 500;
/** A client that connects while the listener stops has this long for its first requests. */
const freshMs = 500;
/** After the grace period, for the last bytes and for the log. */
const cutMs = 500;

const cutOff = new WeakSet<Response>();

/** Whether the listener closed the connection of a response that was not ready: its grace period was over. */
export function wasCutOff(response: Response): boolean {
  return cutOff.has(response);
}

/** Slow clients are closed within seconds: Node's own defaults give them minutes. */
export function createListener(
  { handle, refuse, refuseExpectation, refuseSlow }: ListenerOptions,
  limits = { stalledMs },
): Listener {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const running = new Set<Response>();
  const wait = createTurns(turnMs);
  const inputs = new WeakMap<Socket, PacedInput>();
  const beginners = new WeakMap<ServerHttp2Session, (begin: () => void) => void>();
  let accepted = 0;
  let closing = false;
  let onIdle: (() => void) | undefined;

  /** A stop waits for the responses that are followed. */
  function follow(response: Response): void {
    running.add(response);
    response.once("close", () => forget(response));
  }
  function forget(response: Response): void {
    running.delete(response);
    if (running.size === 0) onIdle?.();
  }
  function receive(request: Request, response: Response): void {
    if (closing && request.httpVersionMajor === 1) response.setHeader("Connection", "close");
    request.url = originForm(request.url);
    if (refuseSlow !== undefined && request.httpVersionMajor === 2)
      limit(request as never, response, refuseSlow, limits.stalledMs);
    handle(request, response);
  }
  function take(request: Request, response: Response): void {
    follow(response);
    const input = inputs.get(request.socket);
    if (input === undefined) return receive(request, response);
    response.once("close", input.end);
    input.begin(() => receive(request, response));
  }
  function receiveExpectation(request: Request, response: Response): void {
    follow(response);
    refuseExpectation(request, response);
  }

  // Node's own refusal of a message without `Host` has no body: the handler refuses it instead.
  const http1 = createHttp1(
    {
      requireHostHeader: false,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: 1_000,
    },
    // The parser lets HTTP/0.9 and a literal HTTP/2.0 pass, which nobody sends in earnest.
    (request, response) =>
      request.httpVersionMajor === 1 ? take(request, response) : void request.socket.end(refuse(400)),
  );
  if (refuseSlow !== undefined) http1.timeout = limits.stalledMs;
  // Bounded by the size of the headers alone: of more than 2,000 lines Node would drop the rest unseen.
  http1.maxHeadersCount = 0;
  http1.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy();
    const here = [...running].filter(({ req }) => req.socket === socket);
    // A response that has begun cannot be followed by another to the same request.
    if (here.some(({ req, headersSent }) => !req.complete && headersSent)) return socket.destroy();
    const answer = (): unknown => (socket.writable ? socket.end(refuse(refusedStatus(error.code))) : socket.destroy());
    // What was taken before is answered first: its writes go on, whatever follows it on the connection.
    const before = here.findLast(({ req }) => req.complete);
    return before === undefined ? answer() : before.once("close", answer);
  });
  http1.on("checkExpectation", receiveExpectation);
  http1.on("connect", (_request: IncomingMessage, socket: Socket) => socket.end(refuse(400)));

  const http2 = createHttp2({ maxSessionMemory: 32, settings: { maxConcurrentStreams } });
  http2.on("request", ((request: Request & { readonly stream: ServerHttp2Stream }, response: Response) => {
    follow(response);
    const { stream } = request;
    // Rapid resets (CVE-2023-44487): by its turn the stream is reset, and nothing is begun for it.
    const begin = (): void => (stream.destroyed ? forget(response) : receive(request, response));
    if (stream.session === undefined) forget(response);
    else beginners.get(stream.session as ServerHttp2Session)?.(begin);
  }) as never);
  http2.on("sessionError", () => undefined);
  // Without these Node would answer by itself, and without a body.
  http2.on("checkExpectation", receiveExpectation as never);
  http2.on("connect", take as never);
  http2.on("session", (session) => {
    sessions.add(session);
    // Its first requests may have come with it.
    if (closing) setTimeout(() => endSession(session), freshMs);
    session.once("close", () => sessions.delete(session));
    limitIdle(session, { firstMs: headersTimeoutMs, nextMs: keepAliveMs });
  });

  const tcp = createTcp((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    // A peer that vanished without a word is found within minutes, also under a stream that has no time limit.
    socket.setKeepAlive(true, keepAliveMs);
    const input = paceInput(socket, wait);
    sniff(socket, headersTimeoutMs, (version) => {
      if (version === 1) {
        inputs.set(socket, input);
        http1.emit("connection", socket);
        // Node's parser takes the bytes past the stream, unless somebody listens to the stream.
        socket.on("data", () => undefined);
      } else {
        // Node creates the session at once.
        http2.once("session", (session) => {
          setPeer(session, socket);
          beginners.set(session, inTurn(wait, input.behind));
        });
        http2.emit("connection", socketStream(socket));
      }
    });
  });
  tcp.maxConnections = maxConnections;

  return {
    listen(port, host) {
      return new Promise((resolve, reject) => {
        tcp.once("error", reject);
        tcp.listen(port, host, () => {
          tcp.off("error", reject);
          // Node looks for slow and idle clients only on a server that listens itself.
          http1.emit("listening");
          resolve((tcp.address() as AddressInfo).port);
        });
      });
    },
    async close(graceMs, idleMs) {
      closing = true;
      for (const response of running)
        if (response.req.httpVersionMajor === 1 && !response.headersSent) response.setHeader("Connection", "close");
      const until = performance.now() + graceMs;
      await takeAll(() => accepted, Math.min(until, performance.now() + longestTakeMs));
      const closed = new Promise<void>((resolve) => tcp.close(() => resolve()));
      for (const session of sessions) endSession(session);
      await orAfter(idleMs, closed);
      // A connection on which something has arrived is not idle.
      await lookAround();
      http1.closeIdleConnections();
      if (running.size > 0)
        await orAfter(until - performance.now(), new Promise<void>((resolve) => (onIdle = resolve)));
      for (const response of running) cutOff.add(response);
      // The last answers may still be on their way out of the sockets' buffers.
      for (const socket of sockets) socket.destroySoon();
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, cutMs);
      await closed;
      // The sockets are closed before their requests hear of it, and each of these has a line in the log.
      if (running.size > 0) await orAfter(cutMs, new Promise<void>((resolve) => (onIdle = resolve)));
      clearTimeout(cut);
      http1.close();
      http2.close();
    },
  };
}

/**
 * Waits until the kernel has no connection left that it took for us: it would reset them with the port. Node accepts
 * one in each turn of its loop. What arrives after the last look is lost, so the last one has to be quick, if any is.
 */
async function takeAll(accepted: () => number, until: number): Promise<void> {
  for (let looks = 0; performance.now() < until; looks++) {
    const [before, began] = [accepted(), performance.now()];
    await lookAround();
    if (accepted() === before && (performance.now() - began < quickMs || looks >= mostLooks)) return;
  }
}

/** Lets Node look once at everything that has arrived: from one check phase to the next but one lies a whole look. */
async function lookAround(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((soon) => setImmediate(soon));
}

/** Settles as the promise does, or after `ms`. */
async function orAfter(ms: number, promise: Promise<void>): Promise<void> {
  if (ms <= 0) return;
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

/**
 * Node limits how long a request may take to come, and its answer to go, in HTTP/1.1 alone. A client that was answered
 * and goes on sending is cut off.
 */
function limit(
  request: Request & { readonly stream: ServerHttp2Stream },
  response: Response,
  refuseSlow: (request: Request, response: Response) => void,
  stalledMs: number,
): void {
  request.stream.setTimeout(stalledMs, () => request.stream.close(constants.NGHTTP2_CANCEL));
  if (request.stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    if (response.headersSent && !request.complete) request.stream.close();
    else if (!request.complete) refuseSlow(request, response);
  }, requestTimeoutMs);
  response.once("close", () => clearTimeout(timer));
}

/** The path and query of a target that is a whole URL, which a server has to take as well (RFC 9112 §3.2.2). */
function originForm(target: string | undefined): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target ?? "");
  if (match === null) return target ?? "/";
  const rest = (target ?? "").slice(match[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function refusedStatus(code: string | undefined): RefusedStatus {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}
