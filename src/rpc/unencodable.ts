// Reports results that the library cannot encode: it would send an error of its own, which nothing has reported.
import type { ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { endStreamFlag, parseContentType } from "@connectrpc/connect/protocol-connect";
import { findTrailerError, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import type { OnError } from "../call/dispatch.ts";
import type { Request } from "../call/exchange.ts";
import type { CollectedResponse } from "./collected.ts";
import { collected } from "./collected.ts";
import { reportedError } from "./connect-error.ts";
import type { ServedCall } from "./library-errors.ts";
import type { Protocol } from "./protocol.ts";
import { contentTypeOf } from "./protocol.ts";
import { errorAtEnd, rejectedWith, rejection } from "./rejection.ts";
import { whole } from "./universal-request.ts";

/** A result without a form on its wire. The log shows its name. */
export class EncodingError extends Error {
  override readonly name = "EncodingError";

  constructor(cause: unknown) {
    super("a result cannot be encoded", { cause });
  }
}

/** Fails if the library's response to a unary call is an error, although the service has returned a result. */
export async function requireEncoded(protocol: Protocol, response: CollectedResponse): Promise<void> {
  if (hasError(protocol, response)) throw new EncodingError(await rejectedWith(protocol, response));
}

function hasError(protocol: Protocol, { status, trailer, body: [first] }: CollectedResponse): boolean {
  if (protocol === "connect") return status !== 200;
  if (protocol === "grpc") return findTrailerError(trailer ?? new Headers()) !== undefined;
  // A message comes before the trailers of gRPC-Web, except in an error.
  return ((first?.[0] ?? trailerFlag) & trailerFlag) !== 0;
}

/**
 * Returns the library's response to a call. If it ends with an error although the service has not failed, reports
 * INTERNAL in its place.
 */
export async function reportUnencodable(
  served: UniversalServerResponse,
  request: Request,
  call: ServedCall,
  onError: OnError,
): Promise<UniversalServerResponse> {
  const contentType = contentTypeOf(request);
  const { inbound, protocol } = call;
  const report = (cause: ConnectError): ConnectError =>
    reportedError(new EncodingError(cause), inbound, protocol, onError);
  const endWith = (cause: ConnectError): Uint8Array =>
    Buffer.concat(rejection(protocol, contentType, report(cause)).body);
  if (served.status !== 200) {
    if (call.isResponding !== true) return served;
    const error = await rejectedWith(protocol, { ...served, body: await collected(served.body) });
    const rejected = rejection(protocol, contentType, report(error));
    return { ...rejected, body: whole(Buffer.concat(rejected.body)) };
  }
  const { body, trailer } = served;
  if (body === undefined || (protocol === "connect" && parseContentType(contentType)?.stream !== true)) return served;
  const iterator = body[Symbol.asyncIterator]();
  async function next(): Promise<IteratorResult<Uint8Array>> {
    const result = await iterator.next();
    if (call.isResponding !== true) return result;
    if (result.done === true) {
      const error = trailer === undefined ? undefined : findTrailerError(trailer);
      if (trailer !== undefined && error !== undefined) setTrailerStatus(trailer, report(error));
      return result;
    }
    const error = isEnd(protocol, result.value) ? await errorAtEnd(protocol, result.value) : undefined;
    return error === undefined ? result : { done: false, value: endWith(error) };
  }
  return { ...served, body: { [Symbol.asyncIterator]: () => ({ ...leaving(iterator), next }) } };
}

/** Returns the methods by which a writer ends the body early. */
export function leaving(iterator: AsyncIterator<Uint8Array>): Pick<AsyncIterator<Uint8Array>, "return" | "throw"> {
  return {
    return: async (value?: unknown) => (await iterator.return?.(value)) ?? { done: true, value },
    throw: async (error?: unknown) => {
      if (iterator.throw === undefined) throw error;
      return iterator.throw(error);
    },
  };
}

/** Whether an envelope is the last one of a response, with its status. gRPC has that in the trailers of HTTP. */
function isEnd(protocol: Protocol, [flags = 0]: Uint8Array): boolean {
  if (protocol === "grpc") return false;
  return (flags & (protocol === "connect" ? endStreamFlag : trailerFlag)) !== 0;
}
