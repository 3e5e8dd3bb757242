// Maps the columns of a CSV file to contact fields, by our own names and those of common exports.
import type { DescField } from "@bufbuild/protobuf";
import { ContactItemSchema } from "../../gen/records/ingest/v1/items_pb.ts";
import { rejectUsage } from "../exit.ts";
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
  const keys = header.map(headerKey);
  const missing = [...map.keys()].find((key) => !keys.includes(key));
  if (missing !== undefined) rejectUsage(`--map: there is no column "${missing}". The file has: ${header.join(", ")}.`);
  const columnsOf = columnsByTarget(keys, map);
  if (columnsOf.size === 0)
    rejectUsage(
      `None of the columns is known (${header.join(", ")}). The first row must be a header. If it is, map its columns with --map "Header=field".`,
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

/** Returns the columns for each target, in order of precedence. */
function columnsByTarget(
  keys: readonly string[],
  map: ReadonlyMap<string, Target | "-">,
): ReadonlyMap<Target, readonly number[]> {
  const columnsOf = new Map<Target, number[]>();
  const named = (names: readonly string[]): number[] =>
    names.flatMap((name) => [...keys.keys()].filter((at) => !map.has(keys[at] ?? "") && bare(keys[at] ?? "") === name));
  for (const target of targets) {
    const mapped = [...keys.keys()].filter((at) => map.get(keys[at] ?? "") === target);
    // An alias can equal the field name without punctuation. The set removes the duplicate column.
    const found = new Set([...mapped, ...named([bare(target), ...(others[target] ?? [])])]);
    if (found.size > 0) columnsOf.set(target, [...found]);
  }
  for (const { names, part, other } of wholeOrPart) {
    const ambiguous = named(names);
    if (ambiguous.length === 0 || columnsOf.has(part) || !columnsOf.has(other)) continue;
    const whole = (columnsOf.get("full_name") ?? []).filter((at) => !ambiguous.includes(at));
    if (whole.length === 0) columnsOf.delete("full_name");
    else columnsOf.set("full_name", whole);
    columnsOf.set(part, ambiguous);
  }
  return columnsOf;
}

/** Describes the use of a column's values, some of which apply only if another value is empty. */
function useOf(target: Target, isFurther: boolean, hasFullName: boolean): string {
  const isPart = nameParts.some((part) => part === target);
  const field = isPart || target === "organization" ? "full_name" : target;
  const where = target === "organization" ? " if there is no name" : isPart && hasFullName ? " if that is empty" : "";
  return isFurther ? `${field} if the previous column is empty` : `${field}${where}`;
}

/** Normalizes a header. Some systems write an accent as a separate character. */
function headerKey(header: string): string {
  return header.trim().normalize("NFC").toLowerCase();
}

function bare(key: string): string {
  return key.replace(/[^\p{L}\p{N}]/gu, "");
}
