// Makes a contact of the properties of a vCard.
import { ScalarType } from "@bufbuild/protobuf";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";
import { firstVisible } from "../../text/text.ts";
import { withoutEncodedWords } from "./encoded-words.ts";
import { uuidForm } from "../../text/uuid.ts";
import { chooseEmail, choosePhone, maxExternalIdLength, nameOf, notPreferred } from "./choices.ts";
import type { Choice } from "./choices.ts";
import type { ContactFields } from "./entry.ts";
import type { Property, RawProperty } from "./vcard-property.ts";
import { partsOf, readProperty, unescaped } from "./vcard-property.ts";

/** The text fields with a standard vCard property. Every other field uses `X-RECORDS-` and its name. */
const standard = new Set(["external_id", "full_name", "email", "phone", "notes"]);
/** The beginning of the names of our own properties. */
export const ownPropertyBegin = "X-RECORDS-";
/** The fields with a property of our own. */
export const ownProperties = ContactItemSchema.fields
  .filter(({ name, scalar }) => scalar === ScalarType.STRING && !standard.has(name))
  .map(({ name, localName }) => ({
    localName: localName as "id",
    property: `${ownPropertyBegin}${name.replaceAll("_", "-").toUpperCase()}`,
  }));
/** The parameter of an FN that is not the contact's full name. Every card must have an FN. */
export const standIn = "X-RECORDS-STAND-IN";

const imported = new Set([
  ...["VERSION", "KIND", "X-ADDRESSBOOKSERVER-KIND", "FN", "N", "NICKNAME", "ORG"],
  ...["EMAIL", "TEL", "NOTE", "UID", "X-ABLABEL", ...ownProperties.map(({ property }) => property)],
]);

/** Returns whether a property has a part in a contact. Other properties are not parsed. */
export function isImported(name: string): boolean {
  return imported.has(name);
}

const maxNameLength = 200;

/** What a card contains. `leftOut` is how many of its properties cannot be read or stored. */
export type Content = { readonly leftOut: number } & (
  | { readonly fields: ContactFields }
  | { readonly problem: string }
  | { readonly skipped: string }
);

/** Reads a contact: FN (else N, NICKNAME or ORG), the preferred valid EMAIL and TEL, all NOTEs, and UID. */
export function contactOf(raw: readonly RawProperty[], encoding: string): Content {
  const byName = new Map<string, Property[]>();
  let leftOut = 0;
  for (const one of raw) {
    const property = readProperty(one, encoding);
    const others = byName.get(one.name);
    if (property === undefined) leftOut++;
    else if (others === undefined) byName.set(one.name, [property]);
    else others.push(property);
  }
  const all = (name: string): readonly Property[] => withoutAlternatives(byName.get(name) ?? []);
  const text = (name: string): string | undefined => firstVisible(...all(name).map(lineOf));
  const versions = all("VERSION").map(({ value }) => value.trim());
  // Some servers repeat the line of the version each time that they write a card.
  if (versions.length > 1 && new Set(all("FN").map(lineOf)).size > 1)
    return { leftOut, problem: "has two versions and names: it may be two cards without an end between" };
  const kind = [...all("KIND"), ...all("X-ADDRESSBOOKSERVER-KIND")].map(({ value }) => value.trim().toLowerCase());
  if (kind.includes("group")) return { leftOut, skipped: "group" };

  const { email, problem } = chooseEmail(all("EMAIL").map((one) => choiceOf(one, unescaped(one.value))));
  if (problem !== undefined) return { leftOut, problem };
  const labels = new Map(all("X-ABLABEL").map(({ group, value }) => [group, value]));
  const isExport = ownProperties.some(({ property }) => byName.has(property));
  const chosen = choosePhone(
    all("TEL").map((one) => choiceOf(one, lineOf(one), labels.get(one.group))),
    isExport,
  );
  const notes = all("NOTE")
    .map(({ value }) => unescaped(value).replace(/\r\n?/g, "\n").trim())
    .filter((note) => note !== "")
    .join("\n\n");
  const values = new Map<string, string | undefined>();
  for (const { localName, property } of ownProperties) values.set(localName, text(property));
  const id = values.get("id");
  if (id !== undefined && !uuidForm.test(id)) {
    values.delete("id");
    leftOut++;
  }
  const uid = text("UID");
  const isOwnUid = values.has("id") && uid === `urn:uuid:${id}`;
  const isLongUid = (uid?.length ?? 0) > maxExternalIdLength;
  const isStandIn = all("FN").some(({ parameters }) => parameters.has(standIn));
  const [formatted] = all("FN").toSorted((one, other) => preferenceOf(one) - preferenceOf(other));
  const names = [
    formatted && lineOf(formatted),
    text("FN"),
    joinedName(all("N"), versions[0]),
    first(all("NICKNAME"), ","),
    first(all("ORG"), ";"),
  ].map((name) => name && withoutEncodedWords(name));
  // An export writes the id as UID if the contact has no external id.
  values.set("externalId", isOwnUid || isLongUid ? undefined : uid);
  values.set("fullName", isStandIn ? undefined : (fitting(names) ?? firstVisible(...names)));
  values.set("email", email);
  values.set("phone", chosen.phone);
  values.set("notes", notes === "" ? undefined : notes);
  const set = [...values].filter(([, value]) => value !== undefined);
  leftOut += chosen.leftOut + (isLongUid ? 1 : 0);
  if (set.every(([name]) => name === "externalId" || name === "id"))
    return { leftOut, problem: "the card has no name, email, phone or note" };
  return { leftOut, fields: Object.fromEntries(set) as ContactFields };
}

