// Determines the protocol of a request for an rpc, and rejects requests that are not served.
import type { DescMethod } from "@bufbuild/protobuf";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { parseContentType as connectType, parseTimeout as connectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseContentType as grpcType, parseTimeout as grpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { single } from "../http/inbound.ts";
import { splitTarget } from "../http/query.ts";
import { parseContentType as grpcWebType } from "@connectrpc/connect/protocol-grpc-web";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Violation } from "../call/errors.ts";
import { fail } from "../call/errors.ts";
import type { Head, Request } from "../call/exchange.ts";
import { foreignParameter, readMediaType } from "../call/negotiation.ts";
import { sanitizeForEcho } from "../text/text.ts";
import { withoutText } from "./web-text.ts";

/** The protocols of the library, by its own names. */
export type Protocol = "connect" | "grpc" | "grpc-web";

/** The bytes of the envelope before each message of gRPC and gRPC-Web: one of flags and four of length. */
export const envelopeHead = 5;

/** Returns the protocol of a call. Fails with METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA_TYPE or MALFORMED_HTTP. */
export function protocolOf(handler: UniversalHandler, request: Request): Protocol {
  const type = contentTypeOf(request);
  requireServed(handler, request, type);
  if (request.method === "GET") {
    const encoding = queryOf(request).get("encoding");
    if (encoding !== "json" && encoding !== "proto") {
      fail(Reason.UNSUPPORTED_MEDIA_TYPE, {
        message: "encoding: must be json or proto. Send a POST, or a GET with the query parameters of Connect.",
      });
    }
    if (type !== "" && connectType(type) === undefined) rejectType(type, handler.method);
    return "connect";
  }
  if (connectType(type) !== undefined) return "connect";
  if (grpcType(type) !== undefined) return "grpc";
  return grpcWebType(type) === undefined ? rejectType(type, handler.method) : "grpc-web";
}

/**
 * Returns the content type of a request as the library reads it: without parameters that change nothing, and without
 * the mode of gRPC-Web. gRPC ignores all parameters, as its other servers do.
 */
export function contentTypeOf(request: Head): string {
  const type = request.headers["content-type"] ?? "";
  if (isGrpc(request)) return withoutText((/^[^; \t]*/.exec(type)?.[0] ?? "").toLowerCase());
  if (!type.includes(";")) return type;
  const media = readMediaType(type);
  return media !== undefined && foreignParameter(media) === undefined ? media.type : type;
}

/** Fails with UNSUPPORTED_MEDIA_TYPE. Names the parameter if that is what is wrong. */
function rejectType(type: string, { methodKind }: DescMethod): never {
  const media = readMediaType(type);
  if (media === undefined && type.includes(";"))
    fail(Reason.UNSUPPORTED_MEDIA_TYPE, { message: "Content-Type: has a malformed or repeated parameter." });
  const parameter = media && connectType(media.type) !== undefined ? foreignParameter(media) : undefined;
  if (parameter !== undefined)
    fail(Reason.UNSUPPORTED_MEDIA_TYPE, {
      message: `Content-Type: must not have the parameter ${sanitizeForEcho(parameter, 64)}.`,
    });
  return fail(Reason.UNSUPPORTED_MEDIA_TYPE, methodKind === "unary" ? {} : { message: streamTypes });
}

const streamTypes =
  "Content-Type: must be application/connect+json or application/connect+proto (Connect), application/grpc or application/grpc-web (also with +json or +proto).";

/**
 * Fails with METHOD_NOT_ALLOWED or UNSUPPORTED_MEDIA_TYPE if the library would respond without a message. Fails with
 * MALFORMED_HTTP for bidirectional streams over HTTP/1.1, and for gRPC over HTTP/1.0.
 */
function requireServed(handler: UniversalHandler, request: Request, type: string): void {
  if (!handler.allowedMethods.includes(request.method ?? "")) {
    fail(Reason.METHOD_NOT_ALLOWED, { allow: allowOf(handler) });
  }
  if (request.method !== "GET" && !handler.supportedContentType(type)) rejectType(type, handler.method);
  if (request.httpVersion === "1.0" && grpcType(type) !== undefined)
    fail(Reason.MALFORMED_HTTP, { message: "gRPC reports its status in trailers, which HTTP/1.0 lacks. Use HTTP/2." });
  const { methodKind, name } = handler.method;
  if (methodKind === "bidi_streaming" && request.httpVersionMajor === 1)
    fail(Reason.MALFORMED_HTTP, {
      message: `${name} responds while the request is still being sent. Use HTTP/2.`,
    });
}

