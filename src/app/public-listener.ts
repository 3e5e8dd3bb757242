// Request handlers of the public listener: set the common headers, then select the surface by the path.
import { randomUUID } from "node:crypto";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { announceClose } from "../http/linger.ts";
import { failureEnvelope, writeFailure } from "../http/response.ts";
import type { Config } from "../config/config.ts";
import { Failure, failureOf } from "../call/errors.ts";
import type { Inbound, OnError, Shed } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import { isCall } from "../rpc/protocol.ts";
import { cancellationOf } from "../http/cancellation.ts";
import type { HeaderList } from "../http/headers.ts";
import {
  contentHeaders,
  rateLimitHeaders,
  retirementHeaders,
  corsHeaders,
  setHeaders,
  setOpenCors,
  transportHeaders,
} from "../http/headers.ts";
import { inboundOf, pathOf, requireValidHead } from "../http/inbound.ts";
import type { RequestWatch } from "../observability/requests.ts";
import type { StartedRequest } from "./reject.ts";
import { reject } from "./reject.ts";
import type { PublicTarget } from "./shed.ts";
import { createShedder } from "./shed.ts";
import type { Head, ListenerOptions, RejectedStatus, Request, Response, Surface } from "../call/exchange.ts";
import type { StaticFile } from "../http/static-files.ts";
import { acceptMethod, sendDocument } from "../http/static-files.ts";
import { isForRpc, requireServerOptions, writeUnservedFailure } from "./unserved.ts";

/** The surfaces and hooks of either listener. */
export interface Surfaces extends Omit<RequestWatch, "logShed"> {
  readonly rpc: Surface;
  /** The surfaces for other paths, such as the dashboard and the MCP surface. */
  readonly others: readonly Surface[];
  /** Called for failed requests. */
  readonly onError: OnError;
}

/** The surfaces and hooks of the public listener. */
export interface PublicSurfaces extends Surfaces {
  /** Handles everything under `/v1`. */
  readonly rest: (request: Request, response: Response, inbound: Inbound) => void;
  /** The documents by path. Each is created on its first request. */
  readonly documents: ReadonlyMap<string, () => StaticFile>;
  /** Rejects a request for an unknown path outside the API. A browser gets a page. */
  readonly rejectUnknown: (request: Request, response: Response, inbound: Inbound, failure: Failure) => void;
  /** Throttles a request for an unknown path. Fails with RATE_LIMITED. */
  readonly throttle: (inbound: Inbound) => Promise<void>;
  /** Decides whether to reject a request at once. */
  readonly shed: Shed;
  readonly logShed: RequestWatch["logShed"];
  /** Throttles a request for a document. Fails with RATE_LIMITED. */
  readonly throttleDocument: (inbound: Inbound) => Promise<void>;
}

