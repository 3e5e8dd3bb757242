// Counts the documents that have a search term, newest first and up to a limit.
import type { Collection, Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import { read } from "./read.ts";
import { termsField } from "./search-fields.ts";
import { listIndex, searchIndex } from "./search-index.ts";

/** The maximum number of documents that the first command counts for each word. */
export const firstCountLimit = 200;
/** If every word reaches that number, these larger limits are checked to find the rarest word. */
const triedAt = [1_000, 5_000] as const;
/**
 * The maximum number of index keys that a query passes over, shared by its words. Each word gets at least
 * `firstCountLimit`, and its keys up to the lower bound are passed over twice.
 */
const maxPassed = 20_000;

/** A condition on the rank that limits a search to part of an account. */
export interface RankRange {
  readonly rank?: Document;
}

/**
 * The number of documents with a term, up to a limit. If the limit was reached, `since` is the rank of the last one
 * counted.
 */
export interface TermCount {
  readonly term: string | undefined;
  readonly count: number;
  readonly since: number | undefined;
}

/** Counts the documents of all terms by one command, from index keys alone. An undefined term counts all documents. */
export async function countTerms(
  collection: Collection<Document>,
  scope: Scope,
  terms: readonly (string | undefined)[],
  within: RankRange,
): Promise<ReadonlyMap<string | undefined, TermCount>> {
  const pipelines = terms.map((term, at): Document[] => [
    ...newestWith(scope, term, within),
    { $limit: firstCountLimit },
    { $group: { _id: at, count: { $sum: 1 }, since: { $min: "$rank" } } },
  ]);
  const rows = await readUnion<{ _id: number; count: number; since: number }>(collection, scope, terms, pipelines);
  const found = new Map(rows.map((row) => [row._id, row]));
  return new Map(
    terms.map((term, at) => {
      const { count, since } = found.get(at) ?? { count: 0, since: undefined };
      return [term, { term, count, since: count < firstCountLimit ? undefined : since }];
    }),
  );
}

/**
 * Checks by one command whether each term has as many documents as the higher bounds: passing over keys costs a third
 * of counting them. Each group contains the terms whose rarest is wanted.
 */
export async function compareTermCounts(
  collection: Collection<Document>,
  scope: Scope,
  groups: readonly (readonly TermCount[])[],
  within: RankRange,
): Promise<ReadonlyMap<TermCount, TermCount>> {
  const counts = [...new Set(groups.flat())];
  // A term without others needs no comparison.
  const compared = new Set(groups.filter(({ length }) => length > 1).flat());
  // The search of each group then scans up to the bound, so groups share it as terms do.
  const share = Math.max(firstCountLimit, Math.floor(maxPassed / Math.max(counts.length, groups.length)));
  // A lower bound near the share would pass over its keys twice and say little.
  const bounds = share < 2 * triedAt[0] ? [share] : [...new Set(triedAt.map((bound) => Math.min(bound, share)))];
  const pipelines = counts.flatMap((one, at) =>
    (compared.has(one) ? bounds : bounds.slice(-1)).map((bound): Document[] => [
      ...newestWith(scope, one.term, within),
      { $skip: bound - 1 },
      { $limit: 1 },
      { $project: { _id: 0, rank: 1, at: { $literal: at }, bound: { $literal: bound } } },
    ]),
  );
  const terms = counts.map(({ term }) => term);
  const rows = await readUnion<{ at: number; bound: number; rank: number }>(collection, scope, terms, pipelines);
  return new Map(
    counts.map((one, at) => {
      const reached = rows.filter((row) => row.at === at);
      const last = reached.find(({ bound }) => bound === bounds.at(-1));
      const count = Math.max(one.count, ...reached.map(({ bound }) => bound));
      return [one, { term: one.term, count, since: last?.rank }];
    }),
  );
}

function newestWith({ accountId }: Scope, term: string | undefined, within: RankRange): Document[] {
  const match = { account_id: accountId, ...(term === undefined ? {} : { [termsField]: term }), ...within };
  return [{ $match: match }, { $sort: { rank: -1 } }];
}

function readUnion<T extends Document>(
  collection: Collection<Document>,
  scope: Scope,
  terms: readonly (string | undefined)[],
  [first = [], ...others]: readonly Document[][],
): Promise<T[]> {
  const unions = others.map((pipeline) => ({ $unionWith: { coll: collection.collectionName, pipeline } }));
  const hint = terms.includes(undefined) ? listIndex : searchIndex;
  return read<T>(collection, scope, [...first, ...unions], { hint });
}