/** Whether a request uses gRPC or gRPC-Web. */
export function isGrpc({ headers }: Head): boolean {
  return headers["content-type"]?.toLowerCase().startsWith("application/grpc") === true;
}

/** Whether each message of a request is in an envelope: always, except over Connect outside of streams. */
export function isEnveloped(request: Request): boolean {
  return isGrpc(request) || connectType(contentTypeOf(request))?.stream === true;
}

/** Whether a request is a call of gRPC itself, whose client reads no status of HTTP. */
export function isGrpcCall(request: Request): boolean {
  const isWeb = request.headers["content-type"]?.toLowerCase().startsWith("application/grpc-web") === true;
  return request.httpVersionMajor === 2 && request.method === "POST" && isGrpc(request) && !isWeb;
}

/** Whether a request for any path says that it uses Connect. The content type of a stream does, JSON alone does not. */
export function isConnect(request: Head): boolean {
  if (request.method === "GET") return queryOf(request).get("connect") === "v1";
  const type = connectType(contentTypeOf(request));
  return type !== undefined && (type.stream || request.headers[versionHeader] !== undefined);
}

/** Whether a request for any path says that it calls an rpc. */
export function isCall(request: Head): boolean {
  return isGrpc(request) || isConnect(request);
}

/** Returns the methods of an rpc, for `Allow`. */
export function allowOf(handler: UniversalHandler): string {
  return [...handler.allowedMethods, "OPTIONS"].join(", ");
}

/** Returns the parameters of a GET call, whose message is in the URL. */
function queryOf({ url = "" }: Head): URLSearchParams {
  return new URLSearchParams(splitTarget(url).query);
}

/** Longer timeouts have no effect, because the service's own limits are shorter. */
const maxTimeoutMs = 600_000;
/** Node fires a longer timer at once, and the library sets a timer for every timeout. */
const maxTimerMs = 2 ** 31 - 1;

const timeoutParsers: ReadonlyMap<string, typeof grpcTimeout> = new Map([
  ["grpc-timeout", grpcTimeout],
  ["connect-timeout-ms", connectTimeout],
]);

/**
 * Returns the timeout in a header, in milliseconds; undefined for other headers, and for a malformed value.
 */
function timeoutIn(name: string, value: string | null): number | undefined {
  return timeoutParsers.get(name)?.(value, Number.MAX_SAFE_INTEGER).timeoutMs;
}

const versionHeader = "connect-protocol-version";
const timeoutForms: Readonly<Record<string, string>> = {
  "grpc-timeout": "must be 1 to 8 digits and a unit: H, M, S, m, u or n",
  "connect-timeout-ms": "must be 1 to 10 digits",
};

/** Returns the violation of a malformed timeout, and of a later version of Connect, which may mean something else. */
export function protocolViolation(request: Request): Violation | undefined {
  const version = isGrpc(request) ? undefined : single(request.headers[versionHeader]);
  if (version !== undefined && version !== "1") return { field: versionHeader, rule: "version", message: "must be 1" };
  const field = timeoutHeader(request);
  const value = request.headers[field]?.toString() ?? null;
  if (timeoutParsers.get(field)?.(value, Number.MAX_SAFE_INTEGER).error === undefined) return undefined;
  return { field, rule: "timeout", message: timeoutForms[field] ?? "is malformed" };
}

function timeoutHeader(request: Request): string {
  return isGrpc(request) ? "grpc-timeout" : "connect-timeout-ms";
}

/** Whether a header has a timeout that is too long for a timer. */
export function outlastsTimers(name: string, value: string): boolean {
  return (timeoutIn(name, value) ?? 0) > maxTimerMs;
}

/**
 * Returns when the caller stops waiting, in milliseconds of `performance.now()`; undefined without a timeout, or with
 * one of more than 10 minutes.
 */
export function expiryOf(request: Request, arrivedAt: number): number | undefined {
  const name = timeoutHeader(request);
  const timeoutMs = timeoutIn(name, request.headers[name]?.toString() ?? null);
  return timeoutMs === undefined || timeoutMs > maxTimeoutMs ? undefined : arrivedAt + timeoutMs;
}
