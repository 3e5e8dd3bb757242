// Splits a stream of bytes into lines of text, with a limit on the memory for one line.
import { TextDecoder } from "node:util";
import { rejectUsage } from "../exit.ts";

/** A line without its line feed, or the reason why it cannot be read. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  /** Set if the line is not valid text or too long; `text` is then empty. */
  readonly problem?: string;
}

/**
 * The maximum length of a line, in bytes, in its own encoding and in UTF-8. A record is sent in one message, of at most
 * 32 MiB on the internal listener.
 */
const maxLineBytes = 30 * 1024 * 1024;

/**
 * Yields the lines of a file, in one array for each chunk. `encoding` is a label of the WHATWG Encoding Standard.
 * Removes a byte order mark; one of UTF-16 overrides `encoding`. A line that is invalid, or longer than `longest`
 * bytes in its encoding or in UTF-8, has a `problem`, and reading continues after it. A `\r` at the end of a line is
 * kept.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  encoding = "utf-8",
  longest = maxLineBytes,
): AsyncIterable<readonly Line[]> {
  let decode: ((line: Uint8Array) => string | undefined) | undefined;
  let ends: LineEnds = endsOf("utf-8");
  let name = "";
  let number = 0;
  let pieces: Uint8Array[] = [];
  let length = 0;

  function take(end: Uint8Array): Line {
    number++;
    const whole = pieces.length === 0 ? end : Buffer.concat([...pieces, end]);
    let tooLong = length + end.length > longest;
    pieces = [];
    length = 0;
    const text = tooLong ? undefined : decode?.(whole);
    // In UTF-8, in which it is sent, it may be longer than in its own encoding.
    tooLong ||= text !== undefined && Buffer.byteLength(text) > longest;
    if (tooLong)
      return { number, text: "", problem: `the line is longer than ${Math.floor(longest / 1024 / 1024)} MiB` };
    if (text !== undefined) return { number, text: number === 1 ? text.replace(/^\uFEFF/, "") : text };
    return { number, text: "", problem: `the line is not ${name}: set --encoding, such as windows-1252` };
  }

  for await (const chunk of inUnits(chunks, encoding)) {
    if (decode === undefined) {
      const found = encodingOf(chunk, encoding);
      name = found.toUpperCase();
      decode = decoderOf(found);
      ends = endsOf(found);
    }
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

/** Fails if the first line contains a CR: lines then end with CR alone, and the whole file is one line. */
export function requireLineFeeds(first: string): void {
  if (/\r(?!\n|$)/.test(first))
    rejectUsage("The lines of the file end with CR alone. Save it with LF or CRLF at the end of each line.");
}

/** Returns a decoder to text. It returns undefined for invalid bytes, instead of replacing them by U+FFFD. */
function decoderOf(encoding: string): (bytes: Uint8Array) => string | undefined {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  };
}

/** The line ends in the bytes of an encoding. */
interface LineEnds {
  /** The length of a line feed in bytes. */
  readonly width: number;
  /** Returns the position of the next line feed; -1 if there is none. */
  next(bytes: Uint8Array, from: number): number;
}

/**
 * Returns the line ends of an encoding. The byte 10 is a line feed, except in UTF-16, where it can be half of another
 * character.
 */
function endsOf(encoding: string): LineEnds {
  if (!encoding.startsWith("utf-16")) return { width: 1, next: (bytes, from) => bytes.indexOf(10, from) };
  const [at, other] = encoding === "utf-16le" ? [0, 1] : [1, 0];
  return {
    width: 2,
    next(bytes, from) {
      for (let found = bytes.indexOf(10, from); found !== -1; found = bytes.indexOf(10, found + 1))
        if (found % 2 === at && bytes[found - at + other] === 0) return found - at;
      return -1;
    },
  };
}

/**
 * Yields the bytes in chunks that split no UTF-16 code unit. Bytes in other encodings are passed on at once, because
 * the next chunk may be late.
 */
async function* inUnits(chunks: AsyncIterable<Uint8Array>, said: string): AsyncIterable<Uint8Array> {
  let encoding: string | undefined;
  let half = new Uint8Array();
  for await (const next of chunks) {
    const chunk = half.length === 0 ? next : Buffer.concat([half, next]);
    // A single byte of a UTF-16 byte order mark does not identify the encoding.
    const cut = encoding === undefined && chunk.length === 1 && (chunk[0] ?? 0) >= 0xfe;
    if (chunk.length > 0 && !cut) encoding ??= encodingOf(chunk, said);
    const whole = cut || encoding?.startsWith("utf-16") === true ? chunk.length - (chunk.length % 2) : chunk.length;
    half = new Uint8Array(chunk.subarray(whole));
    if (whole > 0) yield chunk.subarray(0, whole);
  }
  if (half.length > 0) yield half;
}

/** Returns the standard name of the encoding: UTF-16 if the first bytes are its byte order mark, otherwise `said`. */
export function encodingOf(first: Uint8Array, said: string): string {
  if (first[0] === 0xff && first[1] === 0xfe) return "utf-16le";
  if (first[0] === 0xfe && first[1] === 0xff) return "utf-16be";
  return new TextDecoder(said).encoding;
}
