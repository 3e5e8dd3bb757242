// Recognizes the encoding of a text by its byte order mark or by the form of UTF-16, and decodes it.
import { TextDecoder } from "node:util";

/** How many units of UTF-16 have one byte of zero, at least, in a text with delimiters and line ends: one in ten. */
const minZeros = 0.1;

/**
 * Returns the standard name of the encoding of a file that begins with these bytes. A byte order mark takes precedence
 * over `said`, the label that the user set. Without both, it is UTF-16 if the zeros are where UTF-16 has them, and
 * otherwise UTF-8.
 */
export function encodingOf(first: Uint8Array, said?: string): string {
  if (first[0] === 0xff && first[1] === 0xfe) return "utf-16le";
  if (first[0] === 0xfe && first[1] === 0xff) return "utf-16be";
  if (first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf) return "utf-8";
  return said === undefined ? (unmarkedUtf16(first.subarray(0, 4_096)) ?? "utf-8") : new TextDecoder(said).encoding;
}

function unmarkedUtf16(first: Uint8Array): string | undefined {
  const zeros = [0, 0];
  for (const [at, byte] of first.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  // Two units with a zero are the least that a header has.
  if (Math.min(even, odd) > 0 || even + odd < Math.max(2, (first.length / 2) * minZeros)) return undefined;
  return odd > 0 ? "utf-16le" : "utf-16be";
}

/** Decodes bytes. Returns undefined for invalid ones, instead of replacing them by U+FFFD. */
export type Decode = (bytes: Uint8Array) => string | undefined;

/** Returns the decoder of an encoding. Fails if its label is not known. */
export function decoderOf(encoding: string): Decode {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const decode: Decode = (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  };
  return decoder.encoding === "windows-1252" ? (bytes) => withWindowsSigns(decode(bytes)) : decode;
}

/** The characters of windows-1252 from 0x80 on. It has none for 5 bytes. */
const windowsSigns = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ";

/** Some versions of Node decode windows-1252 as Latin-1, which has controls for the quotation marks. */
function withWindowsSigns(text: string | undefined): string | undefined {
  const exact = text?.replace(/[\x80-\x9f]/g, (sign) => windowsSigns[sign.charCodeAt(0) - 0x80] ?? "\0");
  // A NUL of the text itself is found later.
  return exact?.includes("\0") === true && text?.includes("\0") === false ? undefined : exact;
}
