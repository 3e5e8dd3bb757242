// Cuts a stream of bytes into lines of text, with a bound on what one line may hold in memory.
import { TextDecoder } from "node:util";
import { rejectUsage } from "../exit.ts";

/** A line without its end, or why it cannot be read. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  /** Set where the line is no text, or too long; `text` is then empty. */
  readonly problem?: string;
}

/** No message may be larger than 32 MiB on the internal listener, and a record goes in one. */
const longestLine = 30 * 1024 * 1024;

/**
 * The lines of a file in `encoding` (a label of the WHATWG Encoding Standard), those of one chunk at a time. A byte
 * order mark is left out, and one of UTF-16 goes before the encoding. A line that is not valid, or longer than
 * `longest` bytes, is given with its problem, and the next is read like any other. A `\r` at the end of a line stays.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  encoding = "utf-8",
  longest = longestLine,
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
    const tooLong = length + end.length > longest;
    pieces = [];
    length = 0;
    if (tooLong)
      return { number, text: "", problem: `the line is longer than ${Math.floor(longest / 1024 / 1024)} MiB` };
    const text = decode?.(whole);
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
    // Of a line that is too long nothing more is kept.
    if (length <= longest) pieces.push(rest);
    else pieces = [];
    if (lines.length > 0) yield lines;
  }
  if (length > 0) yield [take(new Uint8Array())];
}

/** Fails where the text that should be the first line shows that lines end with CR alone: it is then the whole file. */
export function requireLineFeeds(first: string): void {
  if (/\r(?!\n|$)/.test(first))
    rejectUsage("The lines of the file end with CR alone. Save it with LF or CRLF at the end of each line.");
}

/** The text of bytes in an encoding; undefined where they are not valid in it. None is replaced by U+FFFD. */
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

/** Where lines end in the bytes of an encoding. */
interface LineEnds {
  /** How many bytes a line feed has. */
  readonly width: number;
  /** The place of the next line feed, -1 where there is none. */
  next(bytes: Uint8Array, from: number): number;
}

/** A byte of 10 is a line feed in every encoding but UTF-16, where it may be half of another character. */
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

/** The same bytes in chunks that cut no unit of UTF-16 in two. Others are passed on at once: the next may be late. */
async function* inUnits(chunks: AsyncIterable<Uint8Array>, said: string): AsyncIterable<Uint8Array> {
  let encoding: string | undefined;
  let half = new Uint8Array();
  for await (const next of chunks) {
    const chunk = half.length === 0 ? next : Buffer.concat([half, next]);
    // One byte of a mark of UTF-16 does not show it.
    const cut = encoding === undefined && chunk.length === 1 && (chunk[0] ?? 0) >= 0xfe;
    if (chunk.length > 0 && !cut) encoding ??= encodingOf(chunk, said);
    const whole = cut || encoding?.startsWith("utf-16") === true ? chunk.length - (chunk.length % 2) : chunk.length;
    half = new Uint8Array(chunk.subarray(whole));
    if (whole > 0) yield chunk.subarray(0, whole);
  }
  if (half.length > 0) yield half;
}

/** What a file is encoded in, by its first bytes, else as was said. */
export function encodingOf(first: Uint8Array, said: string): string {
  if (first[0] === 0xff && first[1] === 0xfe) return "utf-16le";
  if (first[0] === 0xfe && first[1] === 0xff) return "utf-16be";
  return new TextDecoder(said).encoding;
}
