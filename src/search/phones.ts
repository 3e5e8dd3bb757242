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
 * The ways to read a query that may hold a phone: its words as they are, and where numbers follow one another
 * ("+49 (170) 12") once more with each row of them as the beginning of a phone ("#4917012"). A record matches when it
 * matches every word of some reading: a marked word must begin its phone's digits, another must begin one of its words.
 * One or two readings; none where the query has no word.
 */
export function queryReadings(text: string): string[][] {
  const words = wordsInTurn(text);
  if (words.length === 0) return [];
  const joined = joinNumbers(words);
  const readings = joined.length === words.length ? [words] : [words, joined];
  return readings.map((reading) => [...new Set(reading)]);
}

function joinNumbers(words: string[]): string[] {
  const rows: string[][] = [];
  for (const word of words) {
    const row = rows.at(-1);
    if (row !== undefined && NUMBER.test(row[0] ?? "") && NUMBER.test(word)) row.push(word);
    else rows.push([word]);
  }
  return rows.map((row) => (row.length === 1 ? "" : PHONE_MARK) + row.join(""));
}
