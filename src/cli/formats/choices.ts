// Chooses one email address and one phone number of those that an address book has for a contact.
import { firstVisible } from "../../text/text.ts";

/** One of several values for a field, in the order of the file. */
export interface Choice {
  readonly value: string;
  /** The lowest is the preferred one. */
  readonly preference: number;
  /** The types and labels of the value, in any case and language. */
  readonly kind: string;
}

/** The preference of a value that is not marked as preferred: PREF of vCard has 1 to 100. */
export const notPreferred = 101;

const maxEmailLength = 254;
const maxPhoneLength = 50;
const email = /^[^\s@<>()[\],;:"\\]+@(?:[^\s@<>()[\],;:"\\.]+\.)+[^\s@<>()[\],;:"\\.]+$/;

/** The maximum length of an external id, in UTF-16 units. A longer one is left out. */
export const maxExternalIdLength = 200;

const maxShownLength = 60;

/** Returns a text of the file for a message, in at most 60 characters. */
export function shortened(text: string): string {
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength - 1)}…` : text;
}

/** An address within Exchange (X.500), which Outlook exports for colleagues in place of an email. */
const internalAddress = /^\s*\/o=/i;

/** What people and programs write in place of an address or a number that there is not. */
const absent = new Set(
  "n/a na #n/a n.a. n.v. none nil null nan unknown undefined k.a. kein keine aucun aucune nessuno ninguno".split(" "),
);

/** Returns whether a value says that there is none. */
function isAbsent(value: string): boolean {
  return absent.has(value.trim().toLowerCase()) || /^[-–—_.?*#0\s]*$/.test(value);
}

/** Returns the preferred valid address, or a problem if there are only invalid ones. */
export function chooseEmail(choices: readonly Choice[]): { readonly email?: string; readonly problem?: string } {
  const filled = choices.filter(({ value }) => !isAbsent(value) && !internalAddress.test(value));
  for (const { value } of filled.toSorted((a, b) => a.preference - b.preference)) {
    const found = addressIn(value);
    if (found !== undefined) return { email: found };
  }
  const [first] = filled;
  if (first === undefined) return {};
  return { problem: `has no valid email address: ${JSON.stringify(shortened(first.value))}` };
}

/** Returns an address or a number without invisible characters, which copies from pages and phones contain. */
function visible(text: string): string {
  return text.replace(/\p{Cf}/gu, "").trim();
}

/** Returns the first valid address of a value such as `Ann <ann@example.com>; bo@example.com`. */
function addressIn(value: string): string | undefined {
  return visible(value)
    .split(/[\s<>,;|"]+/)
    .map((part) => part.replace(/^mailto:/i, "").replace(/^['(]|[')]$/g, ""))
    .map((part) => (part.split("?", 1)[0] ?? "").replace(/\.$/, ""))
    .find((part) => part.length <= maxEmailLength && email.test(part));
}

/** The kinds of numbers, the most useful first. A number whose kind is not known is an "other" one. */
const phoneKinds: readonly (readonly [rank: number, words: RegExp])[] = [
  [5, /pager|beeper|bleep|cercapersone|localizador|radiomess|ポケットベル|ポケベル|传呼/],
  [4, /fax|faks|télécopie|telecopie|ファックス|传真/],
  [0, /cell|mobil|mobiel|handy|iphone|portable|móvil|movil|telem[óo]vel|celular|komórk|komork|携帯|手机/],
  [1, /work|business|office|arbeit|dienst|geschäft|travail|bureau|trabajo|trabalho|lavoro|uff|werk|praca|職場|勤務先/],
  [2, /home|privat|domicile|casa|particular|residencial|abitazione|thuis|dom\b|自宅/],
];
const otherKind = 3;

/** Returns the rank of a number by its types and labels: mobile, work, home, other, fax, pager. */
function phoneRank(kind: string): number {
  const words = kind.toLowerCase();
  return phoneKinds.find(([, pattern]) => pattern.test(words))?.[0] ?? otherKind;
}

/**
 * Returns the number to call: a preferred one before others, then by its kind. Faxes and pagers come last in any case.
 * `leftOut` is how many values were passed over because they cannot be stored or have no digit. `isExact`: the values
 * are those of our own export, where a phone can be any text.
 */
export function choosePhone(
  choices: readonly Choice[],
  isExact: boolean,
): { readonly phone?: string; readonly leftOut: number } {
  const ranked = choices
    .filter(({ value }) => value.trim() !== "" && (isExact || !isAbsent(value)))
    .flatMap(({ value, preference, kind }) => {
      const number = numberOf(visible(value));
      const several = fitsPhone(number) ? [number] : numbersIn(number);
      return several.map((one) => ({ value: one, preference, rank: phoneRank(kind) }));
    })
    .toSorted((a, b) => lateness(a.rank) - lateness(b.rank) || a.preference - b.preference || a.rank - b.rank);
  const fits = ranked.filter(({ value }) => fitsPhone(value) && (isExact || /\p{Nd}/u.test(value)));
  const phone = fits[0]?.value;
  const leftOut = ranked.length - fits.length;
  return phone === undefined ? { leftOut } : { phone, leftOut };
}

function fitsPhone(value: string): boolean {
  return [...value].length <= maxPhoneLength;
}

/** What divides several numbers in one value. */
const severalNumbers = /[;|,\n]|\s[/&]\s|\s(?:or|oder|ou)\s/i;
/** The digits of a whole number, at least. Fewer can be an area code or an extension. */
const minDigits = 7;

/** Returns the numbers of a value that has several whole ones, or the value. */
export function numbersIn(value: string): readonly string[] {
  const several = value.split(severalNumbers).map((one) => one.trim());
  return several.every((one) => one.replace(/\D/g, "").length >= minDigits) ? several : [value];
}

/**
 * Returns a number as it is dialled. A `tel:` URI (RFC 3966) is decoded: the prefix that it names precedes a local
 * number, and an extension follows. Some programs write the parameters without the URI.
 */
function numberOf(value: string): string {
  const isUri = /^tel:/i.test(value);
  const [number = "", ...parameters] = value.replace(/^tel:/i, "").split(";");
  if (!isUri && !parameters.some((one) => /^(?:ext|phone-context)=/i.test(one))) return value;
  const parameter = (name: string): string | undefined =>
    parameters.find((one) => one.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
  const [prefix = "", extension] = [parameter("phone-context"), parameter("ext")];
  const whole = prefix.startsWith("+") && !number.startsWith("+") ? `${prefix}-${number}` : number;
  return percentDecoded(extension === undefined ? whole : `${whole} ext. ${extension}`);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function lateness(rank: number): number {
  return Math.max(rank, otherKind);
}

/** The parts of a name, as address books keep them. */
export interface NameParts {
  readonly prefix?: string | undefined;
  readonly given?: string | undefined;
  readonly additional?: string | undefined;
  readonly family?: string | undefined;
  readonly suffix?: string | undefined;
}

const eastAsian = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]/u;

/** What people write in a part that a program requires. */
const filler = /^[-–—.]*$/;

/** Returns the parts as one name. In Chinese, Japanese and Korean, the family name comes first. */
export function nameOf({ prefix, given, additional, family, suffix }: NameParts): string | undefined {
  const isEastAsian = eastAsian.test(given ?? "") && eastAsian.test(family ?? "");
  const inOrder = isEastAsian ? [family, given, additional] : [given, additional, family];
  const name = [prefix, ...inOrder, suffix]
    .map((part) => part?.trim() ?? "")
    .filter((part) => !filler.test(part))
    .join(" ");
  return firstVisible(name);
}
