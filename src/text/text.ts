// Unicode text: code points, and text that is not well-formed.
import { isAscii, isUtf8, transcode } from "node:buffer";

/** The number of bytes from which it pays to check first which characters a text contains. */
const longText = 512;

/**
 * Decodes UTF-8, with U+FFFD for malformed bytes. Decodes long text outside ASCII by way of UTF-16, which is five to
 * ten times as fast.
 */
export function textOfUtf8(bytes: Buffer): string {
  if (bytes.length < longText || !isUtf8(bytes)) return bytes.toString();
  return isAscii(bytes) ? bytes.toString("latin1") : transcode(bytes, "utf8", "utf16le").toString("utf16le");
}

/** Matches a surrogate without its other half, which UTF-8 cannot encode. */
export const loneSurrogate = /\p{Surrogate}/u;

/** Returns the end of the code point that begins at `at`, in UTF-16 units. */
export function endOfCodePoint(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** The number of UTF-16 units that are searched for a surrogate at a time. */
const stride = 65_536;
const surrogate = /[\ud800-\udfff]/;

/** Returns the index, in UTF-16 units, after the first `count` code points, or the end of a shorter text. */
export function endOfCodePoints(text: string, count: number): number {
  let [end, left] = [0, count];
  while (left > 0 && end < text.length) {
    const size = Math.min(stride, left, text.length - end);
    if (surrogate.test(text.slice(end, end + size))) {
      for (let seen = 0; seen < size && end < text.length; seen++) end = endOfCodePoint(text, end);
    } else end += size;
    left -= size;
  }
  return end;
}

/**
 * Sanitizes a text of a request, so that a response can repeat it. Cuts it to `longest` UTF-16 units, replaces lone
 * surrogates by U+FFFD, and escapes invisible characters: a message can contain no second line that looks like ours.
 */
export function sanitizeForEcho(text: string, longest: number): string {
  const cut = escapeInvisible(Buffer.from(text.slice(0, longest)).toString());
  return text.length > longest ? `${cut}…` : cut;
}

/**
 * Matches a line break of any kind: those of Unicode (UAX #14, BK, CR, LF and NL), the separators that some programs
 * take for one, and the vertical controls.
 */
const lineBreak = /\r\n|[\n\v\f\r\x1c-\x1e\x84\x85\x8a-\x8d\u2028\u2029]/;

/** Returns the lines of a text. */
export function linesOfText(text: string): string[] {
  return text.split(lineBreak);
}

/** Returns a text as one line, with a blank in place of each line break. */
export function oneLine(text: string): string {
  return linesOfText(text).join(" ");
}

/** Matches a character that can be seen. Spaces, controls, format characters and the blank Braille pattern cannot. */
const visible = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]/u;
/** Matches the other characters, except for the space. */
const invisible = /(?! )[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]/gu;

/** Escapes the characters that cannot be seen, as in JSON: a byte order mark becomes `\ufeff`. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const unit = character.charCodeAt(at).toString(16).padStart(4, "0");
      return `\\u${unit}`;
    }).join(""),
  );
}

/** Returns the first of these texts that has a visible character; undefined if none has. */
export function firstVisible(...texts: readonly (string | null | undefined)[]): string | undefined {
  return texts.find((text) => typeof text === "string" && visible.test(text)) ?? undefined;
}