/** Of the properties that are one text in several languages (ALTID), keeps the first. */
function withoutAlternatives(properties: readonly Property[]): readonly Property[] {
  if (properties.length < 2) return properties;
  const known = new Set<string>();
  return properties.filter(({ parameters }) => {
    const [alternative] = parameters.get("ALTID") ?? [];
    if (alternative === undefined) return true;
    const isNew = !known.has(alternative);
    known.add(alternative);
    return isNew;
  });
}

/** Returns a value of one line. A line break is part of it only if it is escaped. */
function lineOf({ value }: Property): string {
  return unescaped(withoutBreaks(value)).trim();
}

function withoutBreaks(value: string): string {
  return value
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

function choiceOf(property: Property, value: string, label = ""): Choice {
  const kind = [...typesOf(property), label].join(" ");
  return { value, preference: preferenceOf(property), kind };
}

function typesOf({ parameters }: Property): readonly string[] {
  return parameters.get("TYPE") ?? [];
}

function preferenceOf(property: Property): number {
  const pref = Number.parseInt(property.parameters.get("PREF")?.[0] ?? "", 10);
  return pref > 0 ? Math.min(pref, notPreferred) : typesOf(property).includes("PREF") ? 1 : notPreferred;
}

/** Returns the name in the parts of N. Before 3.0, a comma separates nothing. */
function joinedName(properties: readonly Property[], version: string | undefined): string | undefined {
  for (const { value } of properties) {
    const [family, given, additional, prefix, suffix] = partsOf(withoutBreaks(value), ";").map((part) =>
      (version === "2.1" ? [part] : partsOf(part, ","))
        .map((one) => unescaped(one).trim())
        .filter((one) => one !== "")
        .join(" "),
    );
    const name = nameOf({ family, given, additional, prefix, suffix });
    if (name !== undefined) return name;
  }
  return undefined;
}

function first(properties: readonly Property[], separator: ";" | ","): string | undefined {
  const parts = properties.flatMap(({ value }) => partsOf(withoutBreaks(value), separator));
  return firstVisible(...parts.map((part) => unescaped(part).trim()));
}

/** Returns the first name that can be stored. */
function fitting(names: readonly (string | undefined)[]): string | undefined {
  return firstVisible(...names.filter((name) => [...(name ?? "")].length <= maxNameLength));
}
