// Reads and writes contacts as vCard 3.0 and 4.0 (RFC 2426, RFC 6350), the format of address books.
import { ScalarType } from "@bufbuild/protobuf";
import ICAL from "ical.js";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";
import type { ContactFields, Entry } from "./entry.ts";
import { contactRecord } from "./entry.ts";
import type { Line } from "./lines.ts";
import { requireLineFeeds } from "./lines.ts";

// Lines have at most 75 bytes, including the space at the start of a continuation line.
ICAL.foldLength = 74;

/** The library's conversion of a type of values. `also` is an additional character to escape. */
interface ValueType {
  readonly fromICAL: (value: string, also?: string) => string;
  readonly toICAL: (value: string, also?: string) => string;
}

// The library's phone type leaves backslashes and line breaks unescaped, which would start a new property.
const types = ICAL.design.vcard3.value as { text: ValueType; "phone-number": ValueType };
const { text: textType } = types;
types["phone-number"] = {
  fromICAL: (value) => textType.fromICAL(value, ";"),
  toICAL: (value) => textType.toICAL(value, ";"),
};

/** The maximum length of a card, in characters. Cards with pictures can be large. */
const maxCardLength = 16 * 1024 * 1024;

/** The maximum length of a property's name and parameters, in characters. A longer line is left out. */
const maxParametersLength = 10_000;

/** A property in jCard form (RFC 7095): name, parameters, type, values. */
type Property = readonly [
  name: string,
  parameters: Readonly<Record<string, string | readonly string[]>>,
  type: string,
  ...values: unknown[],
];

/** The text fields with a standard vCard property. Every other field uses `x-records-` and its name. */
const standard = new Set(["external_id", "full_name", "email", "phone", "notes"]);
const own = ContactItemSchema.fields
  .filter(({ name, scalar }) => scalar === ScalarType.STRING && !standard.has(name))
  .map(({ name, localName }) => ({ localName: localName as "id", property: `x-records-${name.replaceAll("_", "-")}` }));
/** The parameter of an FN that is not the contact's full name. Every card must have an FN. */
const standIn = "x-records-stand-in";

/**
 * Reads one contact from each card: FN (else N, else ORG), EMAIL, TEL, all NOTEs, and UID as the external id. Of
 * several EMAILs or TELs, reads the preferred or else the first. An invalid card becomes an entry with a problem. Fails
 * if lines end with CR alone.
 */
export async function* readVcards(chunks: AsyncIterable<readonly Line[]>): AsyncIterable<Entry> {
  let card: Line[] = [];
  let size = 0;
  for await (const lines of chunks) {
    for (const line of lines) {
      const begins = /^BEGIN:VCARD\s*$/i.test(line.text);
      if (card.length === 0 && !begins) {
        if (line.number === 1) requireLineFeeds(line.text);
        if (line.text.trim() !== "" || line.problem !== undefined)
          yield wrong([line], line.problem ?? "is outside a card: a card begins with BEGIN:VCARD");
        continue;
      }
      if (begins && card.length > 0) {
        yield wrong(card, "the card has no END:VCARD");
        [card, size] = [[], 0];
      }
      size += line.text.length;
      // Only the first part of a card that is too long is kept, while reading continues to its end.
      if (size <= maxCardLength || card.length === 0) card.push(line);
      if (!/^END:VCARD\s*$/i.test(line.text)) continue;
      yield size > maxCardLength ? wrong(card.slice(0, 1), "the card is longer than 16 MiB") : entryOf(card);
      [card, size] = [[], 0];
    }
  }
  if (card.length > 0) yield wrong(card, "the card has no END:VCARD");
}

/**
 * Returns a contact as a vCard 3.0 card, which every address book reads, with its final line break. Line breaks within
 * texts become LF.
 */
export function vcard(contact: ContactItem): string {
  const name = contact.fullName ?? contact.inferredName ?? contact.email ?? "";
  const property = (key: string, type: string, value: unknown): unknown[] =>
    value === undefined ? [] : [[key, {}, type, typeof value === "string" ? value.replace(/\r\n?/g, "\n") : value]];
  const card = new ICAL.Component([
    "vcard",
    [
      ...property("version", "text", "3.0"),
      ["fn", contact.fullName === undefined ? { [standIn]: "1" } : {}, "text", name.replace(/\r\n?/g, "\n")],
      // The family name is unknown. As a given name, the whole name is displayed unchanged.
      ...property("n", "text", ["", name.replace(/\r\n?/g, "\n"), "", "", ""]),
      ...property("email", "text", contact.email),
      ...property("tel", "phone-number", contact.phone),
      ...property("note", "text", contact.notes),
      ...property("uid", "text", contact.externalId ?? `urn:uuid:${contact.id ?? ""}`),
      ...own.flatMap(({ localName, property: key }) => property(key, "text", contact[localName])),
    ],
    [],
  ]);
  return `${card.toString()}\r\n`;
}

