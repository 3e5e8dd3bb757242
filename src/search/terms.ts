// Search terms and search text of a document, and the queries over them: an index has the terms, checks read the text.
import { endOfCodePoint } from "../text.ts";
import { isUnspaced } from "./words.ts";

/** The lengths of a word's stored prefixes, in code points, and whether the whole word is stored too, marked. */
export interface SearchShape {
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
}

/** Notes are numerous and long, so one-letter prefixes would make their index 14 % larger. */
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

/** The mark before a phone's digits in a search text, and before a query word that must match their beginning. */
export const PHONE_MARK = "#";

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
export function terms(words: Iterable<string>, shape: SearchShape): Terms {
  const found = new Set<string>();
  let text = "";
  for (const word of new Set(words)) {
    if (isUnspaced(word)) addRun(found, word);
    else addPrefixes(found, word, 0, shape);
    if (shape.whole) found.add(wholeProbe(word).term);
    text += ` ${word}`;
  }
  return { searchTerms: [...found], searchText: text && `${text} ` };
}

/**
 * Returns the longest search term of every document that has a word beginning with `word`, one of `queryWords`.
 * Returns undefined if the shape stores no prefix that short (one letter in notes). Then only `checkPattern` decides.
 */
export function probe(word: string, shape: SearchShape): Probe | undefined {
  if (isPhone(word)) return inexact(probe(word.slice(PHONE_MARK.length), shape));
  const { min, max } = isUnspaced(word) ? UNSPACED_LENGTHS : shape;
  let end = 0;
  let length = 0;
  for (; length < max && end < word.length; length += 1) end = endOfCodePoint(word, end);
  return length < min ? undefined : { term: word.slice(0, end), exact: end === word.length };
}

/**
 * Returns the search term of documents that contain `word`, one of `queryWords`, as a whole word (contract §3.2). The
 * shape must store whole words. The term is the word, at most 32 code points of it, and a blank, which no prefix
 * contains.
 */
export function wholeProbe(word: string): Probe {
  if (isPhone(word)) return { ...wholeProbe(word.slice(PHONE_MARK.length)), exact: false };
  if (word.length < WHOLE_LENGTH) return { term: `${word} `, exact: true };
  // 32 code points fit in twice as many UTF-16 units, which avoids spreading a word of 10,000 letters.
  const points = [...word.slice(0, 2 * WHOLE_LENGTH)].slice(0, WHOLE_LENGTH);
  return { term: `${points.join("")} `, exact: points.length < WHOLE_LENGTH };
}

/**
 * Returns the source of a regular expression, without flags, that finds in a search text a word with the beginning
 * `word`, one of `queryWords`. In a script without blanks a word may begin at any character, so the pattern contains
 * no leading blank. A word contains no characters to escape.
 */
export function checkPattern(word: string): string {
  if (isPhone(word)) return phonePattern(word, "");
  return isUnspaced(word) ? word : ` ${word}`;
}

/**
 * Whether a search text, as the current `terms` and `contactTerms` return it, has a word that begins with `word`, one
 * of `queryWords`.
 */
export function hasWord(searchText: string, word: string): boolean {
  return searchText.includes(isPhone(word) || isUnspaced(word) ? word : ` ${word}`);
}

/**
 * Returns the source of a regular expression, without flags, that finds in a search text the whole word `word`, one of
 * `queryWords`. In a script without blanks only a whole run counts. Otherwise every ending of 王小明 would be a whole
 * word, such as 小明.
 */
export function wholeCheckPattern(word: string): string {
  if (isPhone(word)) return phonePattern(word, " ");
  return ` ${word} `;
}

/**
 * Whether a word's term alone decides if a document matches. Also true for a phone, whose check excludes only few
 * documents.
 */
export function isDecidedByTerm(word: string, shape: SearchShape): boolean {
  return isPhone(word) || probe(word, shape)?.exact === true;
}

function isPhone(word: string): boolean {
  return word.startsWith(PHONE_MARK);
}

function inexact(found: Probe | undefined): Probe | undefined {
  return found && { ...found, exact: false };
}

/** Returns the pattern of a phone. In terms of older releases, which lack the mark, the digits are one of the words. */
function phonePattern(word: string, end: string): string {
  return `${word}${end}|^[^${PHONE_MARK}]* ${word.slice(PHONE_MARK.length)}${end}[^${PHONE_MARK}]*$`;
}

function addRun(found: Set<string>, run: string): void {
  for (let at = 0; at < run.length; at = endOfCodePoint(run, at)) addPrefixes(found, run, at, UNSPACED_LENGTHS);
}

function addPrefixes(found: Set<string>, word: string, from: number, { min, max }: { min: number; max: number }): void {
  let end = from;
  for (let length = 1; length <= max && end < word.length; length += 1) {
    end = endOfCodePoint(word, end);
    if (length >= min) found.add(word.slice(from, end));
  }
}
