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
 * The maximum number of index keys that a query passes over and then scans, shared by its words and scans. Each gets at
 * least `firstCountLimit`.
 */
const maxKeys = 40_000;

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

/** What to find out about terms. */
export interface TermQuestions {
  /** Terms to count. An undefined one counts all documents. */
  readonly terms?: readonly (string | undefined)[];
  /** Groups of counted terms that all reached the limit, and of which the rarest is wanted. */
  readonly groups?: readonly (readonly TermCount[])[];
}

/**
 * Counts terms by one command, if there are any, from index keys alone. For the terms of groups, checks whether each has
 * as many documents as the higher bounds: passing over keys costs a third of counting them.
 */
export async function countTerms(
  collection: Collection<Document>,
  scope: Scope,
  { terms = [], groups = [] }: TermQuestions,
  within: RankRange,
): Promise<ReadonlyMap<string | undefined, TermCount>> {
  const compared = [...new Set(groups.flat())];
  // A term without others needs no comparison.
  const ofSeveral = new Set(groups.filter(({ length }) => length > 1).flat());
  const bounds = boundsOf(compared.length, Math.min(groups.length, compared.length));
  const pipelines = [
    ...terms.map((term, at): Document[] => [
      ...newestWith(scope, term, within),
      { $limit: firstCountLimit },
      { $group: { _id: at, count: { $sum: 1 }, since: { $min: "$rank" } } },
    ]),
    ...compared.flatMap((one, at) =>
      (ofSeveral.has(one) ? bounds : bounds.slice(-1)).map((bound): Document[] => [
        ...newestWith(scope, one.term, within),
        { $skip: bound - 1 },
        { $limit: 1 },
        { $project: { _id: 0, rank: 1, at: { $literal: at }, bound: { $literal: bound } } },
      ]),
    ),
  ];
  if (pipelines.length === 0) return new Map();
  const rows = await readUnion<Counted | Reached>(
    collection,
    scope,
    [...terms, ...compared.map(({ term }) => term)],
    pipelines,
  );
  const counts = new Map(rows.flatMap((row) => ("count" in row ? [[row._id, row] as const] : [])));
  const reached = rows.flatMap((row) => ("bound" in row ? [row] : []));
  return new Map([
    ...terms.map((term, at) => {
      const { count, since } = counts.get(at) ?? { count: 0, since: undefined };
      return [term, { term, count, since: count < firstCountLimit ? undefined : since }] as const;
    }),
    ...compared.map(({ term, count }, at) => {
      const own = reached.filter((row) => row.at === at);
      const last = own.find(({ bound }) => bound === bounds.at(-1));
      return [term, { term, count: Math.max(count, ...own.map(({ bound }) => bound)), since: last?.rank }] as const;
    }),
  ]);
}

/** Returns the bounds for the terms that are compared, of which `scans` drive a scan. */
function boundsOf(terms: number, scans: number): number[] {
  const share = Math.floor(maxKeys / (terms + scans));
  // A lower bound near the share would pass over its keys twice and say little.
  if (share < 3 * triedAt[0]) return [Math.max(firstCountLimit, share)];
  return [triedAt[0], Math.min(triedAt[1], Math.floor((maxKeys - terms * triedAt[0]) / (terms + scans)))];
}

/** The count of a term by its place, and the rank of the last document counted. */
interface Counted {
  readonly _id: number;
  readonly count: number;
  readonly since: number;
}

/** A bound that a term reaches, by its place, with the rank of the document there. */
interface Reached {
  readonly at: number;
  readonly bound: number;
  readonly rank: number;
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
