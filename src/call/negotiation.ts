// Parses header fields with lists, weights or parameters in linear time (RFC 9110, RFC 6265).

/** The maximum number of elements that are read from a list. Further elements are ignored. */
const maxElements = 100;

/** One element of a list with weights, such as `gzip;q=0.5`. */
export interface Preference {
  /** In lower case. */
  readonly name: string;
  /** From 0, which excludes it, to 1. */
  readonly weight: number;
}

/** A media type with its parameters. */
export interface MediaType {
  /** In lower case. */
  readonly type: string;
  /** The values without quotes, by lower-case name. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Returns the elements of `Accept`, `Accept-Encoding` and similar headers (RFC 9110 §12.4.2). An element with a
 * malformed weight has the weight 0.
 */
export function readPreferences(header: string | undefined): Preference[] {
  return elementsOf(header).map((element) => {
    const [name = "", ...parameters] = partsOf(element, ";", quoted);
    const weight = parameters.find((parameter) => parameter.slice(0, 2).toLowerCase() === "q=");
    return { name: name.toLowerCase(), weight: weight === undefined ? 1 : weightOf(weight.slice(2)) };
  });
}

/**
 * Chooses the content coding (RFC 9110 §12.5.3): the accepted one with the highest weight. Among equals, it is the
 * first in `offered`. Returns `identity` if none is accepted, even if `identity` is excluded, because an uncoded body
 * is better than none.
 */
export function chooseCoding<Coding extends string>(
  acceptEncoding: string | undefined,
  offered: readonly Coding[],
): Coding | "identity" {
  const weights = new Map<string, number>();
  for (const { name, weight } of readPreferences(acceptEncoding)) {
    const coding = name === "x-gzip" ? "gzip" : name;
    weights.set(coding, Math.max(weight, weights.get(coding) ?? 0));
  }
  const weightFor = (coding: string): number => weights.get(coding) ?? weights.get("*") ?? 0;
  const [best = "identity"] = offered
    .filter((coding) => weightFor(coding) > 0)
    .sort((one, other) => weightFor(other) - weightFor(one));
  return weightFor(best) >= weightFor("identity") ? best : "identity";
}

/** Whether an `Accept` allows this media type, by name or by a range. A missing header allows all types. */
export function acceptsType(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return true;
  const weights = new Map(readPreferences(accept).map(({ name, weight }) => [name, weight]));
  const range = `${type.slice(0, type.indexOf("/"))}/*`;
  return (weights.get(type) ?? weights.get(range) ?? weights.get("*/*") ?? 0) > 0;
}

/** Whether an `Accept` names this media type itself. A range such as `*` + `/*` does not. */
export function namesType(accept: string | undefined, type: string): boolean {
  return readPreferences(accept).some(({ name, weight }) => name === type && weight > 0);
}

/** Whether `If-None-Match` contains an entity tag, by the weak comparison (RFC 9110 §13.1.2). */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const opaque = (one: string): string => (one.startsWith("W/") ? one.slice(2) : one);
  // An entity tag has no escapes, so a backslash in it is an ordinary character.
  const tags = elementsOf(ifNoneMatch, entityTag);
  return tags.length === 1 && tags[0] === "*" ? true : tags.some((one) => opaque(one) === opaque(tag));
}

/** Parses `Content-Type` (RFC 9110 §8.3). Returns undefined if it is missing, malformed, or repeats a parameter. */
export function readMediaType(contentType: string | undefined): MediaType | undefined {
  const [type = "", ...rest] = partsOf(contentType ?? "", ";", quoted);
  const [main = "", sub = "", ...more] = type.split("/");
  if (!token.test(main) || !token.test(sub) || more.length > 0) return undefined;
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    // RFC 9110 §5.6.6 allows an empty parameter.
    if (parameter === "") continue;
    const equals = parameter.indexOf("=");
    const name = parameter.slice(0, Math.max(equals, 0)).toLowerCase();
    const value = unquoted(parameter.slice(equals + 1));
    if (!token.test(name) || value === undefined || parameters.has(name)) return undefined;
    parameters.set(name, value);
  }
  return { type: type.toLowerCase(), parameters };
}

/**
 * Returns the first parameter of a JSON media type that is not supported, as it was sent. JSON has no parameters (RFC
 * 8259 §11), but a `charset` of UTF-8 is accepted in both common spellings.
 */
export function foreignParameter({ parameters }: MediaType): string | undefined {
  const foreign = [...parameters].find(([name, value]) => name !== "charset" || !/^utf-?8$/i.test(value));
  return foreign?.join("=");
}

/** Returns the value of the first cookie with this name (RFC 6265 §5.4). */
export function readCookie(cookie: string | undefined, name: string): string | undefined {
  const wanted = `${name}=`;
  return cookie
    ?.split(";")
    .map(trimmed)
    .find((pair) => pair.startsWith(wanted))
    ?.slice(wanted.length);
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Allows more digits than the grammar, because some clients send a fraction such as one third in full. */
const weightForm = /^(?:0(?:\.[0-9]*)?|1(?:\.0*)?)$/;
const quotedForm = /^"(?:[^"\\]|\\.)*"$/s;

/** The rules for quoted text. */
interface Quoting {
  readonly escapes: boolean;
}

const quoted: Quoting = { escapes: true };
const entityTag: Quoting = { escapes: false };

function weightOf(text: string): number {
  return weightForm.test(text) ? Number(text) : 0;
}

function unquoted(value: string): string | undefined {
  if (quotedForm.test(value)) return value.slice(1, -1).replace(/\\(.)/gs, "$1");
  return token.test(value) ? value : undefined;
}

/** Returns the elements of a list. Empty ones do not count (RFC 9110 §5.6.1). */
function elementsOf(header: string | undefined, quoting = quoted): string[] {
  return header === undefined ? [] : partsOf(header, ",", quoting, maxElements).filter((element) => element !== "");
}

/** Splits a text at separators outside quotes, and trims the parts. */
function partsOf(text: string, separator: string, { escapes }: Quoting, limit = Infinity): string[] {
  const parts: string[] = [];
  let start = 0;
  let inside = false;
  for (let at = 0; at < text.length && parts.length < limit; at++) {
    const sign = text[at];
    if (sign === "\\" && inside && escapes) {
      at++;
    } else if (sign === '"') {
      inside = !inside;
    } else if (sign === separator && !inside) {
      parts.push(trimmed(text.slice(start, at)));
      start = at + 1;
    }
  }
  if (parts.length < limit) parts.push(trimmed(text.slice(start)));
  return parts;
}

/** Trims blanks and tabs, the only white space that the grammar allows around an element. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.slice(start, end);
}

function isBlank(sign: string | undefined): boolean {
  return sign === " " || sign === "\t";
}
