// The protocol of a request for an rpc; 405 or 415 where it is not served.
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { parseContentType as connectType, parseTimeout as connectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseContentType as grpcType, parseTimeout as grpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { parseContentType as grpcWebType } from "@connectrpc/connect/protocol-grpc-web";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import type { Request } from "../call/exchange.ts";

/** The protocols of the library, by its own names for them. */
export type Protocol = "connect" | "grpc" | "grpc-web";

/** The bytes before each message of gRPC and gRPC-Web: one of flags and four of length. */
export const envelopeHead = 5;

/** gRPC-Web in base64, which the library does not decode. */
const asText = "application/grpc-web-text";

/** The protocol of a call. Fails with METHOD_NOT_ALLOWED or UNSUPPORTED_MEDIA_TYPE. */
export function protocolOf(handler: UniversalHandler, request: Request): Protocol {
  requireServed(handler, request);
  const type = request.headers["content-type"] ?? "";
  if (request.method === "GET") {
    const encoding = queryOf(request).get("encoding");
    if (encoding !== "json" && encoding !== "proto") {
      fail(Reason.UNSUPPORTED_MEDIA_TYPE, { message: "encoding: must be json or proto." });
    }
    if (type !== "" && connectType(type) === undefined) fail(Reason.UNSUPPORTED_MEDIA_TYPE);
    return "connect";
  }
  if (connectType(type) !== undefined) return "connect";
  if (grpcType(type) !== undefined) return "grpc";
  return grpcWebType(type) === undefined ? fail(Reason.UNSUPPORTED_MEDIA_TYPE) : "grpc-web";
}

/**
 * Fails with METHOD_NOT_ALLOWED or UNSUPPORTED_MEDIA_TYPE where the library would respond without a message, and with
 * MALFORMED_HTTP for messages in both directions over HTTP/1.1, and for gRPC over HTTP/1.0.
 */
function requireServed(handler: UniversalHandler, request: Request): void {
  if (!handler.allowedMethods.includes(request.method ?? "")) {
    fail(Reason.METHOD_NOT_ALLOWED, { allow: allowOf(handler) });
  }
  const type = request.headers["content-type"] ?? "";
  const isText = type.slice(0, asText.length).toLowerCase() === asText;
  if (request.method !== "GET" && (!handler.supportedContentType(type) || isText)) fail(Reason.UNSUPPORTED_MEDIA_TYPE);
  if (request.httpVersion === "1.0" && grpcType(type) !== undefined)
    fail(Reason.MALFORMED_HTTP, { message: "gRPC reports its status in trailers, which HTTP/1.0 lacks. Use HTTP/2." });
  const { methodKind, name } = handler.method;
  if (methodKind === "bidi_streaming" && request.httpVersionMajor === 1)
    fail(Reason.MALFORMED_HTTP, {
      message: `${name} responds while the request is still being sent. Use HTTP/2.`,
    });
}

/** Whether a request is one of gRPC or gRPC-Web. */
export function isGrpc({ headers }: Request): boolean {
  return headers["content-type"]?.toLowerCase().startsWith("application/grpc") === true;
}

/** The methods of an rpc, for `Allow`. */
export function allowOf(handler: UniversalHandler): string {
  return [...handler.allowedMethods, "OPTIONS"].join(", ");
}

/** The parameters of a call by GET, where the message is in the URL. */
function queryOf({ url = "" }: Request): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
}

/** Longer timeouts have no effect: the service's own limits are shorter. */
const longestTimeoutMs = 600_000;
/** Node fires a timer that is longer at once, and the library sets one for every timeout. */
const longestTimerMs = 2 ** 31 - 1;

const timeoutParsers: ReadonlyMap<string, typeof grpcTimeout> = new Map([
  ["grpc-timeout", grpcTimeout],
  ["connect-timeout-ms", connectTimeout],
]);

/** The timeout in such a header; undefined in any other, and in a malformed one, which the library rejects. */
function timeoutIn(name: string, value: string | null): number | undefined {
  return timeoutParsers.get(name)?.(value, Number.MAX_SAFE_INTEGER).timeoutMs;
}

/** Whether a header has a timeout that is too long for a timer. */
export function outlastsTimers(name: string, value: string): boolean {
  return (timeoutIn(name, value) ?? 0) > longestTimerMs;
}

/** When the caller stops waiting, in milliseconds of `performance.now()`; undefined where it does not say. */
export function expiryOf(request: Request, arrivedAt: number): number | undefined {
  const name = isGrpc(request) ? "grpc-timeout" : "connect-timeout-ms";
  const timeoutMs = timeoutIn(name, request.headers[name]?.toString() ?? null);
  return timeoutMs === undefined || timeoutMs > longestTimeoutMs ? undefined : arrivedAt + timeoutMs;
}
