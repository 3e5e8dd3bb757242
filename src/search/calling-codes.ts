// Country calling codes and national prefixes: divides an international phone and returns its national forms.
import { createRequire } from "node:module";
import type { CountryCode, MetadataJson } from "libphonenumber-js/core";

/**
 * The positions in the metadata of a country and of a format. Only the metadata is loaded, because the library's code
 * takes ten times as long to load, and cannot read the beginning of a number.
 */
const at = {
  formats: 4,
  nationalPrefix: 5,
  rule: 6,
  optional: 9,
  leading: 2,
  ruleOfFormat: 3,
  optionalOfFormat: 4,
} as const;
/** A rule without a prefix, such as `($1)`. */
const WITHOUT_PREFIX = /^[^0-9]*\$1[^0-9]*$/;
const longestCode = 3;

/** How numbers that begin with `leading` are written in their country. */
interface Writing {
  readonly leading: RegExp;
  readonly hasPrefix: boolean;
  readonly isPrefixOptional: boolean;
}

interface Plan {
  readonly prefix: string;
  readonly writings: readonly Writing[];
}

/** An international phone, without what precedes the calling code. */
export interface DividedPhone {
  readonly callingCode: string;
  readonly rest: string;
}

let metadata: MetadataJson | undefined;
const plans = new Map<string, Plan>();

/** Divides the digits of an international phone after its calling code. Returns undefined if there is no such code. */
export function divide(digits: string): DividedPhone | undefined {
  const { country_calling_codes } = loaded();
  for (let length = 1; length <= longestCode; length += 1) {
    const callingCode = digits.slice(0, length);
    if (callingCode in country_calling_codes) return { callingCode, rest: digits.slice(length) };
  }
  return undefined;
}

/**
 * Returns the phone without a national prefix between the calling code and the rest, as in "+44 07700 900123". It is
 * never dialled.
 */
export function withoutPrefix({ callingCode, rest }: DividedPhone): DividedPhone {
  const { prefix } = planOf(callingCode);
  const shorter = { callingCode, rest: rest.slice(1) };
  return prefix === "0" && rest.startsWith("0") && nationalForms(shorter).every((form) => form.startsWith("0"))
    ? shorter
    : { callingCode, rest };
}

/** Returns the digits by which a phone, or its beginning, is written in its own country. */
export function nationalForms({ callingCode, rest }: DividedPhone): string[] {
  const { prefix, writings } = planOf(callingCode);
  const fitting = writings.filter(({ leading }) => leading.test(rest));
  const likely = fitting.length === 0 ? writings : fitting.slice(0, 1);
  const forms: string[] = [];
  if (likely.some(({ hasPrefix }) => hasPrefix)) forms.push(prefix + rest);
  if (likely.length === 0 || likely.some(({ hasPrefix, isPrefixOptional }) => !hasPrefix || isPrefixOptional))
    forms.push(rest);
  return forms;
}

function planOf(callingCode: string): Plan {
  const known = plans.get(callingCode);
  if (known !== undefined) return known;
  const { countries, country_calling_codes } = loaded();
  const [main] = (country_calling_codes as Readonly<Record<string, readonly CountryCode[]>>)[callingCode] ?? [];
  const country: readonly unknown[] = (main && countries[main]) ?? [];
  const formats = (country[at.formats] || []) as readonly (readonly unknown[])[];
  const plan = {
    prefix: String(country[at.nationalPrefix] || ""),
    writings: formats.map((format) => {
      const rule = format[at.ruleOfFormat] || country[at.rule];
      return {
        leading: new RegExp(`^(?:${((format[at.leading] || []) as readonly string[]).at(-1) ?? ""})`),
        hasPrefix: Boolean(rule) && !WITHOUT_PREFIX.test(String(rule)),
        isPrefixOptional: Boolean(format[at.optionalOfFormat] || country[at.optional]),
      };
    }),
  };
  plans.set(callingCode, plan);
  return plan;
}

function loaded(): MetadataJson {
  metadata ??= createRequire(import.meta.url)("libphonenumber-js/metadata.min.json") as MetadataJson;
  return metadata;
}
