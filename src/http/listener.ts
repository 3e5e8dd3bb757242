// One port for HTTP/1.1 and cleartext HTTP/2: looks at the first bytes of a connection and hands it to the right
// server.
import type { AddressInfo, Server as TcpServer, Socket } from "node:net";
import { createServer as createTcp } from "node:net";
import { createTurns } from "../turns.ts";
import { orAfter } from "../time-limit.ts";
import { lookAround, takeAll } from "./arrivals.ts";
import type { ListenerOptions, Request, Response } from "../call/exchange.ts";
import type { Http1 } from "./http1.ts";
import { createHttp1Server } from "./http1.ts";
import type { Http2 } from "./http2.ts";
import { createHttp2Server } from "./http2.ts";
import type { PacedInput } from "./paced-input.ts";
import { paceInput } from "./paced-input.ts";
import type { Running } from "./running.ts";
import { createRunning } from "./running.ts";
import { endSession } from "./session-end.ts";
import { sniff } from "./sniff.ts";
import { limitReading } from "./slow-readers.ts";
import { endUnread } from "./unread.ts";

/** A port that is listened on. */
export interface Listener {
  /** Listens; 0 picks a free port. Returns the port. Rejects when the port is taken. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Stops taking connections, lets what runs finish within `graceMs`, and closes. For `idleMs` of these it also serves
   * what still comes on open connections, and says to each that it was the last: a client that sends on an idle one
   * just as it is closed would get no response.
   */
  close(graceMs: number, idleMs: number): Promise<void>;
}

const headersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
const keepAliveMs = 65_000;
/** A client that takes nothing of its response for so long is cut off: it holds the response in our memory. */
const stalledMs = 30_000;
/** In bytes a second: one that takes a little all the time is cut off as well. Ten streams share 100 kB/s at worst. */
const leastRate = 10_000;
const maxConnections = 10_000;
/** How long the input of all connections is parsed before everything else has its turn. */
const turnMs = 2;
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
export function createListener(options: ListenerOptions, limits = { stalledMs, leastRate }): Listener {
  const sockets = new Map<Socket, PacedInput>();
  const running = createRunning();
  const wait = createTurns(turnMs);
  let accepted = 0;
  let closing = false;

  function receive(request: Request, response: Response): void {
    if (closing && request.httpVersionMajor === 1) response.setHeader("Connection", "close");
    request.url = originForm(request.url);
    endUnread(request, response);
    options.handle(request, response);
  }
  const times = { headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs };
  const http1 = createHttp1Server({
    ...{ ...options, ...times, receive, running, keepAliveTimeout: keepAliveMs },
    stalledMs: options.rejectSlow === undefined ? 0 : limits.stalledMs,
  });
  const http2 = createHttp2Server({
    ...{ ...options, ...times, receive, running, wait, stalledMs: limits.stalledMs },
    idle: { firstMs: headersTimeoutMs, nextMs: keepAliveMs },
    // Its first requests may have come with it.
    onSession: (session) => closing && setTimeout(() => endSession(session), freshMs),
  });
  const stopLimiting = options.rejectSlow === undefined ? () => undefined : limitReading(running, limits, http2.cut);
  const tcp = createTcp((socket) => {
    accepted += 1;
    const input = paceInput(socket, wait);
    sockets.set(socket, input);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    // A peer that vanished without a word is found within minutes, also under a stream that has no time limit.
    socket.setKeepAlive(true, keepAliveMs);
    sniff(socket, headersTimeoutMs, (version) => (version === 1 ? http1 : http2).connect(socket, input));
  });
  tcp.maxConnections = maxConnections;

  return {
    listen(port, host) {
      return new Promise((resolve, reject) => {
        tcp.once("error", reject);
        tcp.listen(port, host, () => {
          tcp.off("error", reject);
          // Node looks for slow and idle clients only on a server that listens itself.
          http1.server.emit("listening");
          resolve((tcp.address() as AddressInfo).port);
        });
      });
    },
    close(graceMs, idleMs) {
      closing = true;
      return shutDown({ tcp, http1, http2, sockets, running, accepted: () => accepted }, graceMs, idleMs).finally(
        stopLimiting,
      );
    },
  };
}

/** What is open while a port is listened on. */
interface Opened {
  readonly tcp: TcpServer;
  readonly http1: Http1;
  readonly http2: Http2;
  readonly sockets: ReadonlyMap<Socket, PacedInput>;
  readonly running: Running;
  /** How many connections were taken so far. */
  readonly accepted: () => number;
}

/** Closes everything within the times of `Listener.close`. */
async function shutDown(opened: Opened, graceMs: number, idleMs: number): Promise<void> {
  const { tcp, http1, http2, sockets, running, accepted } = opened;
  for (const response of running.responses)
    if (response.req.httpVersionMajor === 1 && !response.headersSent) response.setHeader("Connection", "close");
  const until = performance.now() + graceMs;
  const soon = (): number => Math.min(until, performance.now() + longestTakeMs);
  await takeAll(accepted, soon());
  const closed = new Promise<void>((resolve) => tcp.close(() => resolve()));
  for (const session of http2.sessions) endSession(session);
  await orAfter(idleMs, closed);
  // What has arrived is taken first: a connection with something on it is not idle.
  const takenBy = soon();
  do await lookAround();
  while (performance.now() < takenBy && [...sockets.values()].some((input) => input.waits()));
  http1.server.closeIdleConnections();
  await running.ended(until - performance.now());
  for (const response of running.responses) cutOff.add(response);
  // The last responses may still be on their way out of the sockets' buffers.
  for (const socket of sockets.keys()) socket.destroySoon();
  const cut = setTimeout(() => {
    for (const socket of sockets.keys()) socket.destroy();
  }, cutMs);
  await closed;
  // The sockets are closed before their requests notice, and each of these has a line in the log.
  await running.ended(cutMs);
  clearTimeout(cut);
  http1.server.close();
  http2.server.close();
}

/** The path and query of a target that is a whole URL, which a server has to take as well (RFC 9112 §3.2.2). */
function originForm(target: string | undefined): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target ?? "");
  if (match === null) return target ?? "/";
  const rest = (target ?? "").slice(match[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}
