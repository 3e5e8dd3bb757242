// Finding documents by words: which word drives the index, and how the others are checked (contract §3.1, §3.7).
import type { Collection, Document } from "mongodb";
import type { Scope } from "../guards/scope.ts";
import type { SearchShape } from "../search/terms.ts";
import { checkPattern, isDecidedByTerm, probe, wholeCheckPattern, wholeProbe } from "../search/terms.ts";
import type { PageRequest } from "./page.ts";
import { read } from "./read.ts";
import { isWithoutIndex } from "./search-index.ts";

/** The index `{account_id, g, rank: -1}` that every searchable collection has under this name. */
export const searchIndex = "search";
/** The index `{account_id, rank: -1}`. */
export const listIndex = "list";

/**
 * Words are counted up to the first bound; only when all of them reach it, up to the second, to find which is rarer.
 */
const countBounds = [200, 5_000] as const;
/** The number of index keys that one query counts over all its words; each word still gets at least the first bound. */
const mostCounted = 20_000;

/** The words of a query, the word that drives the index scan, and how far back the scan goes. */
export interface WordPlan {
  readonly words: readonly string[];
  /** Undefined where no word is long enough for the index: then the account is scanned, newest first. */
  readonly driver: string | undefined;
  /**
   * Which drives where all words are to be whole ones; undefined where no document has them all, or the shape keeps
   * none.
   */
  readonly wholeDriver: string | undefined;
  /**
   * The lowest rank that is scanned; undefined where the driver has fewer documents than the bound, or nothing is
   * checked.
   */
  readonly since: number | undefined;
  readonly wholeSince: number | undefined;
}

/** Limits the search to a part of the account: a condition on the rank. */
export interface Within {
  readonly rank?: Document;
}

/** A page that is searched by words. */
export interface PageSearch<T> {
  readonly page: PageRequest;
  readonly within: Within;
  /** Runs a plan: the rows of the page, and one more where there are more. */
  run(plan: WordPlan): Promise<T[]>;
}

/**
 * Plans a query for words that must all be found: the rarest drives, the others are checked in the documents that it
 * finds, the newest 5,000 of them at most. Undefined when a word has no match at all. One word needs no command, unless
 * the index does not hold all of it; several need one, rarely two.
 */
export async function planWords(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
): Promise<WordPlan | undefined> {
  let counting = planUncounted(words, shape);
  for (const most of indexedOf(words, shape).length < 2 ? countBounds.slice(-1) : countBounds) {
    if (counting?.isFinal) break;
    counting = await planByCounts(collection, scope, words, shape, most, {});
  }
  return counting?.plan;
}

/**
 * Searches a page by words. Where each of them is frequent, the newest 200 documents of one are searched before all are
 * counted further: they mostly fill a first page. While a large import has taken the search index away, the account is
 * walked, newest first.
 */
export async function searchPage<T>(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
  { page, within, run }: PageSearch<T>,
): Promise<T[]> {
  try {
    const uncounted = planUncounted(words, shape);
    if (uncounted?.plan !== undefined) return await run(uncounted.plan);
    const [few, many] = countBounds;
    const { plan, isFinal } = await planByCounts(collection, scope, words, shape, few, within);
    if (plan === undefined) return [];
    const rows = isFinal || page.offset + page.limit < few ? await run(plan) : [];
    if (isFinal || rows.length > page.limit) return rows;
    const counted = await planByCounts(collection, scope, words, shape, many, within);
    return counted.plan === undefined ? [] : await run(counted.plan);
  } catch (error) {
    if (!isWithoutIndex(error)) throw error;
    return run({ words, driver: undefined, wholeDriver: undefined, since: undefined, wholeSince: undefined });
  }
}

/** A plan by what is known of the words. */
interface Planned {
  /** Undefined where a word has no match. */
  readonly plan: WordPlan | undefined;
  /** Whether nothing changes by counting further. */
  readonly isFinal: boolean;
}

/** The plan for one word that the index holds whole; undefined where words have to be counted. */
function planUncounted(words: readonly string[], shape: SearchShape): Planned | undefined {
  const [word] = words;
  if (word === undefined || words.length > 1 || !isDecidedByTerm(word, shape)) return undefined;
  const wholeDriver = shape.whole ? word : undefined;
  return { plan: { words, driver: word, wholeDriver, since: undefined, wholeSince: undefined }, isFinal: true };
}