const rejectedReasons = {
  400: Reason.MALFORMED_HTTP,
  408: Reason.REQUEST_TIMEOUT,
  431: Reason.HEADERS_TOO_LARGE,
} as const;
const reasonPhrases = { 400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large" } as const;

/** Returns the request handlers of the public listener. */
export function publicListener(config: Config, surfaces: PublicSurfaces): ListenerOptions {
  const limits = rateLimitHeaders(config);
  const retirement = retirementHeaders(config);
  const restHeaders: HeaderList = [...limits, ...retirement];
  const rpcHeaders: HeaderList = [...limits, ["Cache-Control", "no-store"]];
  const always: HeaderList = [...contentHeaders, ...transportHeaders(config)];
  const served = [surfaces.rpc, ...surfaces.others];
  const begun = new WeakMap<Response, StartedRequest>();
  const headersOf = { rest: [...always, ...restHeaders], rpc: [...always, ...rpcHeaders], mcp: always };
  const shedding = createShedder(config, surfaces, (form) => headersOf[form]);

  function targetOf(head: Head): PublicTarget {
    const path = pathOf(head);
    const rest = restPath.test(path);
    const surface = rest ? undefined : served.find((one) => one.serves(path));
    const isServed = surface !== undefined || surfaces.documents.has(path);
    const isRpc = !rest && isForRpc(head, { path, surface, isServed }, surfaces.rpc);
    return { path, rest, surface, isServed, isRpc };
  }

  function begin(request: Request, response: Response, target = targetOf(request)) {
    const { path, rest, surface, isServed, isRpc } = target;
    const inbound = inboundOf(request, config.trustProxy, { cancellation: cancellationOf(response) });
    response.setHeader("X-Request-Id", inbound.requestId);
    setHeaders(response, rest ? headersOf.rest : isRpc ? headersOf.rpc : always);
    setHeaders(response, corsHeaders(request, config.corsOrigins));
    surfaces.log(request, response, inbound);
    if (inbound.tally !== undefined) inbound.tally.onEnd = endOf(response);
    // The set of routes is fixed: callers choose no part of them.
    if (!rest && isServed) observe(inbound, { route: surface?.routeOf?.(path) ?? path });
    begun.set(response, { inbound, isRpc });
    return { path, rest, surface, inbound, isRpc };
  }

  return {
    peersAreClients: config.trustProxy === 0,
    onLimit: surfaces.onLimit,
    shed(head, onTurn) {
      let found: PublicTarget | undefined;
      const target = (): PublicTarget => (found ??= targetOf(head));
      const failure = shedding.failureOf(head, target, onTurn);
      if (failure === undefined) return undefined;
      const prepared = shedding.responseTo(head, failure, target());
      if (prepared !== undefined) return prepared;
      return (request, response) => {
        const { inbound } = begin(request, response);
        request.resume();
        surfaces.rejectUnknown(request, response, inbound, failure);
      };
    },
    handle(request, response) {
      const { path, rest, surface, inbound, isRpc } = begin(request, response);
      try {
        requireValidHead(request);
      } catch (error) {
        return void rejectHead(request, response, failureOf(error), { inbound, isRpc }, surfaces);
      }
      if (rest) return surfaces.rest(request, response, inbound);
      if (surface !== undefined) return void surface.handle(path, request, response, inbound);
      return void serveOther(path, request, response, inbound, surfaces);
    },
    // The parser does not report the path, so these responses carry the headers of every path.
    rejectMessage(status, message) {
      const requestId = randomUUID();
      surfaces.logRejected(status, requestId);
      return rejection(status, requestId, [...always, ...restHeaders], message);
    },
    rejectExpectation(request, response) {
      const one = begin(request, response);
      // Like a malformed message, it is rejected with the headers of every path. MCP publishes none of them.
      if (!one.isRpc && one.path !== "/mcp") setHeaders(response, restHeaders);
      void rejectHead(request, response, new Failure(Reason.EXPECTATION_FAILED), one, surfaces);
    },
    rejectSlow(request, response) {
      const one = begun.get(response);
      if (one !== undefined) reject(request, response, new Failure(Reason.REQUEST_TIMEOUT), one);
    },
  };
}

/** Rejects a request by its headers, unless the throttle, which comes before all other checks, rejects it. */
async function rejectHead(
  request: Request,
  response: Response,
  failure: Failure,
  begun: StartedRequest,
  { throttle, onError }: PublicSurfaces,
): Promise<void> {
  // Before the wait: the next request may already have arrived.
  announceClose(request, response);
  try {
    await throttle(begun.inbound);
    reject(request, response, failure, begun);
  } catch (error) {
    const throttled = failureOf(error);
    onError(throttled, begun.inbound);
    reject(request, response, throttled, begun);
  }
}

/**
 * Returns a function that registers a callback for the close of the response. It returns false if that is already
 * closed. A batch registers many, and Node warns about many listeners.
 */
function endOf(response: Response): (release: () => void) => boolean {
  const releases: (() => void)[] = [];
  let isOver = false;
  response.once("close", () => {
    isOver = true;
    for (const release of releases) release();
  });
  return (release) => {
    if (!isOver) releases.push(release);
    return !isOver;
  };
}

/** Serves a path without a surface: a document, or 404, which a gRPC client gets as a status. Throttles first (429). */
async function serveOther(
  path: string,
  request: Request,
  response: Response,
  inbound: Inbound,
  { documents, throttle, throttleDocument, rejectUnknown, onError }: PublicSurfaces,
): Promise<void> {
  request.resume();
  const document = documents.get(path);
  if (document !== undefined) setOpenCors(request, response);
  try {
    await (document === undefined ? throttle : throttleDocument)(inbound);
    if (document === undefined) requireServerOptions(path, request, response);
    else if (acceptMethod(request, response)) await sendDocument(request, response, document());
  } catch (error) {
    const failure = failureOf(error);
    if (document === undefined && !ofPrograms.test(path) && !isCall(request))
      return rejectUnknown(request, response, inbound, failure);
    onError(failure, inbound);
    if (document === undefined) writeUnservedFailure(request, response, failure, inbound);
    else writeFailure(response, failure);
  }
}

/**
 * Paths to which only programs send requests, also with the usual mistakes: a doubled slash and another case. No
 * response below them is ever HTML.
 */
const ofPrograms = /^\/+(?:v\d+|mcp|\.well-known|grpc\.|records\.)/i;

/** Returns the complete HTTP/1.1 response to a message that the parser rejected. */
export function rejection(status: RejectedStatus, requestId: string, headers: HeaderList, message?: string): string {
  const body = failureEnvelope(new Failure(rejectedReasons[status], message === undefined ? {} : { message }));
  const lines = [
    `HTTP/1.1 ${status} ${reasonPhrases[status]}`,
    `X-Request-Id: ${requestId}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    "Content-Type: application/json; charset=utf-8",
    "Cache-Control: no-store",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** `v` and `1` may be percent-encoded. */
const restPath = /^\/(?:v|%76)(?:1|%31)(?:\/|$)/;
