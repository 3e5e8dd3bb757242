// Writes the library's responses to the rpcs that it serves itself: streams, health and reflection.
import { ConnectError } from "@connectrpc/connect";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Response } from "../call/exchange.ts";
import { decodeAsciiIn } from "./grpc-message.ts";
import { endTrailersOnly } from "./trailers-only.ts";
import { leaving } from "./unencodable.ts";

/** Writes a response, as it is produced. One of gRPC without a message is Trailers-Only. */
export async function sendServed(response: Response, served: UniversalServerResponse): Promise<void> {
  const { header, trailer, body } = served;
  if (trailer === undefined || body === undefined) return universalResponseToNodeResponse(served, response);
  const iterator = body[Symbol.asyncIterator]();
  let first: IteratorResult<Uint8Array> | undefined;
  try {
    first = await iterator.next();
  } catch (error) {
    throw ConnectError.from(error);
  }
  if (first.done === true) return endTrailersOnly(response, header ?? [], trailer);
  async function next(): Promise<IteratorResult<Uint8Array>> {
    const result = first ?? (await iterator.next());
    first = undefined;
    if (result.done === true) decodeAsciiIn(trailer as Headers);
    return result;
  }
  const rest = { [Symbol.asyncIterator]: () => ({ ...leaving(iterator), next }) };
  await universalResponseToNodeResponse({ ...served, body: rest }, response);
}
