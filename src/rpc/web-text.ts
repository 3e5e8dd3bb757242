// gRPC-Web in base64 (`application/grpc-web-text`), the default mode of the official generator for browsers.
import type { Head } from "../call/exchange.ts";

/** The content type of gRPC-Web, and of its mode in base64. Both can have the suffix of a codec. */
const [binary, text] = ["application/grpc-web", "application/grpc-web-text"];

/** Whether a request and its response are in base64. */
export function isWebText({ headers }: Head): boolean {
  return headers["content-type"]?.slice(0, text.length).toLowerCase() === text;
}

/** Returns a content type without the mode. */
export function withoutText(type: string): string {
  return type.startsWith(text) ? `${binary}${type.slice(text.length)}` : type;
}

/** Returns the maximum length of this many bytes in base64. */
export function lengthInBase64(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}

/**
 * Decodes a body. It may consist of several pieces, each with padding of its own. Returns undefined if it is not
 * base64.
 */
export function decodeWebText(body: Buffer): Buffer | undefined {
  const characters = body.toString("latin1");
  if (!/^[A-Za-z0-9+/=]*$/.test(characters)) return undefined;
  const pieces = characters.match(/[^=]+={0,2}/g) ?? [];
  const isWhole = pieces.every(({ length }) => length % 4 === 0) && pieces.join("").length === characters.length;
  return isWhole ? Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64"))) : undefined;
}

/** Encodes a response of gRPC-Web, each piece with padding of its own. */
export function encodeWebText<Collected extends { readonly header?: Headers; readonly body: readonly Uint8Array[] }>(
  response: Collected,
): Collected & { readonly header: Headers } {
  const encoded = new Headers(response.header);
  encoded.set("content-type", (encoded.get("content-type") ?? binary).replace(binary, text));
  encoded.delete("content-length");
  const body = response.body.map((piece) => Buffer.from(Buffer.from(piece).toString("base64")));
  return { ...response, header: encoded, body };
}
