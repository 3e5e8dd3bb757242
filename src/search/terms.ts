// Terms: what a searchable document stores of its words, `g` for the index and `n` for the check, and how both are
// queried.
import { endOfCodePoint } from "../text.ts";
import { isUnspaced } from "./words.ts";

/** Which prefixes of a word are stored, in code points, and whether the whole word is stored beside them, marked. */
export interface SearchShape {
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
}

/** Notes are the many and the long: one-letter prefixes would make their index 14 % larger. */
export const NOTE_SHAPE: SearchShape = { min: 2, max: 8, whole: false };
/** Sessions: titles, subtitles and names. */
export const SESSION_SHAPE: SearchShape = { min: 1, max: 8, whole: false };
/** Contacts: names, addresses and phones; those with whole words come first (contract §3.2). */
export const CONTACT_SHAPE: SearchShape = { min: 1, max: 12, whole: true };

/**
 * In a script without blanks, whatever the document: one Han letter is a word by itself, and four say as much as
 * eight Latin ones.
 */
const UNSPACED_LENGTHS = { min: 1, max: 4 };

/** Precedes a phone's digits in `n`, and a query word that must match the beginning of a phone. */
export const PHONE_MARK = "#";

/**
 * Code points of a whole word that its term in the index keeps: of a longer one `wholeCheckPattern` checks the rest.
 */
const WHOLE_LENGTH = 32;

/** What a searchable document stores: `g`, the distinct index terms, and `n`, its words as one text. */
export interface Terms {
  g: string[];
  n: string;
}

/** A term that the `g` of every match holds. When `exact` it decides alone; else `checkPattern` has to hold as well. */
export interface Probe {
  term: string;
  exact: boolean;
}

/**
 * The terms of a record's words, as `recordWords` and `phoneWords` give them (contract §3.1): in `g` the prefixes of
 * the shape, in `n` each distinct word after a blank, with one more at the end (" met anna "); empty without a word.
 *
 * `g` has no cap by number: no query can know which records hit it, so what it dropped would be matches lost. Lengths
 * bound it, which record and query both know. In a spaced script a letter ends at most one prefix, in an unspaced one
 * four, and a word adds one where whole words are kept. A note's 10,000 code points fold to at most 6 unspaced letters
 * each (㌖) or 18 spaced ones (ﷺ): at most 240,000 terms of 29 bytes or 180,000 of 45, under 9 MB where BSON takes 16.
 * Plain text has no more than 10,000, or 40,000 in Han.
 */
export function terms(words: Iterable<string>, shape: SearchShape): Terms {
  const g = new Set<string>();
  let n = "";
  for (const word of new Set(words)) {
    if (isUnspaced(word)) addRun(g, word);
    else addPrefixes(g, word, 0, shape);
    if (shape.whole) g.add(wholeProbe(word).term);
    n += ` ${word}`;
  }
  return { g: [...g], n: n && `${n} ` };
}

/**
 * The longest term that a document needs in `g` to have a word beginning with `word`, one of `queryWords`.
 * Undefined when the shape stores no prefix so short (one letter in notes): then only `checkPattern` decides.
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
 * The term in `g` of the documents that have `word`, one of `queryWords`, as a whole word, where the shape keeps them
 * (contract §3.2): the word, at most 32 code points of it, and a blank, which no prefix holds.
 */
export function wholeProbe(word: string): Probe {
  if (isPhone(word)) return { ...wholeProbe(word.slice(PHONE_MARK.length)), exact: false };
  if (word.length < WHOLE_LENGTH) return { term: `${word} `, exact: true };
  // They lie within twice as many units: a word of 10,000 letters need not be spread out.
  const points = [...word.slice(0, 2 * WHOLE_LENGTH)].slice(0, WHOLE_LENGTH);
  return { term: `${points.join("")} `, exact: points.length < WHOLE_LENGTH };
}

/**
 * Source of a regular expression, without flags, that finds in `n` a word beginning with `word`, one of `queryWords`.
 * In a script without blanks every character begins a word, so none is requested. There is nothing to escape in a word.
 */
export function checkPattern(word: string): string {
  if (isPhone(word)) return phonePattern(word, "");
  return isUnspaced(word) ? word : ` ${word}`;
}

/** Whether `n`, as `terms` and `contactTerms` write it now, has a word beginning with `word`, one of `queryWords`. */
export function hasWord(n: string, word: string): boolean {
  return n.includes(isPhone(word) || isUnspaced(word) ? word : ` ${word}`);
}

/**
 * Source of a regular expression, without flags, that finds in `n` the whole word `word`, one of `queryWords`. In a
 * script without blanks only a whole run is one: of 王小明 the word 小明 is a beginning, else every ending were whole.
 */
export function wholeCheckPattern(word: string): string {
  if (isPhone(word)) return phonePattern(word, " ");
  return ` ${word} `;
}

/** Whether a word's term decides whether a document matches; for a phone a few documents need the check as well. */
export function isDecidedByTerm(word: string, shape: SearchShape): boolean {
  return isPhone(word) || probe(word, shape)?.exact === true;
}

function isPhone(word: string): boolean {
  return word.startsWith(PHONE_MARK);
}

function inexact(found: Probe | undefined): Probe | undefined {
  return found && { ...found, exact: false };
}

/** In terms without the mark, from older releases, the digits are one of the words. */
function phonePattern(word: string, end: string): string {
  return `${word}${end}|^[^${PHONE_MARK}]* ${word.slice(PHONE_MARK.length)}${end}[^${PHONE_MARK}]*$`;
}

function addRun(g: Set<string>, run: string): void {
  for (let at = 0; at < run.length; at = endOfCodePoint(run, at)) addPrefixes(g, run, at, UNSPACED_LENGTHS);
}

function addPrefixes(g: Set<string>, word: string, from: number, { min, max }: { min: number; max: number }): void {
  let end = from;
  for (let length = 1; length <= max && end < word.length; length += 1) {
    end = endOfCodePoint(word, end);
    if (length >= min) g.add(word.slice(from, end));
  }
}
