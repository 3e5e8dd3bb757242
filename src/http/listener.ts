// One port for HTTP/1.1 and cleartext HTTP/2: hands each connection to the right server by its first bytes.
import type { AddressInfo, Server as TcpServer, Socket } from "node:net";
import { createServer as createTcp } from "node:net";
import { createFairQueue } from "../call/fair-queue.ts";
import { withTimeout } from "../call/time-limit.ts";
import type { ListenerOptions, Request, Response } from "../call/exchange.ts";
import type { Http1 } from "./http1.ts";
import { createHttp1Server } from "./http1.ts";
import type { Http2 } from "./http2.ts";
import { createHttp2Server } from "./http2.ts";
import type { PacedInput } from "./paced-input.ts";
import { paceInput } from "./paced-input.ts";
import type { ResponseTracker } from "./running.ts";
import { createRunning } from "./running.ts";
import { endSession } from "./session-end.ts";
import { createPeerLimits, maxConnections, networkOfPeer } from "./peer-limits.ts";
import { limitReading } from "./slow-readers.ts";
import { endUnread } from "./unread.ts";
import { writeWhole } from "./response.ts";

/** A listener on one port. */
export interface Listener {
  /** Listens on a port, and returns it; 0 picks a free one. Rejects if the port is in use. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Stops accepting connections, lets requests in progress finish within `graceMs`, and closes. For the first `idleMs`,
   * it also serves new requests on open connections, and marks each response as the last. Otherwise a client that sends
   * on an idle connection just as it closes would get no response.
   */
  close(graceMs: number, idleMs: number): Promise<void>;
}

const headersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
const keepAliveMs = 65_000;
/**
 * How long a client may read nothing of its response before it is cut off. The response occupies our memory meanwhile.
 */
const stalledMs = 30_000;
/**
 * The minimum rate in bytes per second: a client that always reads a little is cut off as well. Ten streams share 100
 * kB/s at worst.
 */
const minRate = 10_000;
/** How long the input of all connections is parsed before everything else has its turn. */
const turnMs = 2;
/**
 * The maximum time to accept pending connections or read arrived input. However many clients connect, the port must
 * close.
 */
const maxTakeMs = 500;
/** How long a client that connects while the listener stops has for its first requests. */
const freshMs = 500;
/** The time after the grace period for the last bytes and for the log. */
const cutMs = 500;

const cutOff = new WeakSet<Response>();

/** Returns whether the listener cut off a response that was not complete at the end of the grace period. */
export function wasCutOff(response: Response): boolean {
  return cutOff.has(response);
}

/** Creates a listener. It closes slow clients within seconds, for which Node's defaults allow minutes. */
export function createListener(options: ListenerOptions, limits = { stalledMs, minRate }): Listener {
  const sockets = new Map<Socket, PacedInput>();
  const running = createRunning();
  let [accepted, closing] = [0, false];
  const queue = createFairQueue(turnMs, () => accepted);
  const peers = createPeerLimits(options);

  function receive(request: Request, response: Response): void {
    if (closing && request.httpVersionMajor === 1) response.setHeader("Connection", "close");
    endUnread(request, response);
    const rejection = options.shed?.(request);
    if (rejection === undefined) options.handle(request, response);
    else if (typeof rejection === "function") rejection(request, response);
    else writeWhole(response, rejection);
  }
  const isLimited = options.rejectSlow !== undefined;
  const times = { headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs };
  const common = { ...options, ...times, receive, running, held: peers.streams };
  const stalledIn1 = isLimited ? limits.stalledMs : 0;
  const http1 = createHttp1Server({ ...common, keepAliveTimeout: keepAliveMs, stalledMs: stalledIn1 });
  const http2 = createHttp2Server({
    ...common,
    schedule: queue,
    stalledMs: limits.stalledMs,
    idle: { firstMs: headersTimeoutMs, nextMs: keepAliveMs },
    // Delayed, because its first requests may have arrived with it.
    onSession: (session) => closing && setTimeout(() => endSession(session), freshMs),
  });
  const stopLimiting = isLimited ? limitReading(running, limits, http2.cut) : () => undefined;
  const tcp = createTcp((socket) => {
    accepted += 1;
    const network = networkOfPeer(socket);
    const giveBack = peers.connections.take(network, 1);
    if (giveBack === undefined) return void socket.destroy();
    socket.once("close", giveBack);
    const input = paceInput(socket, (work) => queue(work, network));
    sockets.set(socket, input);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    // Detects within minutes that a peer has vanished silently, even during a stream without a time limit.
    socket.setKeepAlive(true, keepAliveMs);
    sniff(socket, headersTimeoutMs, (version) => (version === 1 ? http1 : http2).connect(socket, input));
  });
  // Node closes further connections itself, before it reads their addresses.
  tcp.maxConnections = maxConnections.total;
  tcp.on("drop", () => options.onLimit("connection"));

  return {
    async listen(port, host) {
      const listening = await listenOn(tcp, port, host);
      // Node checks for slow and idle clients only on a server that listens itself.
      http1.server.emit("listening");
      return listening;
    },
    close(graceMs, idleMs) {
      closing = true;
      return shutDown({ tcp, http1, http2, sockets, running, accepted: () => accepted }, graceMs, idleMs).finally(
        stopLimiting,
      );
    },
  };
}

