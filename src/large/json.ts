// Serializes large values as JSON in pieces, between which other requests run.
import { encodeInPieces } from "./pieces.ts";
import { pieceBytes } from "./slots.ts";
import { endOfCodePoint } from "../text/text.ts";

/** Returns the bytes of `JSON.stringify` for plain data, in pieces. */
export function jsonInPieces(value: unknown): Promise<Buffer[]> {
  return encodeInPieces(partsOf(value));
}

function* partsOf(value: unknown): Iterable<string> {
  if (typeof value === "string" && value.length > pieceBytes) yield* partsOfText(value);
  else if (typeof value !== "object" || value === null) yield JSON.stringify(value) ?? "null";
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      yield at === 0 ? "[" : ",";
      yield* partsOf(item);
    }
    yield value.length === 0 ? "[]" : "]";
  } else {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    for (const [at, [name, member]] of members.entries()) {
      yield `${at === 0 ? "{" : ","}${JSON.stringify(name)}:`;
      yield* partsOf(member);
    }
    yield members.length === 0 ? "{}" : "}";
  }
}

function* partsOfText(text: string): Iterable<string> {
  yield '"';
  for (let at = 0; at < text.length; ) {
    const end = endOfCodePoint(text, Math.min(at + pieceBytes, text.length) - 1);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}
