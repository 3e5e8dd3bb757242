// Gzipped responses around a text that is stored deflated: its blocks are reused without decompression.
import { crc32 } from "node:zlib";
import type { Message } from "@bufbuild/protobuf";
import type { DeflatedText } from "../large/deflated.ts";
import { findDeflated, inflateJson } from "../large/deflated.ts";

/**
 * Returns the gzipped body of a response in pieces; undefined if it contains no deflated text. `render` returns the
 * body of a message.
 */
export function renderGzip(message: Message, render: (message: Message) => string): readonly Uint8Array[] | undefined {
  const found = renderAround(message, render);
  return found && gzipAround(found.before, found.text, found.after);
}

/**
 * Returns the uncompressed body of a response in pieces; undefined if it contains no deflated text. Inflates the text
 * off the main thread.
 */
export async function renderInflated(
  message: Message,
  render: (message: Message) => string,
): Promise<readonly Uint8Array[] | undefined> {
  const found = renderAround(message, render);
  return found && [found.before, await inflateJson(found.text), found.after];
}

/** Returns the body of a response before and after its deflated text; undefined if it contains none. */
function renderAround(
  message: Message,
  render: (message: Message) => string,
): { readonly before: Buffer; readonly text: DeflatedText; readonly after: Buffer } | undefined {
  const found = findDeflated(message);
  if (found === undefined) return undefined;
  const { name, holder, field, text } = found;
  // The placeholder of the text in the JSON. No other text of the response can contain both this NUL and the number.
  const mark = `\u0000${Math.random()}${Date.now()}`;
  const marked = { ...message, [name]: { ...withoutField(holder, field), [field]: mark } };
  const [before, after] = render(marked).split(JSON.stringify(mark));
  return { before: Buffer.from(before ?? ""), text, after: Buffer.from(after ?? "") };
}

/** Returns one gzip member (RFC 1952): a stored block, the unchanged blocks of the text, and a last stored block. */
export function gzipAround(
  before: Buffer,
  { blocks, size, crc }: DeflatedText,
  after: Buffer,
): readonly [Buffer, Uint8Array, Buffer] {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(after, combineCrc32(crc32(before), crc, size)), 0);
  trailer.writeUInt32LE((before.length + size + after.length) >>> 0, 4);
  return [
    Buffer.concat([header, storedBlock(before, false)]),
    blocks,
    Buffer.concat([storedBlock(after, true), trailer]),
  ];
}

/** The gzip header: ID1 ID2, deflate, no flags, no time, no extra flags, unknown system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** Returns an uncompressed block (RFC 1951 §3.2.4). The body around the text is far below the limit of 65,535 bytes. */
function storedBlock(bytes: Buffer, last: boolean): Buffer {
  if (bytes.length > 0xffff) throw new RangeError("a stored block has at most 65,535 bytes");
  const head = Buffer.from([last ? 1 : 0, 0, 0, 0, 0]);
  head.writeUInt16LE(bytes.length, 1);
  head.writeUInt16LE(~bytes.length & 0xffff, 3);
  return Buffer.concat([head, bytes]);
}

/**
 * Returns the CRC-32 of two concatenated texts from the CRC of each and the length of the second. Appending a zero bit
 * is a linear map over GF(2), whose powers are computed by squaring.
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  let crc = first;
  for (let [length, power] = [secondLength, 0]; length > 0; length = Math.floor(length / 2), power++) {
    if (length % 2 === 1) crc = times(zeroBytes(power), crc);
  }
  return (crc ^ second) >>> 0;
}

const zeroByte = square(
  square(square(Uint32Array.from({ length: 32 }, (_, bit) => (bit === 0 ? 0xedb88320 : 1 << (bit - 1))))),
);
const powers: Uint32Array[] = [zeroByte];

/** Returns the matrix that appends 2^power zero bytes. Computes each matrix once. */
function zeroBytes(power: number): Uint32Array {
  const known = powers[power] ?? square(zeroBytes(power - 1));
  powers[power] = known;
  return known;
}

function times(matrix: Uint32Array, vector: number): number {
  let sum = 0;
  for (let bit = 0; bit < 32; bit++) if (((vector >>> bit) & 1) === 1) sum ^= matrix[bit] ?? 0;
  return sum >>> 0;
}

function square(matrix: Uint32Array): Uint32Array {
  return matrix.map((column) => times(matrix, column));
}

/** Copies a message without one field. Does not read that field, which would inflate it. */
function withoutField(message: object, field: string): object {
  return Object.fromEntries(
    Object.keys(message).flatMap((name) =>
      name === field ? [] : [[name, (message as Record<string, unknown>)[name]]],
    ),
  );
}
