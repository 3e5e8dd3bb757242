// Encodes large responses over Connect and gRPC in pieces: the library would block the event loop while it encodes one.
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { toBinary, toJson } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { findDeflated, inflateResponseText } from "../large/deflated.ts";
import { jsonInPieces } from "../large/json.ts";
import { hugeBytes, largeBytes, pieceBytes, yieldToEventLoop, requireSlotForHuge } from "../large/slots.ts";
import type { Tally } from "../call/tally.ts";
import type { AnyResponse, CollectedResponse } from "./collected.ts";
import { collected, lengthOf } from "./collected.ts";
import type { Protocol } from "./protocol.ts";
import { envelopeHead } from "./protocol.ts";

/** Whether a response is too large to be encoded in one go. */
export function isLargeResponse(message: Message, tally: Tally | undefined): boolean {
  if (tally !== undefined && tally.dbBytes >= largeBytes) return true;
  return deflatedSize(message) >= largeBytes;
}

/**
 * Returns the library's response to an empty message, with this message in it. It is not compressed, because the
 * envelope of gRPC needs its length before its first byte. Fails with UNAVAILABLE if too many huge responses are being
 * sent.
 */
export async function withLargeMessage(
  protocol: Protocol,
  response: AnyResponse,
  {
    schema,
    message,
    tally,
  }: { readonly schema: DescMessage; readonly message: Message; readonly tally: Tally | undefined },
): Promise<CollectedResponse> {
  if (deflatedSize(message) >= hugeBytes) requireSlotForHuge(tally);
  await inflateResponseText(message);
  const isJson = response.header?.get("content-type")?.includes("json") === true;
  const pieces = isJson ? await jsonInPieces(toJson(schema, message)) : await binaryInPieces(schema, message);
  if (protocol !== "connect") return { ...response, body: await enveloped(pieces, response.body) };
  response.header?.set("content-length", String(lengthOf(pieces)));
  return { ...response, body: pieces };
}

function deflatedSize(message: Message): number {
  return findDeflated(message)?.text.size ?? 0;
}

/**
 * Returns the pieces in an envelope, and then everything after the envelope of the empty message: the trailers of
 * gRPC-Web.
 */
async function enveloped(pieces: readonly Uint8Array[], body: AnyResponse["body"]): Promise<readonly Uint8Array[]> {
  const head = Buffer.alloc(envelopeHead);
  head.writeUInt32BE(lengthOf(pieces), 1);
  const [, ...trailers] = await collected(body);
  return [head, ...pieces, ...trailers];
}

/** Encodes a message as `toBinary` does, except that fields with messages come last. */
async function binaryInPieces(schema: DescMessage, message: Message): Promise<Uint8Array[]> {
  const values = message as Message & Record<string, unknown>;
  const outer = schema.fields.filter(isOuter);
  const own = { ...values };
  for (const { localName, fieldKind } of outer) {
    if (fieldKind === "list") own[localName] = [];
    else delete own[localName];
  }
  const pieces: Uint8Array[] = [toBinary(schema, own)];
  let fresh = 0;
  for (const field of outer) {
    const inner = (field.fieldKind === "list" ? values[field.localName] : [values[field.localName]]) as Message[];
    for (const one of inner) {
      if (one === undefined) continue;
      const bytes = await binaryInPieces(field.message, one);
      pieces.push(new BinaryWriter().tag(field.number, WireType.LengthDelimited).uint32(lengthOf(bytes)).finish());
      pieces.push(...bytes);
      fresh += lengthOf(bytes);
      if (fresh < pieceBytes) continue;
      fresh = 0;
      await yieldToEventLoop();
    }
  }
  return pieces;
}

/** Whether a field is a message or a list of messages, and not in a oneof. */
function isOuter(field: DescField): field is DescField & { readonly message: DescMessage } {
  return field.message !== undefined && field.fieldKind !== "map" && field.oneof === undefined;
}
