// Expensive texts of any length, from the literals in the sources and from known attacks. `npm run check` proves the
// regular expressions of the sources linear, so they need none of their own.

/** A text of any length: `start`, then `part` repeated to fill the length, then `end`. */
export interface Pump {
  readonly start: string;
  readonly part: string;
  readonly end: string;
}

/** Generates a text of any length. */
export interface Pattern {
  readonly name: string;
  /** Returns a text of about `length` code units. */
  make(length: number): string;
}

/** Delimiters in headers, URLs, forms, JSON, tokens, dates and addresses. */
const delimiters = [..." \t\n,;=:&?/\\.-_~+*@#%!|'\"`()[]{}<>^$0123456789aAzZ\0\u00a0\u00e9"];

/** Known attacks that cannot be derived from the sources: Unicode, JSON escapes, encodings, dates. */
const known: readonly (readonly [name: string, pump: Pump])[] = [
  ["a letter with many combining marks", pump("a", "\u0301\u0323\u0330")],
  ["combining marks in the wrong order", pump("a", "\u0315\u0300\u05ae\u0062")],
  ["endless email labels", pump("a@", "a.", "@")],
  ["dots after an at sign", pump("@", ".")],
  ["at signs", pump("a", "@a.")],
  ["paired surrogates", pump("", "\u{1f468}\u200d\u{1f469}\u200d")],
  ["lone surrogates", pump("", "\ud800")],
  ["digits", pump("", "1234567890")],
  ["separate digits", pump("", "1 ")],
  ["one-letter words", pump("", "a b c d ")],
  ["right-to-left text", pump("", "\u202e\u05d0\u0627 ")],
  ["zero-width characters", pump("a", "\u200b\u200c\u2060\ufeff")],
  ["__proto__", pump("", "__proto__.constructor.")],
  ["deep percent-encoding", pump("", "%2525252525")],
  ["percent-encoded bytes that are not UTF-8", pump("", "%f0%9f")],
  ["percent signs without digits", pump("", "%zz")],
  ["Hangul and ligatures that decompose", pump("", "\ufdfa\uac01\ufb03")],
  ["Chinese without spaces", pump("", "\u4e2d\u6587")],
  ["Thai without spaces", pump("", "\u0e01\u0e33")],
  ["JSON escapes", pump("", '\\"\u0000\u001f')],
  ["regular expression characters", pump("", "(a+)+$[^.]*\\")],
  ["an endless date", pump("2026-01-31T00:00:00.", "0", "Z")],
  ["an endless UUID", pump("", "b5d7e64e-c92f-4439-")],
  ["items with weights", pump("", "gzip;q=0.5,", "b")],
  ["quoted parameters", pump("a;", 'b="\\"";', '"')],
  ["parts of a token", pump("Bearer ", "e30.", "!")],
  ["repeated cookies", pump("", "records_session=a; ")],
  ["IPv6 addresses", pump("", "::ffff:1,")],
  ["repeated parameters", pump("a=1", "&a=1")],
  ["nested parameters", pump("a", "[a]", "=1")],
];

/** All patterns. Those from the sources come first. */
export function patternsFor(literals: readonly string[]): Pattern[] {
  const pumps = [...new Set([...literals, ...delimiters])]
    .flatMap((part) => [pump("", part), pump("a", part, "b"), pump("", `a${part}`, "!")])
    .map((one): readonly [string, Pump] => [nameOf(one), one]);
  return [...new Map([...pumps, ...known])].map(([name, one]) => ({ name, make: (length) => filled(one, length) }));
}

export function pump(start: string, part: string, end = ""): Pump {
  return { start, part, end };
}

/** The text of a pump, filled to `length` code units. */
export function filled({ start, part, end }: Pump, length: number): string {
  const room = length - start.length - end.length;
  return start + part.repeat(Math.max(1, Math.floor(room / part.length))) + end;
}

function nameOf({ start, part, end }: Pump): string {
  return `${JSON.stringify(start)} ${JSON.stringify(part)}… ${JSON.stringify(end)}`;
}
