// Reads one property of a vCard: its parameters, and its value in whatever encoding it has.
import { recognizeCodePage } from "./code-pages.ts";
import type { Decode } from "./encoding.ts";
import { decoderOf } from "./encoding.ts";

/** A property whose lines are joined, but not decoded: each character of `text` is one byte. */
export interface RawProperty {
  /** In upper case, without the group. */
  readonly name: string;
  /** In lower case; empty if there is none. */
  readonly group: string;
  /** What follows the name, from the first `;` or `:`. A line feed is a line break that the file does not escape. */
  readonly text: string;
}

/** A property with its text. */
export interface Property {
  readonly name: string;
  readonly group: string;
  /** The values of parameters by name, in upper case. A parameter without a name is a type. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  /** Still with its escapes, because `;` and `,` can separate parts. */
  readonly value: string;
}

const start = /^([\w-]+\.)?([A-Za-z][\w/-]*)[;:]/;
const maxNameLength = 200;

const knownNames = new Set(
  (
    "ADR AGENT ANNIVERSARY BDAY BEGIN BIRTHPLACE CALADRURI CALURI CATEGORIES CLASS CLIENTPIDMAP CONTACT-URI CREATED " +
    "DEATHDATE DEATHPLACE EMAIL END EXPERTISE FBURL FN GENDER GEO GRAMGENDER HOBBY IMPP INTEREST JSPROP KEY KIND LABEL " +
    "LANG LANGUAGE LOGO MAILER MEMBER N NAME NICKNAME NOTE ORG ORG-DIRECTORY PHOTO PRODID PROFILE PRONOUNS RELATED REV " +
    "ROLE SOCIALPROFILE SORT-STRING SOUND SOURCE TEL TITLE TZ UID URL VERSION XML"
  ).split(" "),
);

/** Where a property begins in a line. */
export interface PropertyStart {
  readonly name: string;
  readonly group: string;
  readonly end: number;
}

/**
 * Returns the start of the property in a line; undefined if it is a further line of a text. A name that is not in
 * capitals has no blank before its value: `Tel: 1` and `http://…` are text.
 */
export function startOf(line: string): PropertyStart | undefined {
  const found = start.exec(line.slice(0, maxNameLength));
  if (found === null) return undefined;
  const [match, group = "", said = ""] = found;
  const name = said.toUpperCase();
  const isTight = !/^[\t ]/.test(line.slice(match.length, match.length + 1));
  const isCapitals = said === name;
  const isKnown = knownNames.has(name);
  const begins = isKnown ? isCapitals || isTight : name.startsWith("X-") || (isCapitals && isTight && said.length > 1);
  return begins ? { name, group: group.slice(0, -1).toLowerCase(), end: match.length - 1 } : undefined;
}

/** Returns whether a line begins a property of the standards, in capitals and without a blank before its value. */
export function isKnownStart(line: string): boolean {
  const [match = "", , name = ""] = start.exec(line.slice(0, maxNameLength)) ?? [];
  return knownNames.has(name) && !/^[\t ]/.test(line.slice(match.length));
}

/** Returns whether the text of a property, from its parameters, says that it is in quoted-printable. */
export function isQuotedPrintable(text: string): boolean {
  const end = text.indexOf(":");
  return end > 0 && /[;=]quoted-printable(?:;|$)/i.test(text.slice(0, end));
}

/** Reads a property. Returns undefined if its parameters or its encoding are invalid. */
export function readProperty({ name, group, text }: RawProperty, encoding: string): Property | undefined {
  const pieces = splitParameters(text);
  if (pieces === undefined) return undefined;
  const parameters = new Map<string, string[]>();
  for (const piece of pieces.parameters) {
    const at = piece.indexOf("=");
    const values = valuesOf(piece.slice(at + 1));
    const key = at > 0 ? piece.slice(0, at).trim().toUpperCase() : encodings.has(values[0] ?? "") ? "ENCODING" : "TYPE";
    const known = parameters.get(key);
    if (known === undefined) parameters.set(key, values);
    else for (const value of values) known.push(value);
  }
  const value = decodedValue(pieces.value, parameters, encoding);
  return value === undefined || value.includes("\0") ? undefined : { name, group, parameters, value };
}

const encodings = new Set(["QUOTED-PRINTABLE", "BASE64", "B", "Q", "8BIT", "7BIT"]);

/** Returns the parameters and the value; undefined if a quoted parameter has no end, or if there is no value. */
function splitParameters(text: string): { readonly parameters: string[]; readonly value: string } | undefined {
  const parameters: string[] = [];
  let from = 1;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"' && at > 0) isQuoted = !isQuoted;
    if (isQuoted || (sign !== ";" && sign !== ":")) continue;
    if (at > 0) parameters.push(text.slice(from, at));
    if (sign === ":") return { parameters: parameters.filter((one) => one.trim() !== ""), value: text.slice(at + 1) };
    from = at + 1;
  }
  return undefined;
}

/** Returns the values of a parameter in upper case: `"voice,home"`, and `VOICE\,CELL` as old servers write it. */
function valuesOf(text: string): string[] {
  return text
    .replace(/["\\]/g, "")
    .split(",")
    .map((value) => value.trim().toUpperCase());
}

/** Returns the text of a value. An unescaped line break in it stays a line feed. */
function decodedValue(
  value: string,
  parameters: ReadonlyMap<string, readonly string[]>,
  encoding: string,
): string | undefined {
  const [transfer = ""] = parameters.get("ENCODING") ?? [];
  const [charset] = parameters.get("CHARSET") ?? [];
  const isQuoted = transfer === "QUOTED-PRINTABLE" || transfer === "Q";
  const isBase64 = transfer === "BASE64" || transfer === "B";
  const bytes = isQuoted ? unquoted(value) : Buffer.from(value, isBase64 ? "base64" : "latin1");
  const own = charset === undefined ? undefined : decoderFor(charset);
  const text = (own ?? decoderFor(encoding))?.(bytes);
  // Old phones write the bytes of their own code page, and do not name it.
  if (text !== undefined || own !== undefined) return text;
  const page = recognizeCodePage(bytes);
  return page === undefined ? undefined : decoderOf(page)(bytes);
}

/** The decoders of the file and of the charsets that its cards name. */
const decoders = new Map<string, Decode>();
const maxDecoders = 50;

/** Returns the decoder of an encoding; undefined if its label is not known. */
export function decoderFor(encoding: string): Decode | undefined {
  const known = decoders.get(encoding);
  if (known !== undefined) return known;
  try {
    const created = decoderOf(encoding);
    if (decoders.size < maxDecoders) decoders.set(encoding, created);
    return created;
  } catch {
    return undefined;
  }
}

/** Returns the bytes of quoted-printable text without soft line breaks. An invalid escape is kept as it is. */
export function unquoted(value: string): Uint8Array {
  const text = value.replace(/=([\dA-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(text, "latin1");
}

/** Returns a text without its escapes. */
export function unescaped(text: string): string {
  return text.replace(/\\([nN,;:"\\])/g, (_, sign: string) => (sign === "n" || sign === "N" ? "\n" : sign));
}

/** Splits a value at a separator that is not escaped. The parts keep their escapes. */
export function partsOf(value: string, separator: ";" | ","): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < value.length; at++) {
    if (value[at] === "\\") at++;
    else if (value[at] === separator) {
      parts.push(value.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, value.slice(from)];
}
