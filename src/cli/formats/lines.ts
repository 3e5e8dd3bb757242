// Splits a stream of bytes into lines, with a limit on the memory for one line.
import type { Decode } from "./encoding.ts";
import { decoderOf, encodingOf } from "./encoding.ts";

/** A line without its line feed, or the reason why it cannot be read. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  /** Set if the line is not valid text or too long; `text` is then empty. */
  readonly problem?: string;
}

/** Lines as bytes: each character of a line is one byte. */
export interface ByteLines {
  /** The encoding of the bytes. */
  readonly encoding: string;
  readonly lines: AsyncIterable<readonly Line[]>;
}

/**
 * The maximum length of a line, in bytes, in its own encoding and in UTF-8. A record is sent in one message, of at most
 * 32 MiB on the internal listener.
 */
const maxLineBytes = 30 * 1024 * 1024;

/**
 * Yields the lines of a file, in one array for each chunk. `said` is a label of the WHATWG Encoding Standard. Removes a
 * byte order mark, which overrides `said`. A line that is invalid, or longer than `longest` bytes in its encoding or in
 * UTF-8, has a `problem`, and reading continues after it. A `\r` at the end of a line is kept.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  said?: string,
  longest = maxLineBytes,
): AsyncIterable<readonly Line[]> {
  const start = await startOf(chunks, said);
  const decode = decoderOf(start.encoding);
  const lineOf = (number: number, bytes: Uint8Array): Line => {
    const text = decode(bytes);
    if (text === undefined)
      return { number, text: "", problem: `the line is not ${start.encoding.toUpperCase()}: ${setEncoding}` };
    // In UTF-8, in which it is sent, it may be longer than in its own encoding.
    if (Buffer.byteLength(text) > longest) return { number, text: "", problem: tooLong(longest) };
    return { number, text: number === 1 ? text.replace(/^\uFEFF/, "") : text };
  };
  yield* split(start, longest, lineOf);
}

/** Returns the lines of a file as bytes. UTF-16 becomes UTF-8. Byte order marks are kept. */
export async function byteLinesOf(chunks: AsyncIterable<Uint8Array>, said?: string): Promise<ByteLines> {
  const start = await startOf(chunks, said);
  const wide = start.encoding.startsWith("utf-16") ? decoderOf(start.encoding) : undefined;
  return {
    encoding: wide === undefined ? start.encoding : "utf-8",
    lines: split(start, maxLineBytes, (number, bytes) => byteLine(number, bytes, wide)),
  };
}

function byteLine(number: number, bytes: Uint8Array, wide: Decode | undefined): Line {
  const utf8 = wide === undefined ? bytes : wide(bytes);
  return utf8 === undefined
    ? { number, text: "", problem: `the line is not UTF-16: ${setEncoding}` }
    : { number, text: Buffer.from(utf8).toString("latin1") };
}

const [lineFeed, carriageReturn] = [10, 13];

const setEncoding = "set --encoding, such as windows-1252";
const tooLong = (longest: number): string => `the line is longer than ${Math.floor(longest / 1024 / 1024)} MiB`;

/** The beginning of a file, which decides about its encoding and the end of its lines. */
interface Start {
  readonly encoding: string;
  readonly ends: LineEnds;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** How many bytes without a line feed show that lines end with CR alone. */
const maxBegin = 64 * 1024;

/** Reads the first line, which can begin with a byte order mark, or the begin of a file without line feeds. */
async function startOf(chunks: AsyncIterable<Uint8Array>, said: string | undefined): Promise<Start> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first = new Uint8Array();
  while (first.length < 4 || (first.length < maxBegin && !first.includes(lineFeed))) {
    const next = await iterator.next();
    if (next.done === true) break;
    first = Buffer.concat([first, next.value]);
  }
  async function* all(): AsyncIterable<Uint8Array> {
    try {
      if (first.length > 0) yield first;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  const encoding = encodingOf(first, said);
  const [lf, cr] = [endsOf(encoding, lineFeed), endsOf(encoding, carriageReturn)];
  return { encoding, ends: cr.next(first, 0) !== -1 && lf.next(first, 0) === -1 ? cr : lf, chunks: all() };
}

async function* split(
  { ends, chunks }: Start,
  longest: number,
  lineOf: (number: number, bytes: Uint8Array) => Line,
): AsyncIterable<readonly Line[]> {
  let number = 0;
  let pieces: Uint8Array[] = [];
  let length = 0;

  function take(end: Uint8Array): Line {
    number++;
    const whole = pieces.length === 0 ? end : Buffer.concat([...pieces, end]);
    const isTooLong = length + end.length > longest;
    pieces = [];
    length = 0;
    return isTooLong ? { number, text: "", problem: tooLong(longest) } : lineOf(number, whole);
  }

  for await (const chunk of inUnits(chunks, ends.width)) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = ends.next(chunk, from); end !== -1; end = ends.next(chunk, from)) {
      lines.push(take(chunk.subarray(from, end)));
      from = end + ends.width;
    }
    const rest = chunk.subarray(from);
    length += rest.length;
    // The rest of a line that is too long is discarded.
    if (length <= longest) pieces.push(rest);
    else pieces = [];
    if (lines.length > 0) yield lines;
  }
  if (length > 0) yield [take(new Uint8Array())];
}

/** The line ends in the bytes of an encoding. */
interface LineEnds {
  /** The length of a line end in bytes. */
  readonly width: number;
  /** Returns the position of the next line end; -1 if there is none. */
  next(bytes: Uint8Array, from: number): number;
}

/**
 * Returns the line ends of an encoding. A byte of this value is one, except in UTF-16, where it can be half of another
 * character.
 */
function endsOf(encoding: string, byte: number): LineEnds {
  if (!encoding.startsWith("utf-16")) return { width: 1, next: (bytes, from) => bytes.indexOf(byte, from) };
  const [at, other] = encoding === "utf-16le" ? [0, 1] : [1, 0];
  return {
    width: 2,
    next(bytes, from) {
      for (let found = bytes.indexOf(byte, from); found !== -1; found = bytes.indexOf(byte, found + 1))
        if (found % 2 === at && bytes[found - at + other] === 0) return found - at;
      return -1;
    },
  };
}

/**
 * Yields the bytes in chunks that split no code unit of `width` bytes. Single bytes are passed on at once, because the
 * next chunk may be late.
 */
async function* inUnits(chunks: AsyncIterable<Uint8Array>, width: number): AsyncIterable<Uint8Array> {
  let half = new Uint8Array();
  for await (const next of chunks) {
    const chunk = half.length === 0 ? next : Buffer.concat([half, next]);
    const whole = chunk.length - (chunk.length % width);
    half = new Uint8Array(chunk.subarray(whole));
    if (whole > 0) yield chunk.subarray(0, whole);
  }
  if (half.length > 0) yield half;
}

/** Returns a line without the CRs before its line feed: some programs write two. */
export function withoutReturns(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\r") end--;
  return text.slice(0, end);
}
