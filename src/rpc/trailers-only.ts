// Trailers-Only responses of gRPC: a status without a message, in one HEADERS frame that ends the stream.
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Failure } from "../call/errors.ts";
import type { Response } from "../call/exchange.ts";
import { connectError } from "./connect-error.ts";
import { decodeAsciiIn } from "./grpc-message.ts";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";

/**
 * Ends a gRPC response that has no message. Clients find the status in the headers only if these end the stream. After
 * `writeHead`, Node would end it with an empty DATA frame instead.
 */
export function endTrailersOnly(response: Response, header: Iterable<Pair>, trailer = new Headers()): void {
  response.statusCode = 200;
  for (const [name, value] of header) response.setHeader(name, value);
  for (const [name, value] of decodeAsciiIn(trailer)) response.setHeader(name, value);
  response.end();
}

type Pair = readonly [name: string, value: string];

/** Writes a failure on a path without an rpc as a gRPC status. */
export function writeGrpcFailure(response: Response, failure: Failure, inbound: Inbound): void {
  observe(inbound, { failed: failure.kind });
  const type = response.req.headers["content-type"] ?? "application/grpc";
  const header: Pair[] = [
    ["content-type", type],
    ["cache-control", "no-store"],
  ];
  endTrailersOnly(response, header, setTrailerStatus(new Headers(), connectError(failure, "grpc")));
}
