// Finds contacts by a misspelt name, for queries without another match (contract §3.2).
import type { Collection, Document, UUID } from "mongodb";
import type { Scope } from "../call/scope.ts";
import { checkStages } from "../db/page.ts";
import { read } from "../db/read.ts";
import { termsField } from "../db/search-fields.ts";
import { searchIndex } from "../db/search-index.ts";
import { anyOf, searchTextConditions } from "../db/word-search.ts";
import { canBeMisspelt, correctionsOf } from "../search/misspellings.ts";
import type { Reading } from "../search/readings.ts";
import { wordsOf } from "../search/readings.ts";
import { checkPattern, CONTACT_SHAPE, nameProbe } from "../search/terms.ts";

/** MongoDB merges the scans of up to 200 terms in the order of the index. */
const termsAtOnce = 150;
/** The maximum number of corrected words of a query. Two words of an Indian script can have more. */
const maxCorrections = 4_500;
/** The maximum number of contacts for each scan that are checked for the other words of a query. */
const maxChecked = 500;

interface Found {
  readonly _id: UUID;
  readonly rank: number;
}

/**
 * Returns the ids of the contacts whose names have one word of a reading misspelt and all other words, newest first,
 * at most `limit`. One command looks up every correction, so the cost does not depend on the size of the account.
 */
export async function findMisspelt(
  contacts: Collection<Document>,
  scope: Scope,
  readings: readonly Reading[],
  condition: Document,
  limit: number,
): Promise<UUID[]> {
  let left = maxCorrections;
  const scans = wordsOf(readings)
    .filter(canBeMisspelt)
    .flatMap((word) => {
      const terms = correctionsOf(word).slice(0, left);
      left -= terms.length;
      const others = readings
        .filter(({ words }) => words.includes(word))
        .map(({ words }) => words.filter((other) => other !== word).map((other) => checkPattern(other, CONTACT_SHAPE)));
      const checked = { ...anyOf(others.map((patterns) => searchTextConditions(patterns))), ...condition };
      return chunksOf(terms.map((one) => nameProbe(one).term)).map((some) => ({
        filter: { account_id: scope.accountId, [termsField]: { $in: some } },
        newest: [
          { $sort: { rank: -1 } },
          ...checkStages(checked, maxChecked),
          { $limit: limit },
          { $project: { rank: 1 } },
        ],
      }));
    });
  const [first, ...more] = scans;
  if (first === undefined) return [];
  const unions = more.map(({ filter, newest }) => ({
    $unionWith: { coll: contacts.collectionName, pipeline: [{ $match: filter }, ...newest] },
  }));
  const stages = [{ $match: first.filter }, ...first.newest, ...unions];
  const rows = await read<Found>(contacts, scope, stages, { hint: searchIndex });
  const byId = new Map(rows.map((row) => [row._id.toHexString(), row]));
  const newest = [...byId.values()].sort(
    (a, b) => b.rank - a.rank || (a._id.toHexString() < b._id.toHexString() ? -1 : 1),
  );
  return newest.slice(0, limit).map(({ _id }) => _id);
}

function chunksOf(terms: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(terms.length / termsAtOnce) }, (_, at) =>
    terms.slice(at * termsAtOnce, (at + 1) * termsAtOnce),
  );
}
