// Counts the documents that have a search term, newest first and up to a bound.
import type { Collection, Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import { read } from "./read.ts";
import { listIndex, searchIndex } from "./search-index.ts";

/** How many documents of each word are counted at first. */
export const counted = 200;
/** Where every word has as many, each is tried at these numbers, to find out which word is rarer. */
const triedAt = [1_000, 5_000] as const;
/**
 * How many index keys a query passes over, shared by its words. Each word has at least `counted` of them, and passes
 * over those up to the lower bound twice.
 */
const mostPassed = 20_000;

/** Limits the search to a part of the account: a condition on the rank. */
export interface Within {
  readonly rank?: Document;
}

/** How many documents have a term, up to a bound; where the bound was reached, the rank of the last one counted. */
export interface Counted {
  readonly term: string | undefined;
  readonly count: number;
  readonly since: number | undefined;
}

/** All counts in one command: index keys are counted, no document is read. Without a term all documents count. */
export async function countTerms(
  collection: Collection<Document>,
  scope: Scope,
  terms: readonly (string | undefined)[],
  within: Within,
): Promise<ReadonlyMap<string | undefined, Counted>> {
  const pipelines = terms.map((term, at): Document[] => [
    ...newestWith(scope, term, within),
    { $limit: counted },
    { $group: { _id: at, count: { $sum: 1 }, since: { $min: "$rank" } } },
  ]);
  const rows = await together<{ _id: number; count: number; since: number }>(collection, scope, terms, pipelines);
  const found = new Map(rows.map((row) => [row._id, row]));
  return new Map(
    terms.map((term, at) => {
      const { count, since } = found.get(at) ?? { count: 0, since: undefined };
      return [term, { term, count, since: count < counted ? undefined : since }];
    }),
  );
}

/**
 * Whether each term has as many documents as the bounds say, in one command: to pass over keys costs a third of
 * counting them. A group has the terms of which the rarest is looked for.
 */
export async function tryTerms(
  collection: Collection<Document>,
  scope: Scope,
  groups: readonly (readonly Counted[])[],
  within: Within,
): Promise<ReadonlyMap<Counted, Counted>> {
  const counts = [...new Set(groups.flat())];
  // A term without others has nothing to be rarer than.
  const compared = new Set(groups.filter(({ length }) => length > 1).flat());
  // Each group is then searched, up to the bound: they share it as the terms do.
  const share = Math.max(counted, Math.floor(mostPassed / Math.max(counts.length, groups.length)));
  const bounds = [...new Set(triedAt.map((bound) => Math.min(bound, share)))];
  const pipelines = counts.flatMap((one, at) =>
    (compared.has(one) ? bounds : bounds.slice(-1)).map((bound): Document[] => [
      ...newestWith(scope, one.term, within),
      { $skip: bound - 1 },
      { $limit: 1 },
      { $project: { _id: 0, rank: 1, at: { $literal: at }, bound: { $literal: bound } } },
    ]),
  );
  const terms = counts.map(({ term }) => term);
  const rows = await together<{ at: number; bound: number; rank: number }>(collection, scope, terms, pipelines);
  return new Map(
    counts.map((one, at) => {
      const reached = rows.filter((row) => row.at === at);
      const last = reached.find(({ bound }) => bound === bounds.at(-1));
      const count = Math.max(one.count, ...reached.map(({ bound }) => bound));
      return [one, { term: one.term, count, since: last?.rank }];
    }),
  );
}

function newestWith({ accountId }: Scope, term: string | undefined, within: Within): Document[] {
  const match = { account_id: accountId, ...(term === undefined ? {} : { g: term }), ...within };
  return [{ $match: match }, { $sort: { rank: -1 } }];
}

function together<T extends Document>(
  collection: Collection<Document>,
  scope: Scope,
  terms: readonly (string | undefined)[],
  [first = [], ...others]: readonly Document[][],
): Promise<T[]> {
  const unions = others.map((pipeline) => ({ $unionWith: { coll: collection.collectionName, pipeline } }));
  const hint = terms.includes(undefined) ? listIndex : searchIndex;
  return read<T>(collection, scope, [...first, ...unions], { hint });
}
