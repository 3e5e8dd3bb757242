// Text as Unicode has it: code points, and what is not well-formed.
import { isAscii, isUtf8, transcode } from "node:buffer";

/** From so many bytes on it pays to look first at what a text is made of. */
const longText = 512;

/**
 * The text of UTF-8, with U+FFFD for what is not well-formed: by way of UTF-16, a long one beyond ASCII is read five to
 * ten times as fast.
 */
export function textOfUtf8(bytes: Buffer): string {
  if (bytes.length < longText || !isUtf8(bytes)) return bytes.toString();
  return isAscii(bytes) ? bytes.toString("latin1") : transcode(bytes, "utf8", "utf16le").toString("utf16le");
}

/** Matches a surrogate without its other half: UTF-8 cannot hold it. */
export const loneSurrogate = /\p{Surrogate}/u;

/** The end of the code point that begins at `at`, in UTF-16 units. */
export function endOfCodePoint(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** How many units are looked at together for a surrogate. */
const stride = 65_536;
const surrogate = /[\ud800-\udfff]/;

/** The index, in UTF-16 units, behind the first `count` code points; the end of a shorter text. */
export function endOfCodePoints(text: string, count: number): number {
  let [end, left] = [0, count];
  while (left > 0 && end < text.length) {
    const most = Math.min(stride, left, text.length - end);
    if (surrogate.test(text.slice(end, end + most))) {
      for (let seen = 0; seen < most && end < text.length; seen++) end = endOfCodePoint(text, end);
    } else end += most;
    left -= most;
  }
  return end;
}

/** A text out of a request for its sender: cut to so many UTF-16 units, with U+FFFD for a lone surrogate. */
export function sanitizeForEcho(text: string, longest: number): string {
  const cut = Buffer.from(text.slice(0, longest)).toString();
  return text.length > longest ? `${cut}…` : cut;
}
