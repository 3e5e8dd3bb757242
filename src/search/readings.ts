// Readings of a query: the ways to split it into words, each of which finds records (contract §3.1, §3.2).
import { fold, foldBefore } from "./fold.ts";
import { phoneReadings } from "./phones.ts";
import {
  andWordsIn,
  foldNameWithJoiners,
  foldWithJoiners,
  spellings,
  spellingsOfName,
  withAndSigns,
  withArticles,
  wordsIn,
} from "./words.ts";

/** The words of a query in one of its readings. A record matches if it matches all words of at least one reading. */
export interface Reading {
  readonly words: readonly string[];
  /** Whether it is compared only with records whose terms are those of the previous release. */
  readonly ofPrevious: boolean;
}

/**
 * The maximum number of readings of a query. It allows a phone anywhere among six numbers, or at either end of nine.
 * With more numbers, only the likeliest positions are tried. All readings share one bound (`planReadings`), so many
 * cost no more than many words.
 */
const maxReadings = 16;

/**
 * Returns the readings of a query over sessions or notes. The first one has the words as typed; others join some of
 * them. Returns none for a query without words. `withPrevious` adds the words as the previous release stored them.
 */
export function wordReadings(query: string, withPrevious: boolean): Reading[] {
  return readingsOf([query], withPrevious, foldWithJoiners);
}

/** The same over sessions, which have the names of their clients: letters with umlauts are also read as two letters. */
export function sessionReadings(query: string, withPrevious: boolean): Reading[] {
  return readingsOf(spellingsOfName(query), withPrevious, foldNameWithJoiners);
}

/**
 * Returns the readings of a query over contacts, which may contain a phone: a marked word must begin its digits.
 * Letters with umlauts are also read as two letters.
 */
export function contactReadings(query: string, withPrevious: boolean): Reading[] {
  const texts = likeliestFirst(spellingsOfName(query), foldNameWithJoiners);
  return distinct(varied(inTurns(texts), query), withPrevious ? phoneReadings(foldBefore(query)) : []);
}

function readingsOf(texts: readonly string[], withPrevious: boolean, foldText: (text: string) => string): Reading[] {
  const [typed = ""] = texts;
  const readings = likeliestFirst(texts, foldText).map(wordsIn);
  return distinct(varied(readings, typed), withPrevious ? [wordsIn(foldBefore(typed))] : []);
}

/**
 * Yields the readings of a query, each followed by the one in which an ampersand is in place of a word such as "and",
 * and then those with Arabic articles.
 */
function* varied(readings: Iterable<readonly string[]>, query: string): Generator<readonly string[]> {
  const andWords = andWordsIn(fold(query));
  const all: (readonly string[])[] = [];
  for (const words of readings) {
    yield words;
    if (andWords.size > 0) yield withAndSigns(words, andWords);
    all.push(words);
  }
  for (const words of all) yield* withArticles(words);
}

/** Returns the folded spellings of the texts: each as typed and with all its words joined, and then those between. */
function likeliestFirst(texts: readonly string[], foldText: (text: string) => string): string[] {
  const all = texts.map((text) => spellings(foldText(text)));
  return [...all.flatMap((some) => some.slice(0, 2)), ...all.flatMap((some) => some.slice(2))];
}

/** Returns the distinct words of all readings. */
export function wordsOf(readings: readonly Reading[]): string[] {
  return [...new Set(readings.flatMap(({ words }) => words))];
}

/**
 * Yields the readings of the texts in turns. A phone with many joiners has many spellings, and a query of many numbers
 * many readings: the first two of the text as typed come first, then the first one of each spelling.
 */
function* inTurns(texts: readonly string[]): Generator<string[]> {
  const typed = phoneReadings(texts[0] ?? "");
  for (let at = 0; at < 2; at += 1) yield typed.next().value ?? [];
  let left = texts.map(phoneReadings);
  while (left.length > 0) {
    const next = left.map((readings) => readings.next());
    yield* next.flatMap(({ value }) => (value === undefined ? [] : [value]));
    left = left.filter((_, at) => next[at]?.done === false);
  }
}

function distinct(now: Iterable<readonly string[]>, before: Iterable<readonly string[]>): Reading[] {
  const readings = new Map<string, Reading>();
  const add = (all: Iterable<readonly string[]>, ofPrevious: boolean, max: number): void => {
    for (const typed of all) {
      if (readings.size >= max) return;
      const words = [...new Set(typed)];
      const key = words.join(" ");
      if (key !== "" && !readings.has(key)) readings.set(key, { words, ofPrevious });
    }
  };
  add(now, false, maxReadings);
  add(before, true, 2 * maxReadings);
  return [...readings.values()];
}
