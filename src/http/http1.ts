// The HTTP/1.1 side of a listener: Node's server, on connections whose input is paced.
import type { IncomingMessage, Server } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { lingerMs } from "../../gateway/linger.ts";
import type { ListenerOptions, RejectedStatus, Request, Response } from "../call/exchange.ts";
import { expectsContinue } from "./expectation.ts";
import type { PacedInput } from "./paced-input.ts";
import type { Running } from "./running.ts";

/** The server, and how it gets a connection. */
export interface Http1 {
  readonly server: Server;
  connect(socket: Socket, input: PacedInput): void;
}

/** Its dependencies. */
export interface Http1Dependencies extends Pick<ListenerOptions, "rejectMessage" | "rejectExpectation"> {
  readonly receive: (request: Request, response: Response) => void;
  readonly running: Running;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** How long a connection may have no traffic under a request; 0 for ever. */
  readonly stalledMs: number;
}

interface Connection {
  readonly input: PacedInput;
  /** Those that are not closed, in the order of their requests. */
  readonly responses: Set<Response>;
  failed: boolean;
}

const offersUpgrade = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

export function createHttp1Server(dependencies: Http1Dependencies): Http1 {
  const { receive, running, rejectMessage, rejectExpectation, stalledMs, ...timeouts } = dependencies;
  const connections = new WeakMap<Socket, Connection>();

  function take(request: Request, response: Response, begin = receive): void {
    running.follow(response);
    const connection = connections.get(request.socket);
    if (connection === undefined) return begin(request, response);
    const { input, responses } = connection;
    // Node's parser stops behind it, and loses what it has read by then: the connection continues as what it was.
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
  // Node's own rejection of a message without `Host` has no body: the handler rejects it instead. The parser lets
  // HTTP/0.9 and a literal HTTP/2.0 pass, which nobody sends in earnest.
  const rejectOn = (socket: Socket, error: { readonly code?: string | undefined }): void =>
    reject(error, socket, connections.get(socket), rejectMessage);
  const server = createServer(options, (request, response) =>
    request.httpVersionMajor === 1 ? take(request, response) : rejectOn(request.socket, {}),
  );
  server.timeout = stalledMs;
  // Bounded by the size of the headers alone: of more than 2,000 lines Node would drop the rest unseen.
  server.maxHeadersCount = 0;
  server.on("checkExpectation", (request: Request, response: Response) => take(request, response, rejectExpectation));
  server.on("checkContinue", (request: Request, response: Response) => {
    if (!expectsContinue(request)) return take(request, response, rejectExpectation);
    response.writeContinue();
    take(request, response);
  });
  server.on("connect", (_request: IncomingMessage, socket: Socket) => rejectOn(socket, {}));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => rejectOn(socket, error));

  return {
    server,
    connect(socket, input) {
      const responses = new Set<Response>();
      connections.set(socket, { input, responses, failed: false });
      server.emit("connection", socket);
      // Node's parser takes the bytes past the stream, unless somebody listens to the stream.
      socket.on("data", () => undefined);
      // Node closes the response that is being sent, and none that waits behind it.
      socket.once("close", () => setImmediate(() => responses.forEach((response) => void response.emit("close"))));
    },
  };
}

/** Whether a response can be sent: the connection is open, and closes behind none of the responses before it. */
function canRespond(response: Response, responses: Iterable<Response>): boolean {
  const { socket } = response.req;
  if (socket.destroyed || socket.writableEnded) return false;
  for (const other of responses) {
    if (other === response) break;
    if (other.getHeader("Connection") === "close") return false;
  }
  return true;
}

/** Responds to a message that is none, that is not served or did not come in time, and closes its connection. */
function reject(
  { code }: { readonly code?: string | undefined },
  socket: Socket,
  connection: Connection | undefined,
  rejectMessage: Http1Dependencies["rejectMessage"],
): void {
  // Node reports it again for all that follows.
  if (connection?.failed === true) return;
  if (connection !== undefined) connection.failed = true;
  connection?.input.discard();
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const here = [...(connection?.responses ?? [])];
  // A response that has begun cannot be followed by another to the same request.
  if (here.some(({ req, headersSent }) => !req.complete && headersSent)) return void socket.destroy();
  const respond = (): void => close(socket, rejectMessage(rejectedStatus(code)));
  // What was taken before is served first: its writes continue, whatever follows it on the connection.
  const before = here.findLast(({ req }) => req.complete);
  return before === undefined ? respond() : void before.once("close", respond);
}

/** Sends the last response of a connection, throws away what still comes, and closes it. */
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
