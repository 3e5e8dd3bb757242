// Phones: the forms by which a stored phone is found, and the phones that a query may contain (contract §3.2).
import { dialledForms, divide, isInternational, nationalForms } from "./calling-codes.ts";
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
/** A whole national phone with the zero that some do not write, and that spreadsheets remove. */
const WITH_TRUNK_ZERO = /^0[1-9][0-9]{8,}$/;
/** What is between several phones of one field, each of which has at least this number of digits. */
const BETWEEN = /[/,;|]/;
const shortestOfSeveral = 7;
const BEGINS_WITH_PLUS = /^[^0-9+]*\+[^0-9]*[0-9]/;
const EXTENSION = /(?<![a-z])(?:extension|extn?|x|int|доб|anexo|#)[.:=]? ?([0-9]{1,7})$/;
const LETTER = /\p{L}/u;
/**
 * What precedes a phone that is copied from a signature or a link, such as `Tel.:` and `M:`, or a whole phone in a
 * sentence; and what follows it in an address book, such as `(mobile)`.
 */
const LABEL =
  /^\s*(?:\p{L}{1,20}[.:]{1,2} ?(?=[+(0-9])|(?:\p{L}{1,20} ){1,4}(?=\+?[(0-9][^\p{L}]{8,}$))|\(\p{L}{1,20}\)\s*$/gu;
/** A number that ends with a word, as in 1-800-FLOWERS or 1-800-GO-FEDEX. */
const VANITY = /^[^a-z]*[0-9]{3}[^a-z0-9]*(?:[a-z][-.]?){3,}[^a-z0-9]*$/;
/** The first letter on each key of a telephone, from 2 to 9. */
const KEYS = "adgjmptw";
/** The exit codes of North America and Australia. */
const EXIT_CODE = /^0?011/;
/** The forms of a stored phone, in digits. */
export interface PhoneForms {
  /** All its digits, without an exit code such as 00. */
  readonly digits: string;
  /** True without a country code that is marked as one. */
  readonly isNational: boolean;
  /** The digits without a national prefix after the country code, if there is one. */
  readonly dialled: readonly string[];
  /** How an international phone is written in its country, and a national one without its zero. */
  readonly nationals: readonly string[];
}

/**
 * Returns the forms of a phone, those without the extension or the word at its end, and those of each phone if the text
 * has several. Returns none without digits.
 */
export function phoneForms(phone: string | null | undefined): PhoneForms[] {
  if (!phone) return [];
  const folded = withoutTrunkZero(fold(phone));
  const parts = folded.split(BETWEEN);
  const areSeveral = parts.length > 1 && parts.every((part) => digitsIn(part).length >= shortestOfSeveral);
  return [folded, ...(areSeveral ? parts : [])].flatMap((one) => withExtension(one.trimEnd()));
}

function withExtension(folded: string): PhoneForms[] {
  const [extension = "", number] = EXTENSION.exec(folded) ?? [];
  const [main] = number === undefined ? [] : formsOf(folded.slice(0, -extension.length));
  if (number === undefined || main === undefined) {
    const dialled = onKeypad(folded);
    return [...formsOf(dialled), ...(dialled === folded ? [] : formsOf(folded))];
  }
  const extended = (form: string): string => form + number;
  const { digits, isNational, dialled, nationals } = main;
  return [
    { digits: digits + number, isNational, dialled: dialled.map(extended), nationals: nationals.map(extended) },
    main,
  ];
}

/** Returns a number that ends with a word as it is dialled; any other text as it is. */
function onKeypad(folded: string): string {
  if (!VANITY.test(folded)) return folded;
  return folded.replace(/[a-z]/g, (letter) => String([...KEYS].filter((first) => first <= letter).length + 1));
}

function formsOf(folded: string): PhoneForms[] {
  const all = digitsIn(folded);
  if (all === "") return [];
  const digits = withoutExitCode(all);
  const isNational = !BEGINS_WITH_PLUS.test(folded) && digits === all;
  const forms =
    isNational && !isInternational(digits) ? { dialled: [], nationals: withoutZero(digits) } : abroad(digits);
  return [{ digits, isNational, ...forms }];
}

/** Returns the other forms of an international phone or its beginning. */
function abroad(digits: string): Pick<PhoneForms, "dialled" | "nationals"> {
  const divided = divide(digits);
  if (divided === undefined) return { dialled: [], nationals: [] };
  const all = dialledForms(divided);
  return {
    dialled: all.map(({ callingCode, rest }) => callingCode + rest).filter((form) => form !== digits),
    nationals: [...new Set(all.flatMap(nationalForms))].filter(({ length }) => length >= minNationalForm),
  };
}

/**
 * Returns the marked digits by which a query is a whole phone (contract §3.2): none if it has letters other than those
 * of a label, of an extension, and at the end of a number.
 */
export function wholePhones(query: string): string[] {
  const phone = query.replace(LABEL, "");
  const [forms] = phoneForms(phone);
  if (forms === undefined || LETTER.test(onKeypad(fold(phone)).trimEnd().replace(EXTENSION, ""))) return [];
  const { digits, isNational, dialled, nationals } = forms;
  return [
    ...[digits, ...dialled, ...(isNational ? withoutZero(digits) : [])].map((form) => PHONE_MARK + form),
    ...nationals.flatMap((form) => [form, ...withoutZero(form)]).map((form) => NATIONAL_MARK + form),
  ];
}

/** Returns a national phone without its zero; none for another. */
function withoutZero(digits: string): string[] {
  return WITH_TRUNK_ZERO.test(digits) ? [digits.slice(1)] : [];
}

/**
 * Returns the words of a phone's text, and all its digits as one word, with and without a leading 00. `forms` are its
 * own. Returns no words for null.
 */
export function phoneWords(phone: string | null | undefined, forms = phoneForms(phone)): string[] {
  if (!phone) return [];
  const digits = [digitsIn(fold(phone)), ...forms.flatMap((one) => [one.digits, ...one.dialled])];
  const joined = LETTER.test(phone) ? recordWords(phone).filter((word) => LETTER.test(word)) : [];
  return [...new Set([...splitWords(phone), ...joined, ...digits])].filter((word) => word !== "");
}

function digitsIn(folded: string): string {
  return folded.replace(/[^0-9]+/g, "");
}

function withoutTrunkZero(folded: string): string {
  return folded.replace(TRUNK_ZERO, "$1");
}

function withoutExitCode(digits: string): string {
  const number = digits.replace(EXIT_CODE, "");
  if (number !== digits && isInternational(number)) return number;
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
  const digits = withoutExitCode(joined);
  const isAbroad = (hasPlus && from === 0) || digits !== joined || (isWhole && isInternational(joined));
  if (!NUMBER.test(joined) || (to - from < 2 && !(isAbroad && isWhole))) return [];
  const { dialled, nationals } = isAbroad ? abroad(digits) : { dialled: [], nationals: [] };
  // A single number is a word of the phone as it is.
  const asTyped = to - from < 2 && digits === joined ? [] : [digits];
  const marked = [
    ...[...asTyped, ...dialled].map((form) => PHONE_MARK + form),
    ...nationals.map((form) => NATIONAL_MARK + form),
  ];
  return marked.filter(({ length }) => length > 1).map((phone) => [...words.slice(0, from), phone, ...words.slice(to)]);
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
