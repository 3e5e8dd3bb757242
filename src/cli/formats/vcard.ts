// vCard 3.0 and 4.0 (RFC 2426, RFC 6350): contacts as address books exchange them.
import { ScalarType } from "@bufbuild/protobuf";
import ICAL from "ical.js";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";
import type { ContactFields, Entry } from "./entry.ts";
import { contactRecord } from "./entry.ts";
import type { Line } from "./lines.ts";
import { requireLineFeeds } from "./lines.ts";

// The space that continues a line counts too: no line has more than 75 bytes.
ICAL.foldLength = 74;

/** How the library reads and writes a type of values; `also` is one more character that is escaped. */
interface ValueType {
  readonly fromICAL: (value: string, also?: string) => string;
  readonly toICAL: (value: string, also?: string) => string;
}

// The library's own type leaves a backslash and a line break in a phone unescaped: the rest would be a new property.
const types = ICAL.design.vcard3.value as { text: ValueType; "phone-number": ValueType };
const { text: textType } = types;
types["phone-number"] = {
  fromICAL: (value) => textType.fromICAL(value, ";"),
  toICAL: (value) => textType.toICAL(value, ";"),
};

/** A card with pictures may be large; what is larger is none. */
const longestCard = 16 * 1024 * 1024;

/** A property of a card as jCard has it (RFC 7095): name, parameters, type, values. */
type Property = readonly [
  name: string,
  parameters: Readonly<Record<string, string | readonly string[]>>,
  type: string,
  ...values: unknown[],
];

/** Texts with a property of vCard. Every other one has a property of our own, `x-records-` and its name. */
const standard = new Set(["external_id", "full_name", "email", "phone", "notes"]);
const own = ContactItemSchema.fields
  .filter(({ name, scalar }) => scalar === ScalarType.STRING && !standard.has(name))
  .map(({ name, localName }) => ({ localName: localName as "id", property: `x-records-${name.replaceAll("_", "-")}` }));
/** Marks an FN, which every card must have, that is no name which a user gave. */
const standIn = "x-records-stand-in";

/**
 * Reads a contact a card: FN (else N, else ORG), EMAIL and TEL (the preferred, else the first), NOTE, and UID as the
 * external id. Fails where lines end with CR alone.
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
      // Of a card that is too long only the beginning is kept, up to its end.
      if (size <= longestCard || card.length === 0) card.push(line);
      if (!/^END:VCARD\s*$/i.test(line.text)) continue;
      yield size > longestCard ? wrong(card.slice(0, 1), "the card is longer than 16 MiB") : entryOf(card);
      [card, size] = [[], 0];
    }
  }
  if (card.length > 0) yield wrong(card, "the card has no END:VCARD");
}

/**
 * A contact as a card of vCard 3.0, which every address book reads, with its end. Line breaks within texts become LF.
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
      // Which part of a name is the family's is not known: the whole is where it is shown as it is.
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
 * Unfolded, without the groups of Apple's cards, and with the escapes that the parser leaves alone outside of lists.
 */
function prepared(card: string): string {
  return card
    .replace(/\n[ \t]/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.replace(/^[\w-]+\.(?=[\w-]+[;:])/, ""))
    .map((line) =>
      /^(FN|NOTE|UID|EMAIL|TEL|X-RECORDS-[A-Z-]+)[;:]/i.test(line)
        ? line.replace(/\\(.)/g, (escaped, sign: string) => (sign === ";" ? ";" : escaped))
        : line,
    )
    .join("\r\n");
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
    // What we made of the id because there was none from outside.
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

/** The number of a `tel:` URI (RFC 3966) without its parameters; any other text is returned unchanged. */
function phoneOf(value: string | undefined): string | undefined {
  return value !== undefined && /^tel:/i.test(value) ? value.slice("tel:".length).split(";", 1)[0] : value;
}

/** The lower, the more preferred: PREF of vCard 4.0, TYPE=PREF of 3.0, and what says nothing last. */
function preference([, { pref, type = [] }]: Property): number {
  if (typeof pref === "string" && Number(pref) > 0) return Number(pref);
  return [type].flat().some((one) => one.toLowerCase() === "pref") ? 1 : 101;
}

/** Prefix, given names, further names, family name, suffix. */
function nameOf(value: unknown): string | undefined {
  const [family = "", given = "", further = "", prefix = "", suffix = ""] = (
    Array.isArray(value) ? value : [value]
  ).map((part: unknown) => texts(part).join(" "));
  return [prefix, given, further, family, suffix].filter((part) => part !== "").join(" ") || undefined;
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === "string");
}
