// Finding documents by words: which word drives the index, and how the others are checked (contract §3.1, §3.7).
import type { Collection, Document } from "mongodb";
import type { Scope } from "../guards/scope.ts";
import type { SearchShape } from "../search/terms.ts";
import { checkPattern, probe, wholeProbe } from "../search/terms.ts";
import { read } from "./read.ts";
import { isWithoutIndex } from "./search-index.ts";

/** The index `{account_id, g, rank: -1}` that every searchable collection has under this name. */
export const searchIndex = "search";
/** The index `{account_id, rank: -1}`. */
export const listIndex = "list";

/** Words are counted up to the first bound; only when all of them reach it, up to the second, to tell which is rarer. */
const countBounds = [200, 2_000] as const;

/** The words of a query, the one that drives the index first. */
export interface WordPlan {
  readonly words: readonly string[];
  /** Undefined where no word is long enough for the index: then the whole account is walked, newest first. */
  readonly driver: string | undefined;
  /** Which drives where all words are to be whole ones; undefined where no document has them all, or the shape keeps none. */
  readonly wholeDriver: string | undefined;
}

/**
 * Plans a query for words that must all be found: the rarest drives, the others are checked in the documents that it
 * finds. Undefined when a word has no match at all. One word needs no command; several need one, rarely two.
 */
export async function planWords(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
): Promise<WordPlan | undefined> {
  const indexed = words.filter((word) => probe(word, shape) !== undefined);
  if (indexed.length < 2) return { words, driver: indexed[0], wholeDriver: shape.whole ? indexed[0] : undefined };
  const beginnings = indexed.map((word) => probe(word, shape)?.term);
  const wholes = shape.whole ? indexed.map((word) => wholeProbe(word).term) : [];
  let begun: readonly number[] = [];
  let whole: readonly number[] = [];
  for (const bound of countBounds) {
    const counts = await countTerms(collection, scope, [...beginnings, ...wholes], bound);
    begun = counts.slice(0, indexed.length);
    whole = counts.slice(indexed.length);
    if (begun.includes(0)) return undefined;
    const isTold = (those: readonly number[]): boolean => those.length === 0 || those.some((count) => count < bound);
    if (isTold(begun) && isTold(whole)) break;
  }
  return { words, driver: rarest(indexed, begun), wholeDriver: whole.includes(0) ? undefined : rarest(indexed, whole) };
}

/**
 * Plans a query and runs it; none is run where a word has no match. While a large import has taken the search index away,
 * the account is walked, newest first.
 */
export async function planned<T>(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
  run: (plan: WordPlan) => Promise<T[]>,
): Promise<T[]> {
  try {
    const plan = await planWords(collection, scope, words, shape);
    return plan === undefined ? [] : await run(plan);
  } catch (error) {
    if (!isWithoutIndex(error)) throw error;
    return run({ words, driver: undefined, wholeDriver: undefined });
  }
}

/** The filter of a plan: one term of the index, and checks on the words' text. Never on `g`: that would move its bounds. */
export function planFilter(plan: WordPlan, shape: SearchShape): Document {
  const driving = plan.driver === undefined ? undefined : probe(plan.driver, shape);
  const checked = plan.words.filter((word) => word !== plan.driver || driving?.exact !== true);
  return {
    ...(driving === undefined ? {} : { g: driving.term }),
    ...checks(checked.map(checkPattern)),
  };
}

/** Conditions on the words' text. */
export function checks(patterns: readonly string[]): Document {
  return patterns.length === 0 ? {} : { $and: patterns.map((pattern) => ({ n: { $regex: pattern } })) };
}

/** All counts in one command, none beyond the bound: index keys are counted, no document is read. */
async function countTerms(collection: Collection<Document>, scope: Scope, terms: readonly (string | undefined)[], bound: number): Promise<number[]> {
  const counting = terms.map((term, at): Document[] => [
    { $match: { account_id: scope.accountId, g: term } },
    { $limit: bound },
    { $count: "count" },
    { $set: { at } },
  ]);
  const [first = [], ...others] = counting;
  const unions = others.map((pipeline) => ({ $unionWith: { coll: collection.collectionName, pipeline } }));
  const rows = await read<{ at: number; count: number }>(collection, scope, [...first, ...unions], { hint: searchIndex });
  const counts = terms.map(() => 0);
  for (const { at, count } of rows) counts[at] = count;
  return counts;
}

/** Of equally rare words the longer one: it is likelier to be rare beyond the bound. */
function rarest(words: readonly string[], counts: readonly number[]): string | undefined {
  const order = words.map((word, at) => ({ word, count: counts[at] ?? 0 }));
  order.sort((a, b) => a.count - b.count || b.word.length - a.word.length);
  return order[0]?.word;
}
