// Finding as a store does it: one word drives by its search term, the others are checked in the search text.
import type { Reading } from "../../src/search/readings.ts";
import { wordReadings } from "../../src/search/readings.ts";
import { recordWords } from "../../src/search/words.ts";
import {
  checkPattern,
  NOTE_SHAPE,
  probe,
  terms,
  wholeCheckPattern,
  wholeProbe,
  type SearchShape,
  type Terms,
} from "../../src/search/terms.ts";

/** Whether a stored document matches a query's words, when the word at `driver` drives. */
export function matchesTerms(
  { searchTerms, searchText }: Terms,
  words: readonly string[],
  driver: number,
  shape: SearchShape,
): boolean {
  return words.every((word, at) => {
    const driving = at === driver ? probe(word, shape) : undefined;
    if (driving && !searchTerms.includes(driving.term)) return false;
    return driving?.exact === true || new RegExp(checkPattern(word, shape)).test(searchText);
  });
}

/** The same with every word as a whole one. */
export function matchesStoredText(
  { searchTerms, searchText }: Terms,
  words: readonly string[],
  driver: number,
): boolean {
  return words.every((word, at) => {
    const driving = at === driver ? wholeProbe(word) : undefined;
    if (driving && !searchTerms.includes(driving.term)) return false;
    return driving?.exact === true || new RegExp(wholeCheckPattern(word)).test(searchText);
  });
}

/**
 * What a query finds in a note, in one of its readings, whichever of its words drives; a difference between the drivers
 * is an error.
 */
export function finds(record: string, query: string, shape: SearchShape = NOTE_SHAPE): boolean {
  return matchesReadings(terms(recordWords(record), shape), wordReadings(query, false), shape);
}

export function matchesReadings(stored: Terms, readings: readonly Reading[], shape: SearchShape): boolean {
  return readings.some(({ words }) => {
    const found = new Set(words.map((_, driver) => matchesTerms(stored, words, driver, shape)));
    if (found.size > 1) throw new Error(`the match depends on the driving word: ${words.join(" ")}`);
    return found.has(true);
  });
}
