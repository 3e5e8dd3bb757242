// Maps the columns of a CSV file to contact fields, by our own names and those of common exports.
import type { DescField } from "@bufbuild/protobuf";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";
import { rejectUsage } from "../exit.ts";
import { count } from "../output.ts";
import headers from "./csv-headers.json" with { type: "json" };

/** The fields of a contact, in the order of an export. Each can have a column. */
export const contactFields: readonly DescField[] = ContactItemSchema.fields;
const fieldNames = contactFields.map(({ name }) => name);

/** The parts of a name, in the order in which they are joined if there is no full name. */
const nameParts = ["name_prefix", "given_name", "additional_name", "family_name", "name_suffix"] as const;

/** The name of a field, a part of a name, or the organization. */
type Target = string;
const targets: readonly Target[] = [...fieldNames, ...nameParts, "organization"];

/**
 * Header names for each target, in lower case without spaces and punctuation. The name of the field itself is not
 * listed and takes precedence. They come from the exports of Google, Outlook, Apple and HubSpot, in English, German,
 * French and Spanish. If a file has several columns for a field, the name listed first takes precedence.
 */
const others: Readonly<Record<Target, readonly string[] | undefined>> = headers;

/** Headers of the whole name that mean `part` if the file has a column for `other`. */
const wholeOrPart: readonly { readonly names: readonly string[]; readonly part: Target; readonly other: Target }[] = [
  { names: ["name", "nom"], part: "family_name", other: "given_name" },
  { names: ["nombre"], part: "given_name", other: "family_name" },
];

/** More than a spreadsheet of people has. The work for each row grows with the number of columns. */
const maxColumns = 5_000;
const maxKeyLength = 1_000;
/** The maximum number of columns in a message, and the length of their names, in UTF-16 units. */
const [maxListed, maxNameLength] = [100, 60];

/** The mapping of a file's columns to fields. */
export interface Columns {
  /** Returns the value of each field of a row. Leaves out blank values. */
  valuesOf(row: readonly string[]): ReadonlyMap<string, string>;
  /** For display: the mapped headers with the use of their values, and the headers that are left out. */
  readonly taken: readonly (readonly [header: string, use: string])[];
  readonly leftOut: readonly string[];
}

/**
 * Parses the options `--map Header=field` into targets by header. `Header=-` leaves a column out. Fails with a usage
 * error.
 */
export function parseMap(options: readonly string[]): ReadonlyMap<string, Target | "-"> {
  return new Map(
    options.map((option) => {
      const at = option.lastIndexOf("=");
      const field = option.slice(at + 1).trim();
      const target = field === "-" ? "-" : targets.find((one) => one === field);
      if (at < 1 || target === undefined)
        rejectUsage(
          `--map "${option}": must be Header=field, with one of the fields ${targets.join(", ")}, or - to skip the column.`,
        );
      return [headerKey(option.slice(0, at)), target];
    }),
  );
}

/**
 * Finds the columns of a header row. Fails with a usage error if no column is known, or if the map names a missing one.
 */
