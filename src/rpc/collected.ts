// Collects the library's responses whole: the original message is released while the client reads, and the bytes are
// counted.
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { writeBody } from "../http/response.ts";
import type { Request, Response } from "../call/exchange.ts";
import { endTrailersOnly } from "./trailers-only.ts";
import { encodeWebText, isWebText } from "./web-text.ts";

/** A response with a complete body. */
export type CollectedResponse = Omit<UniversalServerResponse, "body"> & { readonly body: readonly Uint8Array[] };

/** A response of the library, or one with a complete body. */
export type AnyResponse = UniversalServerResponse | CollectedResponse;

/** Returns the chunks of a body. */
export async function collected(body: AnyResponse["body"]): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  return pieces;
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Writes a response, no faster than the client reads it. */
export async function sendCollected(
  request: Request,
  response: Response,
  collectedResponse: CollectedResponse,
): Promise<void> {
  const { status, header, trailer, body } = isWebText(request) ? encodeWebText(collectedResponse) : collectedResponse;
  if (trailer !== undefined && lengthOf(body) === 0) return endTrailersOnly(response, header ?? [], trailer);
  response.writeHead(status, Object.fromEntries(header ?? []));
  if (trailer !== undefined) response.addTrailers(Object.fromEntries(trailer));
  await writeBody(request, response, body);
}
