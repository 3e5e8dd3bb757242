// The message of a gRPC status on the wire.

/** ASCII that gRPC does not encode: all printable characters and the blank, except `%`. */
const encodedAscii = /%(?:2[0-46-9A-F]|[3-6][\dA-F]|7[\dA-E])/gi;

/**
 * Decodes what the library encodes in the message of a status beyond gRPC's rule. Several clients decode only what they
 * would encode, or nothing, and would show `email%3A`.
 */
export function decodeAsciiIn(trailer: Headers): Headers {
  const message = trailer.get("grpc-message");
  if (message !== null) trailer.set("grpc-message", message.replace(encodedAscii, decodeURIComponent));
  return trailer;
}
