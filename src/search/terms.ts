// Search terms and search text of a document, and the queries over them: an index has the terms, checks read the text.
import { endOfCodePoint, endOfCodePoints } from "../text/text.ts";
import type { PhoneForms } from "./phones.ts";
import { minNationalForm, NATIONAL_MARK, PHONE_MARK } from "./phones.ts";
import type { NameWords } from "./words.ts";
import { isUnspaced } from "./words.ts";

/** The lengths of a word's stored prefixes, in code points, and whether the whole word is stored too, marked. */
export interface SearchShape {
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
}

/**
 * Notes are numerous and long, so one-letter prefixes would make their index 14 % larger. A word shorter than `min` is
 * stored, and matched, only as a whole.
 */
export const NOTE_SHAPE: SearchShape = { min: 2, max: 8, whole: false };
/** For titles, subtitles and names of sessions. */
export const SESSION_SHAPE: SearchShape = { min: 1, max: 8, whole: false };
/** For names, addresses and phones of contacts. Contacts that match whole words come first (contract §3.2). */
export const CONTACT_SHAPE: SearchShape = { min: 1, max: 12, whole: true };

/**
 * The lengths for scripts without blanks, in every shape. One Han letter can be a word, and four are as selective as
 * eight Latin letters.
 */
const UNSPACED_LENGTHS = { min: 1, max: 4 };

/**
 * The first character of a search text of this release. Those of the previous release begin with a blank or `#`, or are
 * empty, and all of these sort before it.
 */
export const TEXT_MARK = "~";
/** The mark before the national form of an international phone in a search text. */
const NATIONAL_FORM_MARK = "%";
/** The mark that ends the words of a contact's name in its search text. */
const NAME_END = "@";
/** The mark after an ending of a word in a search text, with which a word can begin but which is no whole word. */
const ENDING_MARK = "_";
/** The marks after the index term of a whole word, and after that of a whole word of a name. */
const WORD_MARK = " ";
const NAME_WORD_MARK = "=";
/** The mark before the index term of a whole email, and before that of a whole name. */
const EMAIL_MARK = "@";
const WHOLE_NAME_MARK = "=";
const NATIONAL_LENGTHS = { min: minNationalForm, max: 12 };
const LONG_NUMBER = /^[0-9]{4}[0-9]*$/;
const MARK = /^\p{M}/u;
/** The first letter after the scripts with vowel signs that are written without blanks. */
const endOfMarks = 0x2e80;

/**
 * The maximum length of a whole word's index term, in code points. `wholeCheckPattern` checks the rest of a longer
 * word.
 */
const WHOLE_LENGTH = 32;

/** What a search reads of a document. `src/db/search-fields.ts` maps it to the stored fields. */
export interface Terms {
  /** The distinct terms of the index. */
  searchTerms: string[];
  /** The document's words as one text. */
  searchText: string;
}

/** A search term of every match. If it is not `exact`, `checkPattern` must match too. */
export interface Probe {
  term: string;
  exact: boolean;
}

/**
 * Returns the search terms of a record's words, as `recordWords` and `phoneWords` return them (contract §3.1).
 * `searchTerms` contains the prefixes of the shape. `searchText`, such as " met anna ", has a blank before each
 * distinct word and one at the end. It is empty if there are no words.
 *
 * The number of terms is not capped. No query could know which records exceed a cap, so matches would be lost.
 * Lengths limit it, which record and query both know. Each letter ends at most one prefix in a spaced script, and four
 * in an unspaced one. A word adds one term if whole words are stored. A note has at most 100,000 code points. The worst
 * case is random Han letters of four bytes: 340,000 terms and a document of 9 MB, within MongoDB's limit of 16 MB.
 * Letters that fold to several letters give fewer terms, because they have few combinations.
 */
export function terms(words: Iterable<string>, shape: SearchShape, endings: readonly string[] = []): Terms {
  const found = new Set<string>();
  const searchText = addTerms(found, words, shape, endings);
  return { searchTerms: [...found], searchText };
}

/** Adds the index terms of the words, and returns their search text. */
function addTerms(found: Set<string>, words: Iterable<string>, shape: SearchShape, endings: readonly string[]): string {
  let text = "";
  for (const word of new Set(words)) {
    if (isUnspaced(word)) addRun(found, word);
    else addPrefixes(found, word, 0, shape);
    if (shape.whole) found.add(markedProbe(word, WORD_MARK).term);
    text += ` ${word}`;
  }
  for (const ending of endings) {
    addPrefixes(found, ending, 0, shape);
    text += ` ${ending}${ENDING_MARK}`;
  }
  return text && `${text} `;
}

