// The library's responses, collected whole: the message that one was made of is not kept for as long as the client
// reads, and its bytes are counted.
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";

/** A response whose body is there. */
export type CollectedResponse = Omit<UniversalServerResponse, "body"> & { readonly body: readonly Uint8Array[] };

/** The pieces of a body. */
export async function collected(body: UniversalServerResponse["body"]): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  return pieces;
}

/** The same response for the library's writer. */
export function streamed({ body, ...response }: CollectedResponse): UniversalServerResponse {
  return { ...response, body: each(body) };
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

async function* each(pieces: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}
