// Phones: found by the beginning of their digits, however record and query are spaced (contract §3.2).
import { fold } from "./fold.ts";
import type { Terms } from "./terms.ts";
import { CONTACT_SHAPE, PHONE_MARK, terms } from "./terms.ts";
import { recordWords, wordsInTurn } from "./words.ts";

const NUMBER = /^[0-9]+$/;

/** The words of a phone: those of its text, and all its digits in one; none for null. */
export function phoneWords(phone: string | null | undefined): string[] {
  if (!phone) return [];
  return [...new Set([...recordWords(phone), digitsOf(phone)])].filter((word) => word !== "");
}

function digitsOf(phone: string | null | undefined): string {
  return phone ? fold(phone).replace(/[^0-9]+/g, "") : "";
}

/**
 * The terms of a contact with these words and this phone. The phone's digits are repeated at the end of `n`, after a
 * mark that no word contains. The mark is there without a phone as well: it distinguishes these terms from older
 * releases'.
 */
export function contactTerms(words: readonly string[], phone: string | null | undefined): Terms {
  const { g, n } = terms([...words, ...phoneWords(phone)], CONTACT_SHAPE);
  return { g, n: `${n}${PHONE_MARK}${digitsOf(phone)} ` };
}

/**
 * The most readings of a query: enough for a phone anywhere among six numbers, and at either end of nine in a
 * row. Of more numbers only the likeliest places are tried. So a query has at most 15 words more to look up than it is
 * typed with, and all of them share one bound (`planReadings`): fifty numbers cost no more than fifty other words.
 */
const mostReadings = 16;

/** A word of a query that is not a number, or consecutive numbers. A `+` ends a row and begins another. */
interface Row {
  readonly words: string[];
  readonly hasPlus: boolean;
}

/** Which numbers of a row are read as the beginning of a phone. */
interface Place {
  readonly row: Row;
  readonly from: number;
  readonly to: number;
}

/**
 * The ways to read a query that may hold a phone: its words as they are, and where numbers follow one another
 * ("42 49 (170) 12") once more for each place of a phone among them, with its numbers as the beginning of a phone
 * ("42 #4917012"). A record matches when it matches every word of some reading: a marked word must begin its phone's
 * digits, another must begin one of its words. None where the query has no word.
 */
export function queryReadings(text: string): string[][] {
  const rows = rowsOf(text);
  if (rows.length === 0) return [];
  const readings = new Map<string, string[]>();
  for (const words of readingsOf(rows)) {
    const reading = [...new Set(words)];
    readings.set(reading.join(" "), reading);
    if (readings.size === mostReadings) break;
  }
  return [...readings.values()];
}

function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  for (const [at, part] of fold(text).split("+").entries()) {
    for (const [place, word] of wordsInTurn(part).entries()) {
      const row = rows.at(-1);
      if (place > 0 && row !== undefined && NUMBER.test(row.words[0] ?? "") && NUMBER.test(word)) row.words.push(word);
      else rows.push({ words: [word], hasPlus: at > 0 && place === 0 });
    }
  }
  return rows;
}

/** The likeliest first. */
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
 * The places of one phone: at the end or the beginning of a row, with few other numbers before many, then amid a row. A
 * phone typed with a `+` begins there.
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
