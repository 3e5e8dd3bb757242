// Finding documents by words: which word drives the index, and how the others are checked (contract §3.1, §3.7).
import type { Collection, Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import type { SearchShape } from "../search/terms.ts";
import { checkPattern, isDecidedByTerm, probe, wholeCheckPattern, wholeProbe } from "../search/terms.ts";
import type { PageRequest } from "./page.ts";
import { read } from "./read.ts";
import { isWithoutIndex } from "./search-index.ts";

/** The index `{account_id, g, rank: -1}` that every searchable collection has under this name. */
export const searchIndex = "search";
export const termsIndex = {
  key: { account_id: 1, g: 1, rank: -1 },
  name: searchIndex,
  storageEngine: { wiredTiger: { configString: "block_compressor=zstd" } },
} as const;
/** The index `{account_id, rank: -1}`. */
export const listIndex = "list";

/** How many documents of each word are counted at first. */
const counted = 200;
/** Where every word has as many, each is tried at these numbers, to find out which word is rarer. */
const triedAt = [1_000, 5_000] as const;
/**
 * How many index keys a query passes over, shared by its words. Each word has at least `counted` of them, and passes
 * over those up to the lower bound twice.
 */
const mostPassed = 20_000;

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
 * finds, the newest 5,000 of them at most. Undefined when a word has no match at all. A word that the index holds whole
 * needs no command. Others need one, and two where all of them are frequent.
 */
export async function planWords(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
): Promise<WordPlan | undefined> {
  const uncounted = planUncounted(words, shape);
  if (uncounted !== undefined) return uncounted;
  const { plan, further } = await planByCounts(collection, scope, words, shape, {});
  return further === undefined ? plan : further();
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
    if (uncounted !== undefined) return await run(uncounted);
    const { plan, further } = await planByCounts(collection, scope, words, shape, within);
    if (plan === undefined) return [];
    const rows = further === undefined || page.offset + page.limit < counted ? await run(plan) : [];
    return further === undefined || rows.length > page.limit ? rows : await run(await further());
  } catch (error) {
    if (!isWithoutIndex(error)) throw error;
    return run({ words, driver: undefined, wholeDriver: undefined, since: undefined, wholeSince: undefined });
  }
}

/** A plan by what is known of the words. */
interface Planned {
  /** Undefined where a word has no match. */
  readonly plan: WordPlan | undefined;
  /** Makes a better plan, by one command; undefined where this one is the best. */
  readonly further: (() => Promise<WordPlan>) | undefined;
}

/** The plan for one word that the index holds whole; undefined where words have to be counted. */
function planUncounted(words: readonly string[], shape: SearchShape): WordPlan | undefined {
  const [word] = words;
  if (word === undefined || words.length > 1 || !isDecidedByTerm(word, shape)) return undefined;
  return { words, driver: word, wholeDriver: shape.whole ? word : undefined, since: undefined, wholeSince: undefined };
}

/** The plan by counts, by one command. */
async function planByCounts(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
  within: Within,
): Promise<Planned> {
  const indexed = indexedOf(words, shape);
  const beginnings = indexed.length === 0 ? [undefined] : indexed.map((word) => probe(word, shape)?.term);
  const wholes = shape.whole ? indexed.map((word) => wholeProbe(word).term) : [];
  const counts = await countTerms(collection, scope, [...beginnings, ...wholes], within);
  const [begun, whole] = [counts.slice(0, beginnings.length), counts.slice(beginnings.length)];
  if (begun.some(({ count }) => count === 0)) return { plan: undefined, further: undefined };
  const plan = planOf(words, indexed, begun, whole);
  const undecided = [begun, whole].filter(
    (those) => those.length > 0 && those.every(({ since }) => since !== undefined),
  );
  if (undecided.length === 0) return { plan, further: undefined };
  return {
    plan,
    async further() {
      const tried = await tryTerms(collection, scope, undecided, within);
      const better = (those: readonly Counted[]): Counted[] => those.map((one) => tried.get(one) ?? one);
      return planOf(words, indexed, better(begun), better(whole));
    },
  };
}

function planOf(
  words: readonly string[],
  indexed: readonly string[],
  begun: readonly Counted[],
  whole: readonly Counted[],
): WordPlan {
  const first = rarest(indexed, begun);
  const firstWhole = whole.some(({ count }) => count === 0) ? undefined : rarest(indexed, whole);
  return {
    words,
    driver: first?.word,
    wholeDriver: firstWhole?.word,
    since: (first ?? begun[0])?.since,
    wholeSince: firstWhole?.since,
  };
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

/** How many documents have a term, up to a bound; where the bound was reached, the rank of the last one counted. */
interface Counted {
  readonly term: string | undefined;
  readonly count: number;
  readonly since: number | undefined;
}

/** All counts in one command: index keys are counted, no document is read. Without a term all documents count. */
async function countTerms(
  collection: Collection<Document>,
  scope: Scope,
  terms: readonly (string | undefined)[],
  within: Within,
): Promise<Counted[]> {
  const pipelines = terms.map((term, at): Document[] => [
    ...newestWith(scope, term, within),
    { $limit: counted },
    { $group: { _id: at, count: { $sum: 1 }, since: { $min: "$rank" } } },
  ]);
  const rows = await together<{ _id: number; count: number; since: number }>(collection, scope, terms, pipelines);
  const found = new Map(rows.map((row) => [row._id, row]));
  return terms.map((term, at) => {
    const { count, since } = found.get(at) ?? { count: 0, since: undefined };
    return { term, count, since: count < counted ? undefined : since };
  });
}

/**
 * Whether each term has as many documents as the bounds say, in one command: to pass over keys costs a third of
 * counting them.
 */
async function tryTerms(
  collection: Collection<Document>,
  scope: Scope,
  groups: readonly (readonly Counted[])[],
  within: Within,
): Promise<ReadonlyMap<Counted, Counted>> {
  const counts = groups.flat();
  const share = Math.max(counted, Math.floor(mostPassed / counts.length));
  const bounds = [...new Set(triedAt.map((bound) => Math.min(bound, share)))];
  const pipelines = groups.flatMap((group) =>
    group.flatMap((one) =>
      // A term without others has nothing to be rarer than.
      (group.length === 1 ? bounds.slice(-1) : bounds).map((bound): Document[] => [
        ...newestWith(scope, one.term, within),
        { $skip: bound - 1 },
        { $limit: 1 },
        { $project: { _id: 0, rank: 1, at: { $literal: counts.indexOf(one) }, bound: { $literal: bound } } },
      ]),
    ),
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

/** Of equally rare words the longer one: it is likelier to be rare beyond the bound. */
function rarest(
  words: readonly string[],
  counts: readonly Counted[],
): (Counted & { readonly word: string }) | undefined {
  const order = words.map((word, at) => ({ word, term: undefined, count: 0, since: undefined, ...counts[at] }));
  order.sort((a, b) => a.count - b.count || b.word.length - a.word.length);
  return order[0];
}