function listenOn(tcp: TcpServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    tcp.once("error", reject);
    tcp.listen(port, host, () => {
      tcp.off("error", reject);
      resolve((tcp.address() as AddressInfo).port);
    });
  });
}

/** The open resources of a listener. */
interface Opened {
  readonly tcp: TcpServer;
  readonly http1: Http1;
  readonly http2: Http2;
  readonly sockets: ReadonlyMap<Socket, PacedInput>;
  readonly running: ResponseTracker;
  /** Returns the number of connections accepted so far. */
  readonly accepted: () => number;
}

/** Closes everything within the times of `Listener.close`. */
async function shutDown(opened: Opened, graceMs: number, idleMs: number): Promise<void> {
  const { tcp, http1, http2, sockets, running, accepted } = opened;
  for (const response of running.responses)
    if (response.req.httpVersionMajor === 1 && !response.headersSent) response.setHeader("Connection", "close");
  const until = performance.now() + graceMs;
  const soon = (): number => Math.min(until, performance.now() + maxTakeMs);
  await acceptPending(accepted, soon());
  const closed = new Promise<void>((resolve) => tcp.close(() => resolve()));
  for (const session of http2.sessions) endSession(session);
  await withTimeout(idleMs, closed);
  // Takes arrived input first: a connection with unread input is not idle.
  const takenBy = soon();
  do await waitForPollPhase();
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
  // The sockets close before their requests notice, and each request still has to be logged.
  await running.ended(cutMs);
  clearTimeout(cut);
  http1.server.close();
  http2.server.close();
}

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Reads enough bytes to distinguish HTTP/2 from HTTP/1, and puts them back. Destroys the socket after `waitMs`. */
function sniff(socket: Socket, waitMs: number, decide: (version: 1 | 2) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), waitMs);
  socket.once("close", () => clearTimeout(timer));
  const look = (chunk: Buffer): void => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, preface.length);
    const alike = seen.subarray(0, length).equals(preface.subarray(0, length));
    if (alike && length < preface.length) return;
    socket.off("data", look);
    socket.pause();
    clearTimeout(timer);
    socket.unshift(seen);
    decide(alike ? 2 : 1);
    socket.resume();
  };
  socket.on("data", look);
}

/** The maximum duration of a quick poll, in milliseconds. At most `maxPolls` polls wait for a quick one. */
const quickMs = 0.5;
const maxPolls = 20;

/**
 * Waits until Node has accepted all connections in the kernel's queue: closing the port would reset them. Node accepts
 * one in each turn of its event loop. Connections that arrive after the last poll are lost, so the last poll should be
 * quick. Returns at `until` at the latest, in milliseconds of `performance.now()`.
 */
async function acceptPending(accepted: () => number, until: number): Promise<void> {
  for (let polls = 0; performance.now() < until; polls++) {
    const [before, began] = [accepted(), performance.now()];
    await waitForPollPhase();
    if (accepted() === before && (performance.now() - began < quickMs || polls >= maxPolls)) return;
  }
}

/**
 * Waits for one complete poll phase of the event loop. The first check phase only ends a poll that may have begun
 * before.
 */
async function waitForPollPhase(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((soon) => setImmediate(soon));
}
