// Responses around a text that is stored deflated: gzip is put together from its blocks, without a look inside them.
import { crc32 } from "node:zlib";
import type { Message } from "@bufbuild/protobuf";
import type { DeflatedText } from "../src/deflated.ts";
import { findDeflated, inflateJson } from "../src/deflated.ts";

/**
 * The gzipped body of a response, in pieces; undefined where it holds no deflated text. `render` writes the body of a
 * message.
 */
export function renderGzip(message: Message, render: (message: Message) => string): readonly Uint8Array[] | undefined {
  const found = renderAround(message, render);
  return found && gzipAround(found.before, found.text, found.after);
}

/** The body of such a response as it is, in pieces; inflated off the main thread. */
export async function renderInflated(
  message: Message,
  render: (message: Message) => string,
): Promise<readonly Uint8Array[] | undefined> {
  const found = renderAround(message, render);
  return found && [found.before, await inflateJson(found.text), found.after];
}

/** The body of a response before and after the deflated text that it holds; undefined where it holds none. */
function renderAround(
  message: Message,
  render: (message: Message) => string,
): { readonly before: Buffer; readonly text: DeflatedText; readonly after: Buffer } | undefined {
  const found = findDeflated(message);
  if (found === undefined) return undefined;
  const { name, holder, field, text } = found;
  // A NUL and a number that no other text of the response can hold at once: the place of the text in the JSON.
  const mark = `\u0000${Math.random()}${Date.now()}`;
  const marked = { ...message, [name]: { ...withoutField(holder, field), [field]: mark } };
  const [before, after] = render(marked).split(JSON.stringify(mark));
  return { before: Buffer.from(before ?? ""), text, after: Buffer.from(after ?? "") };
}

/** One gzip member (RFC 1952): a stored block, the blocks of the text as they are, and a last stored block. */
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

/** ID1 ID2, deflate, no flags, no time, no extra flags, unknown system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** A block without compression (RFC 1951 §3.2.4). The rest of the body is far below its 65,535 bytes. */
function storedBlock(bytes: Buffer, last: boolean): Buffer {
  if (bytes.length > 0xffff) throw new RangeError("a stored block has at most 65,535 bytes");
  const head = Buffer.from([last ? 1 : 0, 0, 0, 0, 0]);
  head.writeUInt16LE(bytes.length, 1);
  head.writeUInt16LE(~bytes.length & 0xffff, 3);
  return Buffer.concat([head, bytes]);
}

/**
 * The CRC-32 of two texts in a row, from that of each and the length of the second: appending a zero bit is a linear
 * map over GF(2), and its powers are had by squaring.
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

/** Appends 2^power zero bytes. Each is made once. */
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

/** A copy without one field, which is not read: reading it would inflate it. */
function withoutField(message: object, field: string): object {
  return Object.fromEntries(
    Object.keys(message).flatMap((name) =>
      name === field ? [] : [[name, (message as Record<string, unknown>)[name]]],
    ),
  );
}
