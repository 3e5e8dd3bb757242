// Cuts a stream of bytes into lines of text, with a bound on what one line may hold in memory.
import { TextDecoder } from "node:util";

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
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
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
    try {
      return { number, text: text.decode(whole) };
    } catch {
      return { number, text: "", problem: "the line is not UTF-8: set --encoding, such as windows-1252" };
    }
  }

  for await (const chunk of inUtf8(chunks, encoding)) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      lines.push(take(chunk.subarray(from, end)));
      from = end + 1;
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

/** The same bytes in UTF-8, without a byte order mark. */
async function* inUtf8(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncIterable<Uint8Array> {
  let decoder: TextDecoder | undefined;
  let begun = false;
  for await (let chunk of chunks) {
    if (!begun && chunk.length > 0) {
      const name = encodingOf(chunk, encoding);
      if (name !== "utf-8") decoder = new TextDecoder(name);
      else if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) chunk = chunk.subarray(3);
      begun = true;
    }
    yield decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
  if (decoder !== undefined) yield Buffer.from(decoder.decode());
}

/** What a file is encoded in, by its first bytes, else as was said. */
export function encodingOf(first: Uint8Array, said: string): string {
  if (first[0] === 0xff && first[1] === 0xfe) return "utf-16le";
  if (first[0] === 0xfe && first[1] === 0xff) return "utf-16be";
  return new TextDecoder(said).encoding;
}
