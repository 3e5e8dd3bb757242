// Country calling codes and national prefixes: divides an international phone and returns its national forms.
import { createRequire } from "node:module";
import type { CountryCode, MetadataJson } from "libphonenumber-js/core";

/**
 * The positions in the metadata of a country and of a format. Only the metadata is loaded, because the library's code
 * takes ten times as long to load, and cannot read the beginning of a number.
 */
const at = {
  numbers: 2,
  formats: 4,
  nationalPrefix: 5,
  rule: 6,
  optional: 9,
  pattern: 0,
  template: 1,
  leading: 2,
  ruleOfFormat: 3,
  optionalOfFormat: 4,
} as const;
/** The part of a rule that has the digits before a number, such as `(0` in `(0$1)`. */
const BEFORE_NUMBER = /^[^$]*/;
/** What precedes and follows the digit that the mobile phones of a country have or had, and some programs leave out. */
const MOBILE_DIGITS: Readonly<Record<string, RegExp>> = {
  52: /^()1([0-9]{10})$/,
  54: /^()9([0-9]{10})$/,
  55: /^([0-9]{2})9([6-9][0-9]{7})$/,
};
const longestCode = 3;
const shortest = 10;

/** How numbers that begin with `leading` are written in their country. */
interface Writing {
  readonly leading: RegExp;
  readonly whole: RegExp;
  /** The digits of a whole number in the order in which they are written. */
  readonly template: string;
  /** The digits before it, which may be none. */
  readonly prefix: string;
  readonly isPrefixOptional: boolean;
}

interface Plan {
  /** The whole numbers of the country. */
  readonly numbers: RegExp;
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
 * Returns the forms in which a phone is dialled: without a national prefix between the calling code and the rest, as in
 * "+44 07700 900123", which is never dialled; and without the digit of mobile phones in some countries.
 */
export function dialledForms({ callingCode, rest }: DividedPhone): DividedPhone[] {
  const { prefix } = planOf(callingCode);
  const shorter = { callingCode, rest: rest.slice(1) };
  if (prefix === "0" && rest.startsWith("0") && nationalForms(shorter).some((form) => form.startsWith("0")))
    return [shorter];
  const [, before = "", after] = MOBILE_DIGITS[callingCode]?.exec(rest) ?? [];
  return [{ callingCode, rest }, ...(after === undefined ? [] : [{ callingCode, rest: before + after }])];
}

/**
 * Whether digits without a `+` are a whole international phone, such as 14155550123. Shorter ones could be anything:
 * some countries have numbers of four digits.
 */
export function isInternational(digits: string): boolean {
  const divided = divide(digits);
  if (divided === undefined || digits.length < shortest) return false;
  return dialledForms(divided).some(({ callingCode, rest }) => planOf(callingCode).numbers.test(rest));
}

/** Returns the digits by which a phone, or its beginning, is written in its own country. */
export function nationalForms({ callingCode, rest }: DividedPhone): string[] {
  const { prefix, writings } = planOf(callingCode);
  if (writings.length === 0) return [rest];
  const fitting = writings.filter(({ leading }) => leading.test(rest));
  const exact = fitting.find(({ whole }) => whole.test(rest));
  const likely = exact !== undefined ? [exact] : fitting.length > 0 ? fitting : writings;
  const forms = likely.flatMap((writing) => {
    const written = writing === exact ? digitsOf(rest.replace(writing.whole, writing.template)) : rest;
    // Where a zero is not written, it may still be dialled.
    const zero = writing.prefix === "" && prefix === "0" ? [prefix + rest] : [];
    return [writing.prefix + written, ...(writing.isPrefixOptional ? [written] : []), ...zero];
  });
  return [...new Set(forms)];
}

function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, "");
}

function planOf(callingCode: string): Plan {
  const known = plans.get(callingCode);
  if (known !== undefined) return known;
  const { countries, country_calling_codes } = loaded();
  const [main] = (country_calling_codes as Readonly<Record<string, readonly CountryCode[]>>)[callingCode] ?? [];
  const country: readonly unknown[] = (main && countries[main]) ?? [];
  const formats = (country[at.formats] || []) as readonly (readonly unknown[])[];
  const plan = {
    numbers: new RegExp(`^(?:${String(country[at.numbers] || "")})$`),
    prefix: String(country[at.nationalPrefix] || ""),
    writings: formats.map((format) => {
      const rule = String(format[at.ruleOfFormat] || country[at.rule] || "");
      return {
        leading: new RegExp(`^(?:${((format[at.leading] || []) as readonly string[]).at(-1) ?? ""})`),
        whole: new RegExp(`^(?:${String(format[at.pattern])})$`),
        template: String(format[at.template]),
        prefix: digitsOf(BEFORE_NUMBER.exec(rule)?.[0] ?? ""),
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
