// Encoded words (RFC 2047), which mail programs leave in the names of addresses that they collect.
import { decoderFor, unquoted } from "./vcard-property.ts";

const WORD = /=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bq])\?([^?]*)\?=/gi;
/** The white space between two words is not part of the text. */
const BETWEEN = /(?<=\?=)\s+(?==\?[^?\s]+\?[bq]\?)/gi;

/** Returns a text with its encoded words decoded. Those that cannot be decoded stay as they are. */
export function withoutEncodedWords(text: string): string {
  if (!text.includes("=?")) return text;
  let decoded = "";
  let end = 0;
  // A character can begin in one word and end in the next one.
  let row = { charset: "", bytes: Buffer.alloc(0), written: "" };
  const flush = (): void => {
    decoded += row.written && (decoderFor(row.charset)?.(row.bytes) ?? row.written);
    row = { charset: "", bytes: Buffer.alloc(0), written: "" };
  };
  const joined = text.replace(BETWEEN, "");
  for (const { 0: written, 1: charset = "", 2: transfer = "", 3: content = "", index } of joined.matchAll(WORD)) {
    if (index > end || charset.toLowerCase() !== row.charset) flush();
    decoded += joined.slice(end, index);
    const bytes =
      transfer.toLowerCase() === "b" ? Buffer.from(content, "base64") : unquoted(content.replaceAll("_", " "));
    row = {
      charset: charset.toLowerCase(),
      bytes: Buffer.concat([row.bytes, bytes]),
      written: row.written + written,
    };
    end = index + written.length;
  }
  flush();
  return decoded + joined.slice(end);
}
