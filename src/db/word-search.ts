// Plans word searches: the word that drives the index scan, and the checks for the others (contract §3.1, §3.7).
import type { Collection, Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import type { SearchShape } from "../search/terms.ts";
import { checkPattern, isDecidedByTerm, probe, wholeCheckPattern, wholeProbe } from "../search/terms.ts";
import type { PageRequest } from "./page.ts";
import { termsField, textField } from "./search-fields.ts";
import { isWithoutIndex } from "./search-index.ts";
import type { TermCount, RankRange } from "./term-counts.ts";
import { firstCountLimit, countTerms, compareTermCounts } from "./term-counts.ts";

/** The words of a query, the word that drives the index scan, and how far back the scan goes. */
export interface WordPlan {
  readonly words: readonly string[];
  /** Undefined if no word is long enough for the index. The account is then scanned, newest first. */
  readonly driver: string | undefined;
  /**
   * The driver of a search for whole words; undefined if no document has them all, or the shape does not index whole
   * words.
   */
  readonly wholeDriver: string | undefined;
  /** The lowest rank to scan; undefined if the driver has fewer documents than the limit, or nothing is checked. */
  readonly since: number | undefined;
  readonly wholeSince: number | undefined;
}

/** A page of a word search. */
export interface PageSearch<T> {
  readonly page: PageRequest;
  readonly within: RankRange;
  /** Runs a plan and returns the rows of the page, plus one if there are more. */
  run(plan: WordPlan): Promise<T[]>;
}

/**
 * Plans a query with several readings (ways to split it into words): one plan for each reading whose words all have
 * matches. The rarest word of a reading drives the scan. The others are checked in at most the newest 5,000 of its
 * documents. A reading of one word that the index holds whole needs no command. All other readings together need one,
 * or two if one of them has only frequent words.
 */
export async function planReadings(
  collection: Collection<Document>,
  scope: Scope,
  readings: readonly (readonly string[])[],
  shape: SearchShape,
): Promise<readonly WordPlan[]> {
  const uncounted = readings.flatMap((words) => planUncounted(words, shape) ?? []);
  if (uncounted.length === readings.length) return uncounted;
  // A command is needed anyway, so it also counts phones: only the count limits how many documents are checked.
  const { plans, further } = await planByCounts(collection, scope, readings, shape, {});
  return further === undefined ? plans : further();
}

/**
 * Searches a page by words. If every word is frequent, searches the newest 200 documents of one before counting
 * further, because these mostly fill a first page. While a large import has dropped the search index, scans the
 * account, newest first.
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
    const { plans, further } = await planByCounts(collection, scope, [words], shape, within);
    const runAll = async ([plan]: readonly WordPlan[]): Promise<T[]> => (plan === undefined ? [] : run(plan));
    const rows = further === undefined || page.offset + page.limit < firstCountLimit ? await runAll(plans) : [];
    return further === undefined || rows.length > page.limit ? rows : await runAll(await further());
  } catch (error) {
    if (!isWithoutIndex(error)) throw error;
    return run({ words, driver: undefined, wholeDriver: undefined, since: undefined, wholeSince: undefined });
  }
}

/** Plans from the counts of the words. */
interface Planned {
  /** Contains no plan for a reading with a word that has no match. */
  readonly plans: readonly WordPlan[];
  /** Makes better plans by one command; undefined if there are none. */
  readonly further: (() => Promise<readonly WordPlan[]>) | undefined;
}

/** A reading with the counts of its terms, for word beginnings and for whole words. */
interface CountedReading {
  readonly words: readonly string[];
  readonly indexed: readonly string[];
  readonly begun: readonly TermCount[];
  readonly whole: readonly TermCount[];
}

/** Returns the plan for a single word that the index holds whole; undefined if words must be counted. */
function planUncounted(words: readonly string[], shape: SearchShape): WordPlan | undefined {
  const [word] = words;
  if (word === undefined || words.length > 1 || !isDecidedByTerm(word, shape)) return undefined;
  return { words, driver: word, wholeDriver: shape.whole ? word : undefined, since: undefined, wholeSince: undefined };
}

/**
 * Plans readings from counts, by one command. A term of several readings is counted once, and all terms share one
 * bound. Additional readings therefore cost as much as additional words in one reading.
 */
async function planByCounts(
  collection: Collection<Document>,
  scope: Scope,
  readings: readonly (readonly string[])[],
  shape: SearchShape,
  within: RankRange,
): Promise<Planned> {
  const counts = await countReadings(collection, scope, readings, shape, within);
  const plans = counts.map(planOf);
  const undecided = counts
    .flatMap(({ begun, whole }) => [begun, whole])
    .filter((those) => those.length > 0 && those.every(({ since }) => since !== undefined));
  if (undecided.length === 0) return { plans, further: undefined };
  return {
    plans,
    async further() {
      const tried = await compareTermCounts(collection, scope, undecided, within);
      const better = (those: readonly TermCount[]): TermCount[] => those.map((one) => tried.get(one) ?? one);
      return counts.map((one) => planOf({ ...one, begun: better(one.begun), whole: better(one.whole) }));
    },
  };
}

/** Returns the counts of the readings whose words all have a match. */
async function countReadings(
  collection: Collection<Document>,
  scope: Scope,
  readings: readonly (readonly string[])[],
  shape: SearchShape,
  within: RankRange,
): Promise<CountedReading[]> {
  const termed = readings.map((words) => {
    const indexed = indexedOf(words, shape);
    const beginnings = indexed.length === 0 ? [undefined] : indexed.map((word) => probe(word, shape)?.term);
    return { words, indexed, beginnings, wholes: shape.whole ? indexed.map((word) => wholeProbe(word).term) : [] };
  });
  const terms = new Set(termed.flatMap(({ beginnings, wholes }) => [...beginnings, ...wholes]));
  const counts = await countTerms(collection, scope, [...terms], within);
  const found = (those: readonly (string | undefined)[]): TermCount[] =>
    those.flatMap((term) => counts.get(term) ?? []);
  return termed
    .map(({ words, indexed, beginnings, wholes }) => ({
      words,
      indexed,
      begun: found(beginnings),
      whole: found(wholes),
    }))
    .filter(({ begun }) => begun.every(({ count }) => count > 0));
}

function planOf({ words, indexed, begun, whole }: CountedReading): WordPlan {
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

/** Returns the words that are long enough for the index. */
function indexedOf(words: readonly string[], shape: SearchShape): string[] {
  return words.filter((word) => probe(word, shape) !== undefined);
}

/**
 * Returns the filter of a plan: one term of the index, and checks on the search text. A check on the terms would move
 * the bounds of the index scan.
 */
export function planFilter(plan: WordPlan, shape: SearchShape, within: RankRange = {}): Document {
  const driving = plan.driver === undefined ? undefined : probe(plan.driver, shape);
  const checked = plan.words.filter((word) => word !== plan.driver || driving?.exact !== true);
  return {
    ...(driving === undefined ? {} : { [termsField]: driving.term }),
    ...sinceFilter(plan.since, within),
    ...searchTextConditions(checked.map(checkPattern)),
  };
}

/** Returns the filter for whole words: a term and checks. Undefined if no document has all of them. */
export function wholeFilter({ words, wholeDriver, wholeSince }: WordPlan): Document | undefined {
  if (wholeDriver === undefined) return undefined;
  const { term, exact } = wholeProbe(wholeDriver);
  const checked = words.filter((word) => word !== wholeDriver || !exact);
  return {
    [termsField]: term,
    ...sinceFilter(wholeSince, {}),
    ...searchTextConditions(checked.map(wholeCheckPattern)),
  };
}

function sinceFilter(since: number | undefined, { rank }: RankRange): Document {
  return since === undefined && rank === undefined
    ? {}
    : { rank: { ...rank, ...(since === undefined ? {} : { $gte: since }) } };
}

/** Returns conditions on the search text. */
export function searchTextConditions(patterns: readonly string[]): Document {
  return patterns.length === 0 ? {} : { $and: patterns.map((pattern) => ({ [textField]: { $regex: pattern } })) };
}

/** Returns the rarest word. Among equally rare words, the longest is likeliest to be rare beyond the limit. */
function rarest(
  words: readonly string[],
  counts: readonly TermCount[],
): (TermCount & { readonly word: string }) | undefined {
  const order = words.map((word, at) => ({ word, term: undefined, count: 0, since: undefined, ...counts[at] }));
  order.sort((a, b) => a.count - b.count || b.word.length - a.word.length);
  return order[0];
}
