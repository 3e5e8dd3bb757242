// Percent-encoding in paths and queries (RFC 3986 §2.1), strict in both the encoding and the UTF-8 within.

const outsideAscii = /[^\x21-\x7e]/;

/** Decodes once; undefined for a bad escape, for bytes that are not UTF-8, and for what had to be escaped and was not. */
export function decodePercent(text: string): string | undefined {
  if (outsideAscii.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
