// Failures of requests that no surface serves, in the terms of their protocol, on both listeners.
import { writeFailure } from "../http/response.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Head, Request, Response, Surface } from "../call/exchange.ts";
import type { Failure } from "../call/errors.ts";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { writeCallFailure } from "../rpc/early-rejection.ts";
import { isCall, isConnect, isGrpc } from "../rpc/protocol.ts";
import { writeGrpcFailure } from "../rpc/trailers-only.ts";

/** What a listener has at the path of a request. */
export interface Target {
  readonly path: string;
  /** The surface that serves the path. */
  readonly surface: Surface | undefined;
  /** Whether the listener has anything at the path. */
  readonly isServed: boolean;
}

/** Whether a request is for an rpc, known or not, and its failures are errors of the rpc's protocol. */
export function isForRpc(request: Head, { path, surface, isServed }: Target, rpc: Surface): boolean {
  return surface === rpc || path.startsWith("/records.") || (!isServed && isCall(request));
}

/** Responds to `OPTIONS *`, which is about the server as a whole (RFC 9110 §9.3.7). Any other path is unknown. */
export function requireServerOptions(path: string, { method }: Request, response: Response): void {
  if (path !== "*" || method !== "OPTIONS") fail(Reason.UNKNOWN_PATH);
  response.writeHead(204, { Allow: "GET, HEAD, POST, PATCH, DELETE, OPTIONS", "Cache-Control": "no-store" }).end();
}

/** Writes the failure of a request for an unknown path. A client of gRPC or Connect gets it in its own protocol. */
export function writeUnservedFailure(request: Request, response: Response, failure: Failure, inbound: Inbound): void {
  if (isGrpc(request)) return writeGrpcFailure(response, failure, inbound);
  if (!isConnect(request)) return writeFailure(response, failure);
  writeCallFailure("connect", request, response, failure, inbound);
  response.end();
}