/** The plan by counts up to `most`, by one command. */
async function planByCounts(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
  most: number,
  within: Within,
): Promise<Planned> {
  const indexed = indexedOf(words, shape);
  const beginnings = indexed.length === 0 ? [undefined] : indexed.map((word) => probe(word, shape)?.term);
  const wholes = shape.whole ? indexed.map((word) => wholeProbe(word).term) : [];
  const share = Math.floor(mostCounted / (beginnings.length + wholes.length));
  const bound = Math.min(most, Math.max(countBounds[0], share));
  const counts = await countTerms(collection, scope, [...beginnings, ...wholes], bound, within);
  const [begun, whole] = [counts.slice(0, beginnings.length), counts.slice(beginnings.length)];
  if (begun.some(({ count }) => count === 0)) return { plan: undefined, isFinal: true };
  const isDecided = (those: readonly Counted[]): boolean =>
    those.length === 0 || those.some(({ count }) => count < bound);
  const first = rarest(indexed, begun);
  const firstWhole = whole.some(({ count }) => count === 0) ? undefined : rarest(indexed, whole);
  const plan = {
    words,
    driver: first?.word,
    wholeDriver: firstWhole?.word,
    since: (first ?? begun[0])?.since,
    wholeSince: firstWhole?.since,
  };
  return { plan, isFinal: isDecided(begun) && isDecided(whole) };
}

/** The words that are long enough for the index. */
function indexedOf(words: readonly string[], shape: SearchShape): string[] {
  return words.filter((word) => probe(word, shape) !== undefined);
}

/**
 * The filter of a plan: one term of the index, and checks on the words' text. Never on `g`: that would move its bounds.
 */
export function planFilter(plan: WordPlan, shape: SearchShape, within: Within = {}): Document {
  const driving = plan.driver === undefined ? undefined : probe(plan.driver, shape);
  const checked = plan.words.filter((word) => word !== plan.driver || driving?.exact !== true);
  return {
    ...(driving === undefined ? {} : { g: driving.term }),
    ...sinceFilter(plan.since, within),
    ...checks(checked.map(checkPattern)),
  };
}

/** The filter for whole words: a term and checks. Undefined where no document has all of them. */
export function wholeFilter({ words, wholeDriver, wholeSince }: WordPlan): Document | undefined {
  if (wholeDriver === undefined) return undefined;
  const { term, exact } = wholeProbe(wholeDriver);
  const checked = words.filter((word) => word !== wholeDriver || !exact);
  return { g: term, ...sinceFilter(wholeSince, {}), ...checks(checked.map(wholeCheckPattern)) };
}

function sinceFilter(since: number | undefined, { rank }: Within): Document {
  return since === undefined && rank === undefined
    ? {}
    : { rank: { ...rank, ...(since === undefined ? {} : { $gte: since }) } };
}

/** Conditions on the words' text. */
export function checks(patterns: readonly string[]): Document {
  return patterns.length === 0 ? {} : { $and: patterns.map((pattern) => ({ n: { $regex: pattern } })) };
}

/** How many documents have a term, up to the bound; where the bound was reached, the rank of the last one counted. */
interface Counted {
  readonly count: number;
  readonly since: number | undefined;
}

/** All counts in one command: index keys are counted, no document is read. Without a term all documents count. */
async function countTerms(
  collection: Collection<Document>,
  scope: Scope,
  terms: readonly (string | undefined)[],
  bound: number,
  within: Within,
): Promise<Counted[]> {
  const counting = terms.map((term, at): Document[] => [
    { $match: { account_id: scope.accountId, ...(term === undefined ? {} : { g: term }), ...within } },
    { $sort: { rank: -1 } },
    { $limit: bound },
    { $group: { _id: at, count: { $sum: 1 }, since: { $min: "$rank" } } },
  ]);
  const [first = [], ...others] = counting;
  const unions = others.map((pipeline) => ({ $unionWith: { coll: collection.collectionName, pipeline } }));
  const hint = terms.includes(undefined) ? listIndex : searchIndex;
  const rows = await read<{ _id: number; count: number; since: number }>(collection, scope, [...first, ...unions], {
    hint,
  });
  const counts: Counted[] = terms.map(() => ({ count: 0, since: undefined }));
  for (const { _id, count, since } of rows) counts[_id] = { count, since: count < bound ? undefined : since };
  return counts;
}

/** Of equally rare words the longer one: it is likelier to be rare beyond the bound. */
function rarest(
  words: readonly string[],
  counts: readonly Counted[],
): (Counted & { readonly word: string }) | undefined {
  const order = words.map((word, at) => ({ word, count: 0, since: undefined, ...counts[at] }));
  order.sort((a, b) => a.count - b.count || b.word.length - a.word.length);
  return order[0];
}
