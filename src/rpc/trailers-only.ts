// Trailers-only responses of gRPC, for failures on a path without an rpc.
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Failure } from "../errors.ts";
import type { Response } from "../call/exchange.ts";
import { connectError } from "./connect-error.ts";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";

/** Writes the failure as a gRPC status ("Trailers-Only" in the protocol over HTTP/2). */
export function writeGrpcFailure(response: Response, failure: Failure, inbound: Inbound): void {
  observe(inbound, { failed: failure.kind });
  const trailers = setTrailerStatus(new Headers(), connectError(failure, "grpc"));
  const type = response.req.headers["content-type"] ?? "application/grpc";
  response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store", ...Object.fromEntries(trailers) }).end();
}