export function findColumns(header: readonly string[], map: ReadonlyMap<string, Target | "-">): Columns {
  if (header.length > maxColumns)
    rejectUsage(
      `The first row has ${count(header.length)} columns, and a file can have at most ${count(maxColumns)}. Check that it is a CSV file with a header, and remove the columns that you do not need.`,
    );
  const keys = header.map(headerKey);
  const places = placesOf(keys);
  const missing = [...map.keys()].find((key) => !places.has(key));
  if (missing !== undefined) rejectUsage(`--map: there is no column "${missing}". The file has: ${listed(header)}.`);
  const columnsOf = columnsByTarget(keys, places, map);
  if (columnsOf.size === 0)
    rejectUsage(
      `None of the columns is known (${listed(header)}). The first row must be a header. If it is, map its columns with --map "Header=field".`,
    );
  const taken = [...columnsOf].flatMap(([target, columns]) =>
    columns.map((at, place) => [header[at] ?? "", useOf(target, place > 0, columnsOf.has("full_name"))] as const),
  );
  const used = new Set([...columnsOf.values()].flat());

  function first(row: readonly string[], target: Target): string {
    return (columnsOf.get(target) ?? []).map((at) => row[at] ?? "").find((value) => value.trim() !== "") ?? "";
  }

  return {
    taken,
    leftOut: header.filter((_, at) => !used.has(at)),
    valuesOf(row) {
      const parts = nameParts
        .map((part) => first(row, part).trim())
        .filter((part) => part !== "")
        .join(" ");
      const values = fieldNames.map((field): [string, string] => {
        const value = first(row, field);
        if (field === "full_name")
          return [field, [value, parts, first(row, "organization")].find((name) => name !== "") ?? ""];
        // Google joins the values of one label with ` ::: `.
        if (field === "email" || field === "phone") return [field, (value.split(" ::: ")[0] ?? "").trim()];
        return [field, value];
      });
      return new Map(values.filter(([, value]) => value !== ""));
    },
  };
}

/** Returns the columns for each target, in order of precedence. `places` has the columns of each key. */
function columnsByTarget(
  keys: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  map: ReadonlyMap<string, Target | "-">,
): ReadonlyMap<Target, readonly number[]> {
  const columnsOf = new Map<Target, number[]>();
  const placesOfNames = placesOf(keys.map((key) => (map.has(key) ? "" : bare(key))));
  const named = (names: readonly string[]): number[] => names.flatMap((name) => placesOfNames.get(name) ?? []);
  for (const target of targets) {
    const mapped = [...map].flatMap(([key, chosen]) => (chosen === target ? (places.get(key) ?? []) : []));
    // An alias can equal the field name without punctuation. The set removes the duplicate column.
    const found = new Set([
      ...mapped.sort((one, other) => one - other),
      ...named([bare(target), ...(others[target] ?? [])]),
    ]);
    if (found.size > 0) columnsOf.set(target, [...found]);
  }
  for (const { names, part, other } of wholeOrPart) {
    const ambiguous = new Set(named(names));
    if (ambiguous.size === 0 || columnsOf.has(part) || !columnsOf.has(other)) continue;
    const whole = (columnsOf.get("full_name") ?? []).filter((at) => !ambiguous.has(at));
    if (whole.length === 0) columnsOf.delete("full_name");
    else columnsOf.set("full_name", whole);
    columnsOf.set(part, [...ambiguous]);
  }
  return columnsOf;
}

/** Returns the places at which each text occurs. */
function placesOf(texts: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [at, text] of texts.entries()) {
    const known = places.get(text);
    if (known === undefined) places.set(text, [at]);
    else known.push(at);
  }
  return places;
}

/** Returns the first columns for a message, and how many it leaves out. */
function listed(header: readonly string[]): string {
  const names = header
    .slice(0, maxListed)
    .map((name) => (name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name));
  if (header.length > maxListed) names.push(`and ${count(header.length - maxListed)} more`);
  return names.join(", ");
}

/** Describes the use of a column's values, some of which apply only if another value is empty. */
function useOf(target: Target, isFurther: boolean, hasFullName: boolean): string {
  const isPart = nameParts.some((part) => part === target);
  const field = isPart || target === "organization" ? "full_name" : target;
  const where = target === "organization" ? " if there is no name" : isPart && hasFullName ? " if that is empty" : "";
  return isFurther ? `${field} if the previous column is empty` : `${field}${where}`;
}

/**
 * Normalizes a header. Some systems write an accent as a separate character. No name is as long as what is cut: many
 * accents in a row take quadratic time.
 */
function headerKey(header: string): string {
  return header.trim().slice(0, maxKeyLength).normalize("NFC").toLowerCase();
}

function bare(key: string): string {
  return key.replace(/[^\p{L}\p{N}]/gu, "");
}
