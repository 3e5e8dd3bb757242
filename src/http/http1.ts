// HTTP/1.1 side of a listener: Node's server, on connections with paced input.
import type { IncomingMessage, Server } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { lingerMs } from "./linger.ts";
import type { ListenerOptions, RejectedStatus, Request, Response } from "../call/exchange.ts";
import { withExpectation } from "./expectation.ts";
import { originForm } from "./query.ts";
import type { PacedInput } from "./paced-input.ts";
import type { ResponseTracker } from "./running.ts";

/** The server, and a function that hands it a connection. */
export interface Http1 {
  readonly server: Server;
  connect(socket: Socket, input: PacedInput): void;
}

/** Dependencies of the HTTP/1.1 server. */
export interface Http1Dependencies extends Pick<ListenerOptions, "rejectMessage" | "rejectExpectation"> {
  readonly receive: (request: Request, response: Response) => void;
  readonly running: ResponseTracker;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** How long a connection may have no traffic during a request, in milliseconds; 0 for no limit. */
  readonly stalledMs: number;
}

interface Connection {
  readonly input: PacedInput;
  /** The responses that are not closed, in the order of their requests. */
  readonly responses: Set<Response>;
  failed: boolean;
}

const offersUpgrade = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

export function createHttp1Server(dependencies: Http1Dependencies): Http1 {
  const { receive, running, rejectMessage, rejectExpectation, stalledMs, ...timeouts } = dependencies;
  const connections = new WeakMap<Socket, Connection>();

  function take(request: Request, response: Response, begin = receive): void {
    const target = originForm(request.url);
    if (target === undefined) return rejectOn(request.socket, {});
    running.follow(response);
    request.url = target;
    const connection = connections.get(request.socket);
    if (connection === undefined) return begin(request, response);
    const { input, responses } = connection;
    // Node's parser stops after an upgrade request and loses the bytes that it has read. Node would continue the
    // connection in HTTP/1.1, so it is closed after the response.
    if (request.headers.upgrade !== undefined && offersUpgrade.test(request.headers.connection ?? ""))
      response.setHeader("Connection", "close");
    responses.add(response);
    response.once("close", () => {
      responses.delete(response);
      input.end();
    });
    input.begin(() => (canRespond(response, responses) ? begin(request, response) : running.forget(response)));
  }

  const options = { requireHostHeader: false, connectionsCheckingInterval: 1_000, ...timeouts };
  // Node's own rejection of a message without `Host` has no body, so the handler rejects it instead.
  const rejectOn = (socket: Socket, error: { readonly code?: string | undefined }): void =>
    reject(error, socket, connections.get(socket), rejectMessage);
  const server = createServer(options, (request, response) =>
    isFramed(request) ? take(request, response) : rejectOn(request.socket, {}),
  );
  server.timeout = stalledMs;
  // Only the size of the headers is limited: Node would silently drop all headers beyond 2,000.
  server.maxHeadersCount = 0;
  // Node then responds to the requests of a client that has closed its sending half, and closes the connection.
  Object.assign(server, { httpAllowHalfOpen: true });
  const expecting = withExpectation(take, (request, response) => take(request, response, rejectExpectation));
  server.on("checkExpectation", expecting);
  server.on("checkContinue", expecting);
  server.on("connect", (_request: IncomingMessage, socket: Socket) => rejectOn(socket, {}));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => rejectOn(socket, error));

  return {
    server,
    connect(socket, input) {
      const responses = new Set<Response>();
      connections.set(socket, { input, responses, failed: false });
      socket.allowHalfOpen = true;
      server.emit("connection", socket);
      // Without a listener for `data`, Node's parser would read from the handle directly, and bypass the pacing.
      socket.on("data", () => undefined);
      probeHalfClosed(socket, responses);
      // Node emits `close` on the response that is being sent, but not on those that wait behind it.
      socket.once("close", () => setImmediate(() => responses.forEach((response) => void response.emit("close"))));
    },
  };
}

/**
 * Returns whether a message has a version and a framing that exist. The parser lets HTTP/0.9 and a literal HTTP/2.0
 * pass, and chunks in HTTP/1.0: a proxy that does not know them there sees other messages (RFC 9112 §6.1).
 */
function isFramed({ httpVersionMajor, httpVersion, headers }: Request): boolean {
  return httpVersionMajor === 1 && (httpVersion !== "1.0" || headers["transfer-encoding"] === undefined);
}

/** Returns whether a response can be sent: the connection is open, and no earlier response closes it. */
function canRespond(response: Response, responses: Iterable<Response>): boolean {
  const { socket } = response.req;
  if (socket.destroyed || socket.writableEnded) return false;
  for (const other of responses) {
    if (other === response) break;
    if (other.getHeader("Connection") === "close") return false;
  }
  return true;
}

/** Responds to a message that is malformed, not supported or late, and closes its connection. */
function reject(
  { code }: { readonly code?: string | undefined },
  socket: Socket,
  connection: Connection | undefined,
  rejectMessage: Http1Dependencies["rejectMessage"],
): void {
  // Node reports the error again for all input that follows.
  if (connection?.failed === true) return;
  if (connection !== undefined) connection.failed = true;
  connection?.input.discard();
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const here = [...(connection?.responses ?? [])];
  // After a response has begun, no second one can be sent to the same request. What was written of it still is.
  if (here.some(({ req, headersSent }) => !req.complete && headersSent)) return close(socket, "");
  const respond = (): void => close(socket, rejectMessage(rejectedStatus(code), messageOf(code)));
  // Earlier complete requests are served first: their writes continue, whatever follows on the connection.
  const before = here.findLast(({ req }) => req.complete);
  return before === undefined ? respond() : void before.once("close", respond);
}

/** Sends the last response of a connection, discards further input, and closes the connection. */
function close(socket: Socket, text: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.end(text);
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function rejectedStatus(code: string | undefined): RejectedStatus {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}

/** Returns what is wrong if the parser knows it: many clients send the text of a user as it is. */
function messageOf(code: string | undefined): string | undefined {
  return code === "HPE_INVALID_URL" || code === "HPE_INVALID_CONSTANT"
    ? "The path or the query has a character that must be percent-encoded, such as a blank as %20 or é as %C3%A9."
    : undefined;
}

/** The time until the first probe, in milliseconds. Each further one waits twice as long. */
const firstMs = 250;

/**
 * Probes a client that has sent its end while it has a request, until the response begins. A client that has left
 * rejects what is sent to it, which closes the connection and cancels the request. One that waits ignores the interim
 * response, as every client of HTTP/1.1 must (RFC 9110 §15.2). Once the response has begun, nothing but itself can be
 * sent: a client to which nothing is being sent then counts as one that has left.
 */
function probeHalfClosed(socket: Socket, responses: ReadonlySet<Response>): void {
  socket.once("end", () => {
    const probe = (waitMs: number): void => {
      const [response] = responses;
      if (response === undefined || socket.destroyed) return;
      if (response.headersSent && response.writableLength === 0) return void socket.destroy();
      if (!response.headersSent && response.req.httpVersionMinor === 1) response.writeProcessing();
      timer = setTimeout(probe, waitMs, 2 * waitMs);
    };
    let timer = setTimeout(probe, firstMs, firstMs);
    socket.once("close", () => clearTimeout(timer));
  });
}
