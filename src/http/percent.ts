// Percent-encoding in paths and queries (RFC 3986 §2.1), strict about both the escapes and the UTF-8 that they encode.

const outsideAscii = /[^\x21-\x7e]/;

/**
 * Decodes once. Returns undefined for a bad escape, for bytes that are not UTF-8, and for unescaped characters that
 * require an escape.
 */
export function decodePercent(text: string): string | undefined {
  if (outsideAscii.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const escapedAscii = /%([2-7][0-9a-f])/gi;
const unreserved = /[A-Za-z0-9._~-]/;

/** Decodes escapes of unreserved characters, because both forms are equivalent (RFC 3986 §6.2.2.2). */
export function decodeUnreserved(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(escapedAscii, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return unreserved.test(character) ? character : escaped;
  });
}