function wrong(lines: readonly Line[], problem: string): Entry {
  return { line: lines[0]?.number ?? 0, input: textOf(lines), content: { problem } };
}

function textOf(lines: readonly Line[]): string {
  return lines.map(({ text }) => text.replace(/\r$/, "")).join("\n");
}

function entryOf(lines: readonly Line[]): Entry {
  const unreadable = lines.find(({ problem }) => problem !== undefined);
  if (unreadable !== undefined) return wrong(lines, `line ${unreadable.number}: ${unreadable.problem ?? ""}`);
  try {
    const [, properties] = ICAL.parse(prepared(textOf(lines))) as unknown as [string, readonly Property[]];
    const fields = fieldsOf(properties);
    if (Object.keys(fields).length === 0) return wrong(lines, "the card has no name, email, phone, note or UID");
    return { line: lines[0]?.number ?? 0, input: textOf(lines), content: { record: contactRecord(fields) } };
  } catch (error) {
    return wrong(lines, `is not a vCard: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Unfolds lines, removes the groups of Apple's cards, and unescapes `\;`, which the parser leaves escaped outside of
 * lists.
 */
function prepared(card: string): string {
  return card
    .replace(/\n[ \t]/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && hasReadableParameters(line))
    .map((line) => line.replace(/^[\w-]+\.(?=[\w-]+[;:])/, ""))
    .map((line) =>
      /^(FN|NOTE|UID|EMAIL|TEL|X-RECORDS-[A-Z-]+)[;:]/i.test(line)
        ? line.replace(/\\(.)/g, (escaped, sign: string) => (sign === ";" ? ";" : escaped))
        : line,
    )
    .join("\r\n");
}

/** The library takes quadratic time for the parameters of a line, and rejects the whole card without a value. */
function hasReadableParameters(line: string): boolean {
  return line.length <= maxParametersLength || line.slice(0, maxParametersLength).includes(":");
}

function fieldsOf(properties: readonly Property[]): ContactFields {
  const all = (name: string): Property[] =>
    properties.filter(([key, , , value]) => key === name && texts(value).some((text) => text.trim() !== ""));
  if (properties.some(([, { encoding }]) => String(encoding).toUpperCase() === "QUOTED-PRINTABLE")) {
    throw new Error("it is vCard 2.1 with quoted-printable texts: export it as vCard 3.0 or 4.0");
  }
  const text = (name: string): string | undefined => all(name).map(([, , , value]) => texts(value).join(","))[0];
  const preferred = (name: string): string | undefined =>
    texts(all(name).sort((a, b) => preference(a) - preference(b))[0]?.[3])
      .join(",")
      .trim() || undefined;
  const notes = all("note")
    .map(([, , , value]) => texts(value).join(","))
    .join("\n\n");
  const ownTexts = Object.fromEntries(own.map(({ localName, property }) => [localName, text(property)]));
  const { id } = ownTexts;
  const uid = text("uid");
  const values = {
    ...ownTexts,
    // An export writes the id as UID if the contact has no external id.
    externalId: id !== undefined && uid === `urn:uuid:${id}` ? undefined : uid,
    fullName: properties.some(([, parameters]) => standIn in parameters)
      ? undefined
      : (text("fn") ?? nameOf(all("n")[0]?.[3]) ?? texts(all("org")[0]?.[3])[0]),
    email: preferred("email")?.replace(/^mailto:/i, ""),
    phone: phoneOf(preferred("tel")),
    notes: notes === "" ? undefined : notes,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as ContactFields;
}

/** Returns the number of a `tel:` URI (RFC 3966) without its parameters. Returns any other text unchanged. */
function phoneOf(value: string | undefined): string | undefined {
  return value !== undefined && /^tel:/i.test(value) ? value.slice("tel:".length).split(";", 1)[0] : value;
}

/**
 * Returns the rank of a property, the preferred one lowest: PREF of vCard 4.0, 1 for TYPE=PREF of 3.0, otherwise 101.
 */
function preference([, { pref, type = [] }]: Property): number {
  if (typeof pref === "string" && Number(pref) > 0) return Number(pref);
  return [type].flat().some((one) => one.toLowerCase() === "pref") ? 1 : 101;
}

/** Returns the parts of N as one name: prefix, given names, additional names, family name, suffix. */
function nameOf(value: unknown): string | undefined {
  const [family = "", given = "", further = "", prefix = "", suffix = ""] = (
    Array.isArray(value) ? value : [value]
  ).map((part: unknown) => texts(part).join(" "));
  return [prefix, given, further, family, suffix].filter((part) => part !== "").join(" ") || undefined;
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === "string");
}
