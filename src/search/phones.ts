// Phones: the forms by which a stored phone is found, and the phones that a query may contain (contract §3.2).
import type { DividedPhone } from "./calling-codes.ts";
import { divide, isInternational, nationalForms, withoutPrefix } from "./calling-codes.ts";
import { fold } from "./fold.ts";
import { recordWords, splitWords, wordsIn } from "./words.ts";

/** The mark before a phone's digits in a search text, and before a query word that must match their beginning. */
export const PHONE_MARK = "#";
/**
 * The mark of a phone without a country code: in a search text before its `#`, and before a query word that must match
 * the beginning of such a phone.
 */
export const NATIONAL_MARK = "!";
/** National forms are compared only from this length on: shorter ones begin phones of many countries. */
export const minNationalForm = 4;
const NUMBER = /^[0-9]+$/;
/** A zero in brackets after a country code, which is never dialled abroad. */
const TRUNK_ZERO = /((?:^|[^0-9])(?:00)?[1-9][0-9]{0,2}[^0-9()]?)\(0\)/g;
const BEGINS_WITH_PLUS = /^[^0-9+]*\+[^0-9]*[0-9]/;
const EXTENSION = /[^0-9a-z](?:extension|ext|x|int|доб|#)[.:=]? ?([0-9]{1,7})$/;
const LETTER = /\p{L}/u;
/** The forms of a stored phone, in digits. */
export interface PhoneForms {
  /** All its digits, without a leading 00. */
  readonly digits: string;
  /** True without a country code that is marked as one. */
  readonly isNational: boolean;
  /** The digits without a national prefix after the country code, if there is one. */
  readonly dialled: readonly string[];
  /** How an international phone is written in its country. */
  readonly nationals: readonly string[];
  /** The same without the extension; undefined if there is none. */
  readonly main: PhoneForms | undefined;
}

/** Returns the forms of a phone; undefined without digits. */
export function phoneForms(phone: string | null | undefined): PhoneForms | undefined {
  if (!phone) return undefined;
  const folded = withoutTrunkZero(fold(phone));
  const [extension, number] = EXTENSION.exec(folded.trimEnd()) ?? [];
  const main = number === undefined ? undefined : formsOf(folded.trimEnd().slice(0, -(extension?.length ?? 0)));
  return formsOf(folded, main);
}

function formsOf(folded: string, main?: PhoneForms): PhoneForms | undefined {
  const all = digitsIn(folded);
  if (all === "") return undefined;
  const isNational = !BEGINS_WITH_PLUS.test(folded) && !all.startsWith("00");
  const digits = withoutDoubleZero(all);
  const forms = isNational && !isInternational(digits) ? { dialled: [], nationals: [] } : abroad(digits);
  return { digits, isNational, ...forms, main };
}

/** Returns the other forms of an international phone or its beginning. */
function abroad(digits: string): Pick<PhoneForms, "dialled" | "nationals"> {
  const divided = divide(digits);
  if (divided === undefined) return { dialled: [], nationals: [] };
  const dialled: DividedPhone = withoutPrefix(divided);
  return {
    dialled: dialled.rest === divided.rest ? [] : [dialled.callingCode + dialled.rest],
    nationals: nationalForms(dialled).filter(({ length }) => length >= minNationalForm),
  };
}

/**
 * Returns the marked digits by which a query is a whole phone (contract §3.2): none if it has letters other than those
 * of an extension.
 */
export function wholePhones(query: string): string[] {
  const forms = phoneForms(query);
  if (forms === undefined || LETTER.test(fold(query).trimEnd().replace(EXTENSION, ""))) return [];
  const { digits, dialled, nationals } = forms;
  return [...[digits, ...dialled].map((form) => PHONE_MARK + form), ...nationals.map((form) => NATIONAL_MARK + form)];
}

/**
 * Returns the words of a phone's text, and all its digits as one word, with and without a leading 00. `forms` are its
 * own. Returns no words for null.
 */
export function phoneWords(phone: string | null | undefined, forms = phoneForms(phone)): string[] {
  if (!phone) return [];
  const digits = forms === undefined ? [] : [digitsIn(fold(phone)), forms.digits, ...forms.dialled];
  const joined = LETTER.test(phone) ? recordWords(phone).filter((word) => LETTER.test(word)) : [];
  return [...new Set([...splitWords(phone), ...joined, ...digits])].filter((word) => word !== "");
}

function digitsIn(folded: string): string {
  return folded.replace(/[^0-9]+/g, "");
}

function withoutTrunkZero(folded: string): string {
  return folded.replace(TRUNK_ZERO, "$1");
}

function withoutDoubleZero(digits: string): string {
  return digits.startsWith("00") ? digits.slice(2) : digits;
}

/** A word of a query that is not a number, or a sequence of numbers. A `+` begins a new sequence. */
interface Row {
  readonly words: string[];
  readonly hasPlus: boolean;
}

/** The numbers of a row that are read as the beginning of a phone. */
interface Place {
  readonly row: Row;
  readonly from: number;
  readonly to: number;
}

/**
 * Yields the ways to read a folded query that may contain a phone, likeliest first. The first one has the words
 * unchanged. Each further one joins consecutive numbers as the beginning of a phone. One of "42 49 (170) 12" is
 * "42 #4917012". An international phone is also read as a national one, marked by `!`.
 */
export function* phoneReadings(folded: string): Generator<string[]> {
  const rows = rowsOf(withoutTrunkZero(folded));
  yield rows.flatMap(({ words }) => words);
  yield rows.flatMap((row) => phonesAt({ row, from: 0, to: row.words.length })[0] ?? row.words);
  for (const place of placesIn(rows))
    for (const phone of phonesAt(place)) yield rows.flatMap((row) => (row === place.row ? phone : row.words));
}

function rowsOf(folded: string): Row[] {
  const rows: Row[] = [];
  for (const [at, part] of folded.split("+").entries()) {
    for (const [place, word] of wordsIn(part).entries()) {
      const row = rows.at(-1);
      if (place > 0 && row !== undefined && NUMBER.test(row.words[0] ?? "") && NUMBER.test(word)) row.words.push(word);
      else rows.push({ words: [word], hasPlus: at > 0 && place === 0 });
    }
  }
  return rows;
}

/** Returns the words of the row with the phone in each of its forms. Returns none if the words remain as they are. */
function phonesAt({ row: { words, hasPlus }, from, to }: Place): string[][] {
  const joined = words.slice(from, to).join("");
  const isWhole = to - from === words.length;
  const isAbroad = isNumberAbroad({ words, hasPlus }, from) || (isWhole && isInternational(joined));
  if (!NUMBER.test(joined) || (to - from < 2 && !(isAbroad && isWhole))) return [];
  const digits = withoutDoubleZero(joined);
  const { dialled, nationals } = isAbroad ? abroad(digits) : { dialled: [], nationals: [] };
  // A single number is a word of the phone as it is.
  const asTyped = to - from < 2 && digits === joined ? [] : [digits];
  const marked = [
    ...[...asTyped, ...dialled].map((form) => PHONE_MARK + form),
    ...nationals.map((form) => NATIONAL_MARK + form),
  ];
  return marked.filter(({ length }) => length > 1).map((phone) => [...words.slice(0, from), phone, ...words.slice(to)]);
}

function isNumberAbroad({ words, hasPlus }: Row, from: number): boolean {
  return (hasPlus && from === 0) || words[from]?.startsWith("00") === true;
}

/**
 * Yields the possible positions of a phone: first at the end or the beginning of a row, then inside it. Positions with
 * fewer other numbers come first. A phone typed with a `+` begins there.
 */
function* placesIn(rows: readonly Row[]): Generator<Place> {
  const longest = Math.max(0, ...rows.map(({ words }) => words.length));
  for (let others = 0; others < longest; others += 1) {
    for (const row of rows) {
      const { length } = row.words;
      if (length <= others) continue;
      if (!row.hasPlus) yield { row, from: others, to: length };
      yield { row, from: 0, to: length - others };
    }
  }
  for (let others = 2; others < longest; others += 1) {
    for (const row of rows) {
      const length = row.words.length - others;
      if (length < 1 || row.hasPlus) continue;
      for (let from = 1; from < others; from += 1) yield { row, from, to: from + length };
    }
  }
}
