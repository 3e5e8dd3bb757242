// Strings that are hard on whoever reads them: each of at least so many bytes, and cut to what a field may have.

/** As large as the greatest property of a body can be. */
const bytes = 131_072;

/** Texts by what they are; every one of them is a string in JSON, but for the lone surrogates, which only its escapes can write. */
export const strings: ReadonlyMap<string, string> = new Map([
  ["a letter under combining marks", filled("a", "\u0301\u0323\u0330")],
  ["combining marks that stand in the wrong order", filled("a", "\u0315\u0300\u05ae\u0062")],
  ["an email's parts without an end", `a@${filled("", "a.")}@`],
  ["dots after an at", `@${filled("", ".")}`],
  ["at signs", filled("a", "@a.")],
  ["paired surrogates", filled("", "\u{1f468}\u200d\u{1f469}\u200d")],
  ["lone surrogates", filled("", "\ud800")],
  ["digits", filled("", "1234567890")],
  ["digits apart", filled("", "1 ")],
  ["one-letter words", filled("", "a b c d ")],
  ["right to left", filled("", "\u202e\u05d0\u0627 ")],
  ["signs without a width", filled("a", "\u200b\u200c\u2060\ufeff")],
  ["__proto__", filled("", "__proto__.constructor.")],
  ["deep percent-encoding", filled("", "%2525252525")],
  ["Hangul and ligatures that decompose", filled("", "\ufdfa\uac01\ufb03")],
  ["Chinese without blanks", filled("", "\u4e2d\u6587")],
  ["Thai without blanks", filled("", "\u0e01\u0e33")],
  ["escapes of JSON", filled("", "\\\"\u0000\u001f")],
  ["signs of patterns", filled("", "(a+)+$[^.]*\\")],
  ["a date without an end", `2026-01-31T00:00:00.${filled("", "0")}Z`],
  ["a UUID without an end", filled("", "b5d7e64e-c92f-4439-")],
  ["blanks", `a${filled("", " ")}a`],
]);

/** The lengths at which a string is tried beside its own, in code points: what the longest and the shorter fields take. */
export const lengths = { text: 40_000, note: 10_000, name: 200, query: 100, phone: 50 } as const;

/** So many code points of a text, the last of which stays: what makes a pattern go back stands at the end. */
export function cut(text: string, points: number): string {
  return [...[...text.slice(0, points * 2)].slice(0, points - 1), ...[...text.slice(-2)].slice(-1)].join("");
}

function filled(start: string, part: string): string {
  return start + part.repeat(Math.ceil(bytes / Buffer.byteLength(part)));
}
