// Readings of a query: the ways to split it into words, each of which finds records (contract §3.1, §3.2).
import { foldBefore } from "./fold.ts";
import { phoneReadings } from "./phones.ts";
import { foldWithJoiners, spellings, spellingsOfName, wordsIn } from "./words.ts";

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
  const now = spellings(foldWithJoiners(query)).map(wordsIn);
  return distinct(now, withPrevious ? [wordsIn(foldBefore(query))] : []);
}

/**
 * Returns the readings of a query over contacts, which may contain a phone: a marked word must begin its digits.
 * Letters with umlauts are also read as two letters.
 */
export function contactReadings(query: string, withPrevious: boolean): Reading[] {
  const now = spellingsOfName(query).flatMap((spelt) =>
    spellings(foldWithJoiners(spelt)).map((text) => [...phoneReadings(text)]),
  );
  const before = withPrevious ? [...phoneReadings(foldBefore(query))] : [];
  // A phone with many joiners has many spellings, and a query of many numbers many readings: the first two of the text
  // as typed come first, then the first one of each spelling.
  return distinct([...(now[0] ?? []).slice(0, 2), ...inTurns(now)], before);
}

/** Returns the distinct words of all readings. */
export function wordsOf(readings: readonly Reading[]): string[] {
  return [...new Set(readings.flatMap(({ words }) => words))];
}

function inTurns(lists: readonly (readonly string[][])[]): string[][] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

function distinct(now: readonly string[][], before: readonly string[][]): Reading[] {
  const readings = new Map<string, Reading>();
  const add = (all: readonly string[][], ofPrevious: boolean, max: number): void => {
    for (const typed of all) {
      const words = [...new Set(typed)];
      const key = words.join(" ");
      if (readings.size < max && key !== "" && !readings.has(key)) readings.set(key, { words, ofPrevious });
    }
  };
  add(now, false, maxReadings);
  add(before, true, 2 * maxReadings);
  return [...readings.values()];
}
