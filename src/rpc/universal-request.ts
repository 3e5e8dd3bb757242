// Builds the library's request: the headers that its protocols define, and a given body.
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { Failure } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Request } from "../call/exchange.ts";
import type { Inbound } from "../call/dispatch.ts";
import { outlastsTimers } from "./protocol.ts";

/** Other headers are left out: their values may be invalid for the Fetch standard's `Headers`. */
const headersOfTheProtocols = [
  "content-type",
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

/** A longer name of a compression is cut: none is, and the library repeats those that it does not know. */
const longestEncoding = 64;
const encodings: ReadonlySet<string> = new Set(["content-encoding", "grpc-encoding", "connect-content-encoding"]);

/** The request for a handler. The host does not matter: the path alone selects the handler. */
export function universalRequest(
  { requestPath }: UniversalHandler,
  request: Request,
  body: AsyncIterable<Uint8Array>,
  { limits }: Inbound,
  contextValues: ContextValues,
): UniversalServerRequest {
  const { httpVersion, method = "", url = "", headers } = request;
  const header = new Headers();
  for (const name of headersOfTheProtocols) {
    const value = headers[name];
    // Without a timeout that no timer can have, the call lasts: its caller ends it.
    if (value === undefined || outlastsTimers(name, String(value))) continue;
    header.set(name, encodings.has(name) ? String(value).slice(0, longestEncoding) : String(value));
  }
  const signal = limits?.cancellation?.signal ?? new AbortController().signal;
  const mark = url.indexOf("?");
  // A `#` in the request target is data. In a URL it would end the query, and the guards would have read another one.
  const search = mark === -1 ? "" : url.slice(mark).replaceAll("#", "%23");
  return { httpVersion, method, url: `http://records${requestPath}${search}`, header, body, signal, contextValues };
}

/** A body that was received as a whole. */
export async function* whole(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.byteLength > 0) yield await Promise.resolve(bytes);
}

/**
 * A body as it comes. Fails with CANCELLED where the client goes before its end. A reader that stops early leaves the
 * request whole, for `endUnread`: one that is destroyed is not read any more, and its connection stays.
 */
export async function* arriving(request: Request): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array;
  } catch (cause) {
    throw new Failure(Reason.CANCELLED, { cause });
  }
}
