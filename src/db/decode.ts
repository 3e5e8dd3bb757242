// BSON decoder for the types that records use, which takes half the library's time. Documents with any other type are
// left to the library.
import type { Document } from "mongodb";
import { BSON, Binary, UUID } from "mongodb";
import { textOfUtf8 } from "../text/text.ts";

/** Element types (BSON specification 1.1). */
const type = {
  double: 1,
  string: 2,
  document: 3,
  array: 4,
  binary: 5,
  boolean: 8,
  date: 9,
  null: 10,
  int32: 16,
  int64: 18,
} as const;
const uuidSubtype = Binary.SUBTYPE_UUID;

/** The number of bytes below which decoding a string here is faster than a native call. */
const shortText = 24;

/** Cache of field names, which repeat in every row. It holds far more names than our documents have. */
const names: (string | undefined)[] = Array.from({ length: 1_024 });

/** The document being decoded, and the position in it. Decoding is synchronous, so one state is enough. */
let bytes: Buffer = Buffer.alloc(0);
let at = 0;

/** Signals that the library must decode the document. */
class Unknown extends Error {}

/**
 * Decodes a document as the driver does by default, with UUIDs and dates. 64-bit integers become numbers if they are
 * exact.
 */
export function decode(document: Buffer): Document {
  [bytes, at] = [document, 0];
  try {
    return readDocument();
  } catch (error) {
    if (error instanceof Unknown) return BSON.deserialize(document);
    throw error;
  }
}

/** Returns the id of a cursor from a raw reply without decoding its rows. */
export function cursorIdOf(cursor: Buffer): bigint {
  [bytes, at] = [cursor, 4];
  while (bytes[at] !== 0) {
    const kind = bytes[at++];
    const name = readName();
    if (name === "id" && kind === type.int64) return bytes.readBigInt64LE(at);
    if (kind !== type.array && kind !== type.document) break;
    at += int32();
  }
  throw new Error("MongoDB returned a cursor without an id after its rows");
}

function readDocument(): Document {
  const end = at + int32() - 1;
  const document: Document = {};
  at += 4;
  while (at < end) {
    const kind = bytes[at++] as number;
    const name = readName();
    document[name] = readValue(kind);
  }
  at = end + 1;
  return document;
}

/** Skips the names of elements, which are their indexes in order. */
function readArray(): unknown[] {
  const end = at + int32() - 1;
  const array: unknown[] = [];
  at += 4;
  while (at < end) {
    const kind = bytes[at++] as number;
    while (bytes[at++] !== 0);
    array.push(readValue(kind));
  }
  at = end + 1;
  return array;
}

function readValue(kind: number): unknown {
  const from = at;
  switch (kind) {
    case type.string:
      at += 4 + int32();
      return readText(from + 4, at - 1);
    case type.null:
      return null;
    case type.date:
      at += 8;
      return new Date(int64(from));
    case type.binary:
      return readBinary();
    case type.document:
      return readDocument();
    case type.array:
      return readArray();
    case type.int32:
      at += 4;
      return bytes.readInt32LE(from);
    case type.double:
      at += 8;
      return bytes.readDoubleLE(from);
    case type.boolean:
      return bytes[at++] === 1;
    case type.int64:
      at += 8;
      return exact(int64(from));
    default:
      throw new Unknown();
  }
}

function readBinary(): Binary {
  const length = int32();
  const subtype = bytes[at + 4] as number;
  if (subtype !== uuidSubtype && subtype !== Binary.SUBTYPE_DEFAULT) throw new Unknown();
  const value = bytes.subarray(at + 5, at + 5 + length);
  at += 5 + length;
  return subtype === uuidSubtype ? new UUID(value) : new Binary(value);
}

function readText(from: number, to: number): string {
  if (to - from >= shortText) return textOfUtf8(bytes.subarray(from, to));
  let text = "";
  for (let index = from; index < to; index++) {
    const code = bytes[index] as number;
    if (code > 127) return bytes.toString("utf8", from, to);
    text += String.fromCharCode(code);
  }
  return text;
}

/** Reads a zero-terminated name. */
function readName(): string {
  const from = at;
  let hash = 0;
  for (let byte = bytes[at] as number; byte !== 0; byte = bytes[at] as number) {
    hash = (hash * 31 + byte) | 0;
    at += 1;
  }
  const to = at++;
  const place = hash & (names.length - 1);
  const known = names[place];
  if (known !== undefined && isAt(known, from, to)) return known;
  const name = newName(from, to);
  names[place] = name;
  return name;
}

/** Leaves `__proto__` to the library: assigning it would set the prototype instead of a field. */
function newName(from: number, to: number): string {
  const name = bytes.toString("utf8", from, to);
  if (name === "__proto__") throw new Unknown();
  return name;
}

/** Whether the bytes are this name. Only ASCII names match. */
function isAt(name: string, from: number, to: number): boolean {
  if (name.length !== to - from) return false;
  for (let index = 0; index < name.length; index++) if (name.charCodeAt(index) !== bytes[from + index]) return false;
  return true;
}

/** Reads the number at the current position without advancing. */
function int32(): number {
  return bytes.readInt32LE(at);
}

function int64(from: number): number {
  return bytes.readUInt32LE(from) + bytes.readInt32LE(from + 4) * 2 ** 32;
}

function exact(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Unknown();
  return value;
}
