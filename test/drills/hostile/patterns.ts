// Expensive texts of any length: from the literals and expressions of the sources, and from known attacks.
import type { Pump } from "./expressions.ts";
import { pumpsOf } from "./expressions.ts";
import type { Sought } from "./sources.ts";

/** A text of any length. */
export interface Pattern {
  readonly name: string;
  /** The text with `length` code units, or a few less. */
  make(length: number): string;
}

/** Characters that separate something in headers, URLs, forms, JSON, tokens, dates or addresses. */
const delimiters = [..." \t\n,;=:&?/\\.-_~+*@#%!|'\"`()[]{}<>^$0123456789aAzZ\0\u00a0\u00e9"];

/** Known attacks that no literal or expression of the sources shows: Unicode, JSON escapes, encodings, dates. */
const known: readonly (readonly [name: string, pump: Pump])[] = [
  ["a letter under combining marks", pump("a", "\u0301\u0323\u0330")],
  ["combining marks in the wrong order", pump("a", "\u0315\u0300\u05ae\u0062")],
  ["labels of an email without an end", pump("a@", "a.", "@")],
  ["dots after an at sign", pump("@", ".")],
  ["at signs", pump("a", "@a.")],
  ["paired surrogates", pump("", "\u{1f468}\u200d\u{1f469}\u200d")],
  ["lone surrogates", pump("", "\ud800")],
  ["digits", pump("", "1234567890")],
  ["digits apart", pump("", "1 ")],
  ["one-letter words", pump("", "a b c d ")],
  ["right to left", pump("", "\u202e\u05d0\u0627 ")],
  ["characters without a width", pump("a", "\u200b\u200c\u2060\ufeff")],
  ["__proto__", pump("", "__proto__.constructor.")],
  ["deep percent-encoding", pump("", "%2525252525")],
  ["percent-encoded bytes that are no UTF-8", pump("", "%f0%9f")],
  ["percent signs before what is no digit", pump("", "%zz")],
  ["Hangul and ligatures that decompose", pump("", "\ufdfa\uac01\ufb03")],
  ["Chinese without blanks", pump("", "\u4e2d\u6587")],
  ["Thai without blanks", pump("", "\u0e01\u0e33")],
  ["escapes of JSON", pump("", '\\"\u0000\u001f')],
  ["characters of expressions", pump("", "(a+)+$[^.]*\\")],
  ["a date without an end", pump("2026-01-31T00:00:00.", "0", "Z")],
  ["a UUID without an end", pump("", "b5d7e64e-c92f-4439-")],
  ["items with weights", pump("", "gzip;q=0.5,", "b")],
  ["parameters in quotes", pump("a;", 'b="\\"";', '"')],
  ["parts of a token", pump("Bearer ", "e30.", "!")],
  ["cookies of the same name", pump("", "records_session=a; ")],
  ["addresses of IPv6", pump("", "::ffff:1,")],
  ["parameters of the same name", pump("a=1", "&a=1")],
  ["nested parameters", pump("a", "[a]", "=1")],
];

/** All patterns. Those from the sources come first. */
export function patternsFor({ literals, expressions }: Pick<Sought, "literals" | "expressions">): Pattern[] {
  const parts = [...new Set([...literals, ...delimiters])];
  const pumps = [
    ...expressions.flatMap(pumpsOf),
    ...parts.flatMap((part) => [pump("", part), pump("a", part, "b"), pump("", `a${part}`, "!")]),
  ].map((one): readonly [string, Pump] => [nameOf(one), one]);
  return [...new Map([...pumps, ...known])].map(([name, one]) => ({ name, make: (length) => filled(one, length) }));
}

/** One pattern. */
export function pump(start: string, part: string, end = ""): Pump {
  return { start, part, end };
}

/** The text of a pump, filled up to `length` code units. */
export function filled({ start, part, end }: Pump, length: number): string {
  const room = length - start.length - end.length;
  return start + part.repeat(Math.max(1, Math.floor(room / part.length))) + end;
}

function nameOf({ start, part, end }: Pump): string {
  return `${JSON.stringify(start)} ${JSON.stringify(part)}… ${JSON.stringify(end)}`;
}
