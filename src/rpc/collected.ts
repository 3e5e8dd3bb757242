// The library's responses, collected whole: the message that one was made of is not kept for as long as the client
// reads, and its bytes are counted.
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { writeBody } from "../../gateway/response.ts";
import type { Request, Response } from "../call/exchange.ts";

/** A response whose body is there. */
export type CollectedResponse = Omit<UniversalServerResponse, "body"> & { readonly body: readonly Uint8Array[] };

/** The pieces of a body. */
export async function collected(body: UniversalServerResponse["body"]): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  return pieces;
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Writes the response, no faster than the client takes its pieces. */
export async function sendCollected(
  request: Request,
  response: Response,
  { status, header, trailer, body }: CollectedResponse,
): Promise<void> {
  response.writeHead(status, Object.fromEntries(header ?? []));
  if (trailer !== undefined) response.addTrailers(Object.fromEntries(trailer));
  await writeBody(request, response, body);
}
