// What a request for an rpc speaks: protocol and form of its message, or why it is nothing that is served (405, 415).
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { encodeEnvelopes } from "@connectrpc/connect/protocol";
import { parseContentType as connectType, parseTimeout as connectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseContentType as grpcType, parseTimeout as grpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { parseContentType as grpcWebType } from "@connectrpc/connect/protocol-grpc-web";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Violation } from "../errors.ts";
import { fail } from "../errors.ts";
import type { Request } from "../http/listener.ts";

/** How a call is spoken. */
export interface Spoken {
  readonly protocol: "connect" | "grpc" | "grpc-web";
  /** Protobuf's binary form, or else its JSON. */
  readonly binary: boolean;
  /** The parameters of a call by GET, where the message stands in the URL. */
  readonly parameters: URLSearchParams | undefined;
}

/** What a protocol has an answer of its own to, which its library gives. */
export interface Foreign {
  /** How the message is compressed, where that is not known here. */
  readonly encoding?: string;
  /** How many messages there were, where it was not one: none, or more. */
  readonly messages?: 0 | 2;
}

const asText = /^application\/grpc-web-text/i;

/** Reads how a unary rpc is called. Fails with METHOD_NOT_ALLOWED or UNSUPPORTED_MEDIA_TYPE. */
export function spokenIn(handler: UniversalHandler, request: Request): Spoken {
  requireServed(handler, request);
  const type = request.headers["content-type"] ?? "";
  if (request.method === "GET") {
    const parameters = new URLSearchParams(/\?(.*)$/s.exec(request.url ?? "")?.[1]);
    const encoding = parameters.get("encoding");
    if (encoding !== "json" && encoding !== "proto") fail(Reason.UNSUPPORTED_MEDIA_TYPE, { message: "encoding: must be json or proto." });
    if (type !== "" && connectType(type) === undefined) fail(Reason.UNSUPPORTED_MEDIA_TYPE);
    return { protocol: "connect", binary: encoding === "proto", parameters };
  }
  const connect = connectType(type);
  if (connect !== undefined) return { protocol: "connect", binary: connect.binary, parameters: undefined };
  const grpc = grpcType(type);
  if (grpc !== undefined) return { protocol: "grpc", binary: grpc.binary, parameters: undefined };
  const grpcWeb = grpcWebType(type);
  if (grpcWeb !== undefined) return { protocol: "grpc-web", binary: grpcWeb.binary, parameters: undefined };
  return fail(Reason.UNSUPPORTED_MEDIA_TYPE);
}

/** Fails with METHOD_NOT_ALLOWED or UNSUPPORTED_MEDIA_TYPE where the library would answer so without a word. */
export function requireServed(handler: UniversalHandler, request: Request): void {
  if (!handler.allowedMethods.includes(request.method ?? "")) fail(Reason.METHOD_NOT_ALLOWED, { allow: allowOf(handler) });
  const type = request.headers["content-type"] ?? "";
  if (request.method !== "GET" && (!handler.supportedContentType(type) || asText.test(type))) fail(Reason.UNSUPPORTED_MEDIA_TYPE);
}

/** The methods of an rpc, for `Allow`. */
export function allowOf(handler: UniversalHandler): string {
  return [...handler.allowedMethods, "OPTIONS"].join(", ");
}

/** The name of what the message is compressed by; undefined where it is not. */
export function compressionOf({ protocol, parameters }: Spoken, { headers }: Request): string | undefined {
  const sent = parameters === undefined ? headers[protocol === "connect" ? "content-encoding" : "grpc-encoding"] : parameters.get("compression");
  return sent === "identity" ? undefined : (sent?.toString() ?? undefined);
}

/** What is wrong with the timeout that the caller sent. */
export function timeoutViolation({ protocol }: Spoken, { headers }: Request): Violation | undefined {
  const field = protocol === "connect" ? "connect-timeout-ms" : "grpc-timeout";
  const sent = headers[field]?.toString();
  if (sent === undefined) return undefined;
  const { error } = protocol === "connect" ? connectTimeout(sent, Number.MAX_SAFE_INTEGER) : grpcTimeout(sent, Number.MAX_SAFE_INTEGER);
  if (error === undefined) return undefined;
  const message = protocol === "connect" ? "must be a number of milliseconds of at most 10 digits, such as 5000" : "must be at most 8 digits and a unit (H, M, S, m, u or n), such as 5S";
  return { field, rule: "timeout", message };
}

/**
 * The same call with an empty message: the library, which speaks the protocol, has nothing to decode or to refuse in it
 * but what is `foreign`.
 */
export function bareRequest(handler: UniversalHandler, spoken: Spoken, request: Request, contextValues: ContextValues, foreign: Foreign = {}): UniversalServerRequest {
  const { protocol, binary, parameters } = spoken;
  const { encoding, messages = 1 } = foreign;
  const header = new Headers();
  for (const name of ["content-type", "accept-encoding", "grpc-accept-encoding"]) {
    const value = request.headers[name];
    if (typeof value === "string") header.set(name, value);
  }
  const url = new URL(handler.requestPath, "http://records");
  if (parameters !== undefined) {
    url.searchParams.set("encoding", binary ? "proto" : "json");
    url.searchParams.set("message", binary ? "" : "{}");
    if (encoding !== undefined) url.searchParams.set("compression", encoding);
  } else if (encoding !== undefined) {
    header.set(protocol === "connect" ? "content-encoding" : "grpc-encoding", encoding);
  }
  const data = binary ? nothing : emptyObject;
  const body = protocol === "connect" ? data : encodeEnvelopes(...Array.from({ length: messages }, () => ({ flags: 0, data })));
  return { httpVersion: request.httpVersion, method: request.method ?? "", url: url.toString(), header, body: once(body), signal: new AbortController().signal, contextValues };
}

const nothing = new Uint8Array(0);
const emptyObject = new TextEncoder().encode("{}");

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes);
}
