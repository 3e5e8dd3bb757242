// Error responses, in the call's protocol, to calls that are rejected by their headers alone.
import { parseContentType as connectType } from "@connectrpc/connect/protocol-connect";
import { parseContentType as grpcType } from "@connectrpc/connect/protocol-grpc";
import type { Inbound } from "../call/dispatch.ts";
import { observe } from "../call/dispatch.ts";
import type { Head, Request, Response } from "../call/exchange.ts";
import type { Failure } from "../call/errors.ts";
import { lengthOf } from "./collected.ts";
import { connectError } from "./connect-error.ts";
import type { Protocol } from "./protocol.ts";
import { contentTypeOf, isGrpc } from "./protocol.ts";
import { rejection } from "./rejection.ts";
import { endTrailersOnly } from "./trailers-only.ts";
import { encodeWebText, isWebText } from "./web-text.ts";

/** Returns the protocol of a request for an rpc, by its headers alone; undefined if it uses none of ours. */
export function spokenBy(request: Head): Protocol | undefined {
  const type = contentTypeOf(request);
  // Over HTTP/1.1 a gRPC status needs trailers after a body, so the status is that of HTTP.
  if (grpcType(type) !== undefined) return request.httpVersionMajor === 1 ? undefined : "grpc";
  if (isGrpc(request)) return "grpc-web";
  return request.method === "GET" || connectType(type) !== undefined ? "connect" : undefined;
}

/** Writes the failure. Ends only a gRPC response, whose status is in its trailers. */
export function writeCallFailure(
  protocol: Protocol,
  request: Request,
  response: Response,
  failure: Failure,
  inbound: Inbound,
): void {
  observe(inbound, { failed: failure.kind });
  const rejected = rejection(protocol, contentTypeOf(request), connectError(failure, protocol));
  const { status, header, trailer, body } = isWebText(request) ? encodeWebText(rejected) : rejected;
  if (trailer !== undefined) return endTrailersOnly(response, header ?? [], trailer);
  response.setHeader("Content-Length", lengthOf(body));
  response.writeHead(status, Object.fromEntries(header ?? []));
  for (const piece of body) response.write(piece);
}