/** Returns the terms with a text that is marked as that of this release. */
export function marked({ searchTerms, searchText }: Terms): Terms {
  return { searchTerms, searchText: TEXT_MARK + searchText };
}

/** Returns the condition on a search text that only those of the previous release fulfil. */
export const beforeThisRelease = { $lt: TEXT_MARK } as const;

/** What a contact is found by. */
export interface ContactWords {
  readonly names: NameWords;
  /** The texts by which a query is a whole name (`nameKeys`). */
  readonly nameKeys: readonly string[];
  /** The words of the email and the phone (`phoneWords`). */
  readonly others: readonly string[];
  /** The email in lower case. */
  readonly email: string | undefined;
  readonly phones: readonly PhoneForms[];
}

/**
 * Returns the search terms of a contact. The text has the words of its names, a mark, the other words, and the forms of
 * its phone, such as "~ ann lee @ example com #4930123456 %030123456 ".
 */
export function contactTerms({ names, nameKeys, others, email, phones }: ContactWords): Terms {
  const found = new Set<string>();
  const ofNames = addTerms(found, names.words, CONTACT_SHAPE, names.endings);
  for (const word of names.words) found.add(markedProbe(word, NAME_WORD_MARK).term);
  for (const key of nameKeys) found.add(wholeNameTerm(key));
  const unnamed = new Set(others);
  for (const word of names.words) unnamed.delete(word);
  const ofOthers = addTerms(found, unnamed, CONTACT_SHAPE, []);
  if (email !== undefined) found.add(emailTerm(email));
  const ofPhone = addPhoneTerms(found, phones);
  return { searchTerms: [...found], searchText: `${TEXT_MARK}${ofNames}${NAME_END}${ofOthers}${ofPhone}` };
}

/** Returns the index term of a whole email in lower case. */
export function emailTerm(email: string): string {
  return EMAIL_MARK + email;
}

/** Returns the index term of a whole name, by one of its `nameKeys`. */
export function wholeNameTerm(key: string): string {
  return WHOLE_NAME_MARK + key;
}

/** Adds the index terms of phones, and returns their part of the search text, which has a mark even without any. */
function addPhoneTerms(found: Set<string>, phones: readonly PhoneForms[]): string {
  const text = phones.flatMap(({ digits, isNational, dialled, nationals }) => {
    for (const form of nationals) addPrefixes(found, form, 0, NATIONAL_LENGTHS);
    for (const form of [digits, ...dialled, ...nationals]) {
      found.add(PHONE_MARK + form);
      if (isNational) found.add(NATIONAL_MARK + form);
    }
    return [
      ...[digits, ...dialled].map((form) => `${isNational ? NATIONAL_MARK : ""}${PHONE_MARK}${form} `),
      ...nationals.map((form) => `${NATIONAL_FORM_MARK}${form} `),
    ];
  });
  return text.join("") || `${PHONE_MARK} `;
}

/**
 * Returns the longest search term of every document that has a word beginning with `word`, one of a query's. In a shape
 * without prefixes that short, it is the term of the whole word.
 */
export function probe(word: string, shape: SearchShape): Probe {
  if (isPhone(word)) return { ...probe(word.slice(PHONE_MARK.length), shape), exact: false };
  const { max } = isUnspaced(word) ? UNSPACED_LENGTHS : shape;
  const end = endOfCodePoints(word, max);
  return { term: word.slice(0, end), exact: end === word.length };
}

/**
 * Returns the search term of documents that contain `word`, one of a query's, as a whole word (contract §3.2). The
 * shape must store whole words. The term is the word, at most 32 code points of it, and a blank, which no prefix
 * contains.
 */
export function wholeProbe(word: string): Probe {
  return markedProbe(word, WORD_MARK);
}

/** Returns the maximum length of the beginnings that are terms of a word, in code points. */
export function longestBeginning(word: string, { max }: SearchShape): number {
  return isUnspaced(word) ? UNSPACED_LENGTHS.max : max;
}

/** Returns the search term of contacts whose name contains `word`, one of a query's, as a whole word. */
export function nameProbe(word: string): Probe {
  return markedProbe(word, NAME_WORD_MARK);
}

function markedProbe(word: string, mark: string): Probe {
  if (isPhone(word)) return { ...markedProbe(word.slice(PHONE_MARK.length), mark), exact: false };
  if (word.length < WHOLE_LENGTH) return { term: word + mark, exact: true };
  // 32 code points fit in twice as many UTF-16 units, which avoids spreading a word of 10,000 letters.
  const points = [...word.slice(0, 2 * WHOLE_LENGTH)].slice(0, WHOLE_LENGTH);
  return { term: points.join("") + mark, exact: points.length < WHOLE_LENGTH };
}

