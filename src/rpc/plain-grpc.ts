// gRPC calls as most clients send them, with one message that is not compressed. The library's streams and iterators
// cost more processor time than such a call itself.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { compressedFlag, compressionNegotiate, encodeEnvelope } from "@connectrpc/connect/protocol";
import { contentTypeProto, parseContentType, parseTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Request } from "../call/exchange.ts";
import type { CollectedResponse } from "./collected.ts";
import { gzip } from "./gzip.ts";
import type { Protocol } from "./protocol.ts";
import { contentTypeOf, envelopeHead } from "./protocol.ts";
import { readOptions } from "./router-options.ts";
import { EncodingError } from "./unencodable.ts";

/** Smaller messages are not compressed: the same limit as the library's. */
const compressMinBytes = 1024;

/**
 * Returns the message of such a call. Returns undefined for any other call, and for a malformed one, which the library
 * serves or rejects.
 */
export function plainMessage(
  input: DescMessage,
  protocol: Protocol,
  request: Request,
  body: Buffer,
): Message | undefined {
  if (protocol !== "grpc" || parseContentType(contentTypeOf(request))?.binary !== true) return undefined;
  const { "grpc-encoding": encoding = "identity", "grpc-timeout": timeout } = request.headers;
  if (encoding !== "identity") return undefined;
  if (timeout !== undefined && parseTimeout(String(timeout), Infinity).error !== undefined) return undefined;
  if (body.length < envelopeHead || body[0] !== 0 || body.readUInt32BE(1) !== body.length - envelopeHead)
    return undefined;
  try {
    return fromBinary(input, body.subarray(envelopeHead), readOptions);
  } catch {
    return undefined;
  }
}

/** Returns the response to such a call, compressed if it is large enough and the client accepts that. */
export async function plainResponse(
  output: DescMessage,
  message: Message,
  request: Request,
): Promise<CollectedResponse & { readonly header: Headers }> {
  const accepted = request.headers["grpc-accept-encoding"];
  const { response: compression } = compressionNegotiate([gzip], null, String(accepted ?? ""), "grpc-accept-encoding");
  const header = new Headers({ "content-type": contentTypeProto });
  if (compression !== null) header.set("grpc-encoding", compression.name);
  const bytes = encoded(output, message);
  const body =
    compression !== null && bytes.length >= compressMinBytes
      ? encodeEnvelope(compressedFlag, await compression.compress(bytes))
      : encodeEnvelope(0, bytes);
  return { status: 200, header, body: [body], trailer: setTrailerStatus(new Headers(), undefined) };
}

function encoded(output: DescMessage, message: Message): Uint8Array {
  try {
    return toBinary(output, message);
  } catch (error) {
    throw new EncodingError(error);
  }
}
