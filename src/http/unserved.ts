// Failures of requests that no surface serves, in the terms of their protocol, on both listeners.
import { writeFailure } from "../../gateway/response.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import type { Failure } from "../errors.ts";
import { isGrpc } from "../rpc/protocol.ts";
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
export function isForRpc(request: Request, { path, surface, isServed }: Target, rpc: Surface): boolean {
  return surface === rpc || path.startsWith("/records.") || (!isServed && isGrpc(request));
}

/** Writes the failure of a request for an unknown path. A gRPC client gets it as a status. */
export function writeUnservedFailure(request: Request, response: Response, failure: Failure, inbound: Inbound): void {
  if (isGrpc(request)) writeGrpcFailure(response, failure, inbound);
  else writeFailure(response, failure);
}