/**
 * Returns the source of a regular expression, without flags, that finds in a search text a word with the beginning
 * `word`, one of a query's. In a script without blanks a word may begin at any character, so the pattern contains no
 * leading blank. A word contains no characters to escape.
 */
export function checkPattern(word: string, shape: SearchShape): string {
  if (word.startsWith(NATIONAL_MARK)) return `${NATIONAL_MARK}${PHONE_MARK}${word.slice(1)}`;
  if (isPhone(word)) return phonePattern(word, "");
  if (isUnspaced(word)) return word;
  if (isOnlyWhole(word, shape)) return wholeCheckPattern(word);
  return LONG_NUMBER.test(word) && shape.whole ? `[ ${NATIONAL_FORM_MARK}]${word}` : ` ${word}`;
}

/**
 * Whether a search text, as the current `terms` and `contactTerms` return it, has a word that begins with `word`, one
 * of a query's.
 */
export function hasWord(searchText: string, word: string): boolean {
  const digits = word.slice(1);
  if (word.startsWith(NATIONAL_MARK)) return searchText.includes(`${NATIONAL_MARK}${PHONE_MARK}${digits}`);
  const number = isPhone(word) ? digits : word;
  return (
    searchText.includes(isPhone(word) || isUnspaced(word) ? word : ` ${word}`) ||
    (LONG_NUMBER.test(number) && searchText.includes(NATIONAL_FORM_MARK + number))
  );
}

/**
 * Returns the source of a regular expression, without flags, that finds in a search text the whole word `word`, one of
 * a query's. In a script without blanks only a whole run counts. Otherwise every ending of 王小明 would be a whole
 * word, such as 小明.
 */
export function wholeCheckPattern(word: string): string {
  if (word.startsWith(NATIONAL_MARK)) return `${NATIONAL_MARK}${PHONE_MARK}${word.slice(1)} `;
  return isPhone(word) ? phonePattern(word, " ") : ` ${word} `;
}

/** Returns the pattern that finds the whole word in the names of a contact. */
export function nameCheckPattern(word: string): string {
  return `^[^${NAME_END}]* ${word} `;
}

/**
 * Returns the pattern that finds in the names of a contact words that begin with `word` if no blank divides them. None
 * divides a number.
 */
export function dividedNamePattern(word: string): string {
  return `^[^${NAME_END}]* ${(word.match(/[0-9]+|./gu) ?? []).join(" ?")}`;
}

/**
 * Whether a word's term alone decides if a document matches. Also true for a phone, whose check excludes only few
 * documents.
 */
export function isDecidedByTerm(word: string, shape: SearchShape): boolean {
  return isPhone(word) || probe(word, shape).exact;
}

/** Whether a word of a query is so short that the shape stores it only as a whole. */
export function isOnlyWhole(word: string, { min }: SearchShape): boolean {
  return min > 1 && !isUnspaced(word) && endOfCodePoints(word, min - 1) === word.length;
}

/** Whether a word of a reading is a phone. */
export function isPhone(word: string): boolean {
  return word.startsWith(PHONE_MARK) || word.startsWith(NATIONAL_MARK);
}

/** Returns the pattern of a phone. In terms of older releases, which lack the mark, the digits are one of the words. */
function phonePattern(word: string, end: string): string {
  const digits = word.slice(PHONE_MARK.length);
  const mark = LONG_NUMBER.test(digits) && end === "" ? `[${PHONE_MARK}${NATIONAL_FORM_MARK}]` : PHONE_MARK;
  return `${mark}${digits}${end}|^[^${PHONE_MARK}]* ${digits}${end}[^${PHONE_MARK}]*$`;
}

function addRun(found: Set<string>, run: string): void {
  for (let at = 0; at < run.length; at = endOfCodePoint(run, at))
    if (run.charCodeAt(at) >= endOfMarks || !MARK.test(run.slice(at, at + 2)))
      addPrefixes(found, run, at, UNSPACED_LENGTHS);
}

function addPrefixes(found: Set<string>, word: string, from: number, { min, max }: { min: number; max: number }): void {
  let [end, length] = [from, 0];
  // A code point has at most two UTF-16 units.
  for (const point of word.slice(from, from + 2 * max)) {
    length += 1;
    if (length > max) return;
    end += point.length;
    // A word shorter than all prefixes is stored as it is.
    if (length >= min || end === word.length) found.add(word.slice(from, end));
  }
}
