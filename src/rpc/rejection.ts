// Error responses in the call's protocol, for calls that do not reach the library or that it rejects itself.
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import * as connect from "@connectrpc/connect/protocol-connect";
import * as grpc from "@connectrpc/connect/protocol-grpc";
import * as grpcWeb from "@connectrpc/connect/protocol-grpc-web";
import { decodeAsciiIn } from "./grpc-message.ts";
import type { CollectedResponse } from "./collected.ts";
import type { Protocol } from "./protocol.ts";
import { envelopeHead } from "./protocol.ts";

/** Returns the error response to a call with this content type. */
export function rejection(protocol: Protocol, contentType: string, error: ConnectError): CollectedResponse {
  if (protocol === "connect") {
    const type = connect.parseContentType(contentType);
    if (type?.stream === true) return endOfStream(type.binary, error);
    const header = new Headers(error.metadata);
    header.set("content-type", connect.contentTypeUnaryJson);
    const body = connect.errorToJsonBytes(error, undefined);
    header.set("content-length", String(body.byteLength));
    return { status: connect.codeToHttpStatus(error.code), header, body: [body] };
  }
  const trailer = decodeAsciiIn(grpc.setTrailerStatus(new Headers(), error));
  if (protocol === "grpc") {
    const type = grpc.parseContentType(contentType)?.binary === false ? grpc.contentTypeJson : grpc.contentTypeProto;
    return { status: 200, header: new Headers({ "content-type": type }), body: [], trailer };
  }
  const isJson = grpcWeb.parseContentType(contentType)?.binary === false;
  const header = new Headers({ "content-type": isJson ? grpcWeb.contentTypeJson : grpcWeb.contentTypeProto });
  const body = encodeEnvelope(grpcWeb.trailerFlag, grpcWeb.trailerSerialize(trailer));
  return { status: 200, header, body: [body] };
}

/** Returns the response to a Connect stream, whose only message is the one that ends it. */
function endOfStream(isBinary: boolean, error: ConnectError): CollectedResponse {
  const type = isBinary ? connect.contentTypeStreamProto : connect.contentTypeStreamJson;
  const end = JSON.stringify(connect.endStreamToJson(new Headers(), error, undefined));
  const body = encodeEnvelope(connect.endStreamFlag, Buffer.from(end));
  return { status: 200, header: new Headers({ "content-type": type }), body: [body] };
}

/** Returns the error in the library's response. */
export async function rejectedWith(
  protocol: Protocol,
  { header, trailer, body: pieces }: CollectedResponse,
): Promise<ConnectError> {
  const bytes = Buffer.concat(pieces);
  const unknown = new ConnectError("the call is malformed", Code.InvalidArgument);
  if (protocol === "grpc") return grpc.findTrailerError(trailer ?? new Headers()) ?? unknown;
  if (protocol === "connect") {
    const body = header?.get("content-encoding") === compressionGzip.name ? await inflated(bytes) : bytes;
    try {
      return connect.errorFromJsonBytes(body, undefined, unknown);
    } catch {
      // The library responds without a body if it does not know the encoding of a message.
      return unknown;
    }
  }
  return (await errorAtEnd(protocol, bytes)) ?? unknown;
}

/** Returns the error in the envelope that ends a response of gRPC-Web, or a stream of Connect. */
export async function errorAtEnd(protocol: Protocol, envelope: Uint8Array): Promise<ConnectError | undefined> {
  const isCompressed = ((envelope[0] ?? 0) & compressedFlag) !== 0;
  const data = envelope.subarray(envelopeHead);
  const end = isCompressed ? await inflated(data) : data;
  return protocol === "connect"
    ? connect.endStreamFromJson(end).error
    : grpc.findTrailerError(grpcWeb.trailerParse(end));
}

/** More bytes than any error response of the library has: it repeats at most a part of one message. */
const maxBytes = 64 * 1024 * 1024;

function inflated(bytes: Uint8Array): Promise<Uint8Array> {
  return compressionGzip.decompress(bytes, maxBytes);
}
