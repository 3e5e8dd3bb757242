// Builds the library's request from the headers that its protocols define and a given body.
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { requestBody } from "../http/continue.ts";
import { splitTarget } from "../http/query.ts";
import { Failure } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Request } from "../call/exchange.ts";
import type { Inbound } from "../call/dispatch.ts";
import { createFlagsCheck, isFlagsError } from "./envelope-flags.ts";
import { contentCodingOf } from "./gzip.ts";
import { contentTypeOf, outlastsTimers } from "./protocol.ts";

/**
 * The headers besides the content type. Others are omitted, because their values may be invalid for the Fetch
 * standard's `Headers`.
 */
const headersOfTheProtocols = [
  "content-encoding",
  "accept-encoding",
  "grpc-encoding",
  "grpc-accept-encoding",
  "connect-content-encoding",
  "connect-accept-encoding",
  "connect-protocol-version",
  "connect-timeout-ms",
  "grpc-timeout",
];

/** The maximum length of an encoding's name. No encoding has a longer one, and the library repeats unknown ones. */
const maxEncodingLength = 64;
const encodings: ReadonlySet<string> = new Set(["content-encoding", "grpc-encoding", "connect-content-encoding"]);

/** Builds the request for a handler. The host does not matter, because the path alone selects the handler. */
export function universalRequest(
  { requestPath }: UniversalHandler,
  request: Request,
  body: AsyncIterable<Uint8Array>,
  { limits }: Inbound,
  contextValues: ContextValues,
): UniversalServerRequest {
  const { httpVersion, method = "", url = "", headers } = request;
  const type = contentTypeOf(request);
  const header = new Headers(type === "" ? {} : { "content-type": type });
  for (const name of headersOfTheProtocols) {
    const value = name === "content-encoding" ? contentCodingOf(request) : headers[name];
    // A timeout that is too long for a timer is dropped. The call then lasts until its caller ends it.
    if (value === undefined || value === "" || outlastsTimers(name, String(value))) continue;
    header.set(name, encodings.has(name) ? String(value).slice(0, maxEncodingLength) : String(value));
  }
  const signal = limits?.cancellation?.signal ?? new AbortController().signal;
  // A `#` in the request target is data. In a URL, it would end the query, and the library would read another query
  // than the guards.
  const query = splitTarget(url).query.replaceAll("#", "%23");
  return { httpVersion, method, url: `http://records${requestPath}?${query}`, header, body, signal, contextValues };
}

/** Yields a body that was received as a whole. */
export async function* whole(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.byteLength > 0) yield await Promise.resolve(bytes);
}

/**
 * Yields a body as it arrives. Fails with CANCELLED if the client disconnects before its end, and with the error of an
 * envelope. A reader that stops early leaves the request intact for `endUnread`: a destroyed request is no longer read,
 * and its connection stays.
 */
export async function* arriving(request: Request): AsyncIterable<Uint8Array> {
  requestBody(request);
  const checkFlags = createFlagsCheck(request);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      checkFlags(chunk as Uint8Array);
      yield chunk as Uint8Array;
    }
  } catch (cause) {
    if (isFlagsError(cause)) throw cause;
    throw new Failure(Reason.CANCELLED, { cause });
  }
}
