// gzip for messages: each large one is decoded in its own turn of the event loop, however small its compressed size.
import { compressionGzip } from "@connectrpc/connect-node";
import type { Compression } from "@connectrpc/connect/protocol";
import { waitForDecodeTurn } from "../http/body.ts";
import type { Request } from "../call/exchange.ts";
import type { Protocol } from "./protocol.ts";

/**
 * Returns the content coding of a body of Connect, as the library spells it: codings are read in any case, and `x-gzip`
 * is gzip (RFC 9110 §8.4.1).
 */
export function contentCodingOf({ headers }: Request): string {
  const coding = headers["content-encoding"]?.toLowerCase() ?? "";
  if (coding === "") return "identity";
  return coding === "x-gzip" ? gzip.name : coding;
}

/** Whether the library decodes the body of a call. It rejects any other by the headers, without reading it. */
export function isDecoded(protocol: Protocol, request: Request): boolean {
  const coding = protocol === "connect" ? contentCodingOf(request) : request.headers["grpc-encoding"];
  return coding === undefined || coding === "identity" || coding === gzip.name;
}

/**
 * The library's gzip. The library decodes a message as soon as it is inflated, so several could be decoded in one turn.
 */
export const gzip: Compression = {
  ...compressionGzip,
  async decompress(bytes, maxBytes) {
    const inflated = await compressionGzip.decompress(bytes, maxBytes);
    await waitForDecodeTurn(inflated.length);
    return inflated;
  },
};
