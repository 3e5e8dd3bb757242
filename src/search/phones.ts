// Phone search: matches the first digits of a phone, whatever the spacing of record and query (contract §3.2).
import { fold } from "./fold.ts";
import type { Terms } from "./terms.ts";
import { CONTACT_SHAPE, PHONE_MARK, terms } from "./terms.ts";
import { recordWords, splitWords } from "./words.ts";

const NUMBER = /^[0-9]+$/;

/** Returns the words of a phone: those of its text, and all its digits as one word. Returns no words for null. */
export function phoneWords(phone: string | null | undefined): string[] {
  if (!phone) return [];
  return [...new Set([...recordWords(phone), digitsOf(phone)])].filter((word) => word !== "");
}

function digitsOf(phone: string | null | undefined): string {
  return phone ? fold(phone).replace(/[^0-9]+/g, "") : "";
}

/**
 * Returns the search terms of a contact with these words and this phone. The text ends with a mark that no word
 * contains, the phone's digits and a blank. The mark is present even without a phone, to distinguish these terms from
 * those of older releases.
 */
export function contactTerms(words: readonly string[], phone: string | null | undefined): Terms {
  const { searchTerms, searchText } = terms([...words, ...phoneWords(phone)], CONTACT_SHAPE);
  return { searchTerms, searchText: `${searchText}${PHONE_MARK}${digitsOf(phone)} ` };
}

/**
 * The maximum number of readings of a query. It allows a phone anywhere among six numbers, or at either end of nine.
 * With more numbers, only the likeliest positions are tried. A query therefore looks up at most 15 words more than it
 * contains, and all share one bound (`planReadings`). Fifty numbers cost no more than fifty other words.
 */
const maxReadings = 16;

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
 * Returns the readings of a query that may contain a phone. The first reading has the words unchanged. Each further
 * reading joins consecutive numbers as the beginning of a phone. One reading of "42 49 (170) 12" is "42 #4917012".
 *
 * A record matches if it matches all words of at least one reading. A marked word must begin the phone's digits, and
 * any other word must begin a word of the record. Returns no readings for a query without words.
 */
export function queryReadings(text: string): string[][] {
  const rows = rowsOf(text);
  if (rows.length === 0) return [];
  const readings = new Map<string, string[]>();
  for (const words of readingsOf(rows)) {
    const reading = [...new Set(words)];
    readings.set(reading.join(" "), reading);
    if (readings.size === maxReadings) break;
  }
  return [...readings.values()];
}

function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  for (const [at, part] of fold(text).split("+").entries()) {
    for (const [place, word] of splitWords(part).entries()) {
      const row = rows.at(-1);
      if (place > 0 && row !== undefined && NUMBER.test(row.words[0] ?? "") && NUMBER.test(word)) row.words.push(word);
      else rows.push({ words: [word], hasPlus: at > 0 && place === 0 });
    }
  }
  return rows;
}

/** Yields the readings, likeliest first. */
function* readingsOf(rows: readonly Row[]): Generator<string[]> {
  yield rows.flatMap(({ words }) => words);
  yield rows.flatMap((row) => withPhone({ row, from: 0, to: row.words.length }));
  for (const place of placesIn(rows)) yield rows.flatMap((row) => (row === place.row ? withPhone(place) : row.words));
}

function withPhone({ row: { words }, from, to }: Place): string[] {
  if (to - from < 2) return words;
  return [...words.slice(0, from), PHONE_MARK + words.slice(from, to).join(""), ...words.slice(to)];
}

/**
 * Yields the possible positions of a phone: first at the end or the beginning of a row, then inside it. Positions with
 * fewer other numbers come first. A phone typed with a `+` begins there.
 */
function* placesIn(rows: readonly Row[]): Generator<Place> {
  const longest = Math.max(...rows.map(({ words }) => words.length));
  for (let others = 0; others <= longest - 2; others += 1) {
    for (const row of rows) {
      const { length } = row.words;
      if (length - others < 2) continue;
      if (!row.hasPlus) yield { row, from: others, to: length };
      yield { row, from: 0, to: length - others };
    }
  }
  for (let others = 2; others <= longest - 2; others += 1) {
    for (const row of rows) {
      const length = row.words.length - others;
      if (length < 2 || row.hasPlus) continue;
      for (let from = 1; from < others; from += 1) yield { row, from, to: from + length };
    }
  }
}
