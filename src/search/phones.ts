// Phones: found by the beginning of their digits, however record and query are spaced (contract §3.2).
import { fold } from './fold.ts';
import { recordWords, wordsInTurn } from './words.ts';

const NUMBER = /^[0-9]+$/;

/** The words of a phone: those of its text, and all its digits in one; none for null. */
export function phoneWords(phone: string | null | undefined): string[] {
  if (!phone) return [];
  const digits = fold(phone).replace(/[^0-9]+/g, '');
  return [...new Set([...recordWords(phone), digits])].filter((word) => word !== '');
}

/**
 * The ways to read a query that may hold a phone: its words as they stand, and where numbers follow one another
 * ("+49 (170) 12") once more with each row of them as one word ("4917012"). A record matches when every word of some
 * reading is the beginning of one of its words. One or two readings; none where the query has no word.
 */
export function queryReadings(text: string): string[][] {
  const words = wordsInTurn(text);
  if (words.length === 0) return [];
  const joined = joinNumbers(words);
  const readings = joined.length === words.length ? [words] : [words, joined];
  return readings.map((reading) => [...new Set(reading)]);
}

function joinNumbers(words: string[]): string[] {
  const joined: string[] = [];
  let afterNumber = false;
  for (const word of words) {
    const isNumber = NUMBER.test(word);
    if (isNumber && afterNumber) joined[joined.length - 1] += word;
    else joined.push(word);
    afterNumber = isNumber;
  }
  return joined;
}
