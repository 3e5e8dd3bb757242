// Finds contacts by a name with a wrong letter or with other blanks, for queries without another match (contract §3.2).
import type { Collection, Document, UUID } from "mongodb";
import type { Scope } from "../call/scope.ts";
import { checkStages } from "../db/page.ts";
import { read } from "../db/read.ts";
import { termsField } from "../db/search-fields.ts";
import { searchIndex } from "../db/search-index.ts";
import { anyOf, searchTextConditions } from "../db/word-search.ts";
import { canBeDivided, canBeMisspelt, correctionsOf, rightBeginningsOf } from "../search/misspellings.ts";
import type { Reading } from "../search/readings.ts";
import { wordsOf } from "../search/readings.ts";
import {
  checkPattern,
  CONTACT_SHAPE,
  dividedNamePattern,
  isPhone,
  longestBeginning,
  nameProbe,
  probe,
  wholeNameTerm,
} from "../search/terms.ts";
import { isUnspaced } from "../search/words.ts";

/** MongoDB merges the scans of up to 200 terms in the order of the index. */
const termsAtOnce = 150;
/** The maximum number of corrected words of a query. Two words of an Indian script can have more. */
const maxCorrections = 4_500;
/** The maximum number of contacts for each scan that are checked for the other words of a query. */
const maxChecked = 5_000;

/** The maximum number of beginnings that are looked up. */
const maxBeginnings = 60;
/** The maximum number of ways to join or divide words of a query. It allows every way for five words. */
const maxDivided = 15;

interface Beginning {
  readonly beginning: string;
}

/** The contacts that have one of the terms, of which the newest are checked. */
interface Scan {
  readonly terms: readonly string[];
  readonly checked: Document;
}

interface Found {
  readonly _id: UUID;
  readonly rank: number;
}

/**
 * Returns the ids of the contacts whose whole name is the query with other blanks, by one of its `keys`; whose names
 * have one word of a reading misspelt, or join or divide some with other blanks, and that have all its other words:
 * newest first, at most `limit`. One command looks up the beginnings of the words, and another one every correction
 * that begins like a name, so the cost does not depend on the size of the account.
 */
export async function findMisspelt(
  contacts: Collection<Document>,
  scope: Scope,
  { readings, keys }: { readonly readings: readonly Reading[]; readonly keys: readonly string[] },
  condition: Document,
  limit: number,
  narrowing: readonly Document[] = [],
): Promise<UUID[]> {
  let left = maxCorrections;
  const misspelt = wordsOf(readings).filter(canBeMisspelt);
  const rightLettersOf = await lookUpBeginnings(contacts, scope, misspelt);
  const corrected = misspelt.flatMap((word): Scan[] => {
    const terms = correctionsOf(word, rightLettersOf(word)).slice(0, left);
    left -= terms.length;
    const others = readings
      .filter(({ words }) => words.includes(word))
      .map(({ words }) => words.filter((other) => other !== word).map((other) => checkPattern(other, CONTACT_SHAPE)));
    const checked = anyOf(others.map((patterns) => searchTextConditions(patterns)));
    return chunksOf(terms.map((one) => nameProbe(one).term)).map((some) => ({ terms: some, checked }));
  });
  const whole = keys.length === 0 ? [] : [{ terms: keys.map(wholeNameTerm), checked: {} }];
  const scans = [...whole, ...corrected, ...dividedScans(readings, rightLettersOf)].map(({ terms, checked }) => ({
    filter: { account_id: scope.accountId, [termsField]: { $in: terms } },
    newest: [
      { $sort: { rank: -1 } },
      ...checkStages({ ...checked, ...condition }, maxChecked),
      ...narrowing,
      { $limit: limit },
      { $project: { rank: 1 } },
    ],
  }));
  const [first, ...more] = scans;
  if (first === undefined) return [];
  const unions = more.map(({ filter, newest }) => ({
    $unionWith: { coll: contacts.collectionName, pipeline: [{ $match: filter }, ...newest] },
  }));
  const stages = [{ $match: first.filter }, ...first.newest, ...unions];
  const rows = await read<Found>(contacts, scope, stages, { hint: searchIndex });
  const byId = new Map(rows.map((row) => [row._id.toHexString(), row]));
  // Of the same rank, they stay in the order of their scans, which is the same for each page.
  const newest = [...byId.values()].sort((a, b) => b.rank - a.rank);
  return newest.slice(0, limit).map(({ _id }) => _id);
}

/** Returns the scans for names with a blank within a word of a reading, or without the blanks between some of them. */
function dividedScans(readings: readonly Reading[], rightLettersOf: (word: string) => number): Scan[] {
  const scans = new Map<string, Scan>();
  for (const { words, ofPrevious } of readings) {
    if (ofPrevious || words.some(isPhone)) continue;
    for (const [from, one] of words.entries())
      for (let to = from + 1; to <= words.length; to += 1) {
        const word = words.slice(from, to).join("");
        // Names in scripts without blanks are found with other blanks anyway.
        if (scans.size === maxDivided || !canBeDivided(words.slice(from, to)) || isUnspaced(word)) continue;
        const letters = [...word];
        // A name that divides a word has its beginning as a whole word.
        const beginnings = letters.slice(1, rightLettersOf(one) + 1).map((_, at) => letters.slice(0, at + 1).join(""));
        const terms =
          to - from > 1 ? [probe(word, CONTACT_SHAPE).term] : beginnings.map((other) => nameProbe(other).term);
        const others = [...words.slice(0, from), ...words.slice(to)];
        const patterns = [dividedNamePattern(word), ...others.map((other) => checkPattern(other, CONTACT_SHAPE))];
        if (terms.length > 0)
          scans.set([word, ...others].join(" "), { terms, checked: searchTextConditions(patterns) });
      }
  }
  return [...scans.values()];
}

/**
 * Looks up the beginnings of words. Returns a function that returns the number of letters after which a word can have
 * its wrong letter, because a name begins with them.
 *
 * Most look-ups find nothing. Where many contacts were deleted, each of those steps over the index keys of the deleted
 * ones, which MongoDB keeps for minutes.
 */
async function lookUpBeginnings(
  contacts: Collection<Document>,
  scope: Scope,
  words: readonly string[],
): Promise<(word: string) => number> {
  const beginningsOf = (word: string): string[] => rightBeginningsOf(word, longestBeginning(word, CONTACT_SHAPE));
  const beginnings = [...new Set(words.flatMap(beginningsOf))].slice(0, maxBeginnings);
  const [first, ...more] = beginnings.map((beginning) => ({
    filter: { account_id: scope.accountId, [termsField]: beginning },
    one: [{ $limit: 1 }, { $project: { _id: 0, beginning: { $literal: beginning } } }],
  }));
  if (first === undefined) return () => Infinity;
  const unions = more.map(({ filter, one }) => ({
    $unionWith: { coll: contacts.collectionName, pipeline: [{ $match: filter }, ...one] },
  }));
  const stages = [{ $match: first.filter }, ...first.one, ...unions];
  const rows = await read<Beginning>(contacts, scope, stages, { hint: searchIndex });
  const found = new Set(rows.map(({ beginning }) => beginning));
  const isMissing = new Set(beginnings.filter((beginning) => !found.has(beginning)));
  return (word) => {
    const missing = beginningsOf(word).find((beginning) => isMissing.has(beginning));
    return missing === undefined ? Infinity : [...missing].length - 1;
  };
}

function chunksOf(terms: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(terms.length / termsAtOnce) }, (_, at) =>
    terms.slice(at * termsAtOnce, (at + 1) * termsAtOnce),
  );
}
