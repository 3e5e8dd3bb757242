// Finding documents by words: which word drives the index, and how the others are checked (contract §3.1, §3.7).
import type { Collection, Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import type { SearchShape } from "../search/terms.ts";
import { checkPattern, isDecidedByTerm, probe, wholeCheckPattern, wholeProbe } from "../search/terms.ts";
import type { PageRequest } from "./page.ts";
import { isWithoutIndex } from "./search-index.ts";
import type { Counted, Within } from "./term-counts.ts";
import { counted, countTerms, tryTerms } from "./term-counts.ts";

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

/** A page that is searched by words. */
export interface PageSearch<T> {
  readonly page: PageRequest;
  readonly within: Within;
  /** Runs a plan: the rows of the page, and one more where there are more. */
  run(plan: WordPlan): Promise<T[]>;
}

/**
 * Plans a query that can be read in several ways: a plan for each reading whose words can all be found. The rarest word
 * of a reading drives, the others are checked in the documents that it finds, the newest 5,000 of them at most. A
 * reading of one word that the index holds whole needs no command. All others together need one, and two where one of
 * them has only frequent words.
 */
export async function planReadings(
  collection: Collection<Document>,
  scope: Scope,
  readings: readonly (readonly string[])[],
  shape: SearchShape,
): Promise<WordPlan[]> {
  const uncounted = readings.flatMap((words) => planUncounted(words, shape) ?? []);
  const others = readings.filter((words) => planUncounted(words, shape) === undefined);
  if (others.length === 0) return uncounted;
  const { plans, further } = await planByCounts(collection, scope, others, shape, {});
  return [...uncounted, ...(further === undefined ? plans : await further())];
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
    const { plans, further } = await planByCounts(collection, scope, [words], shape, within);
    const runAll = async ([plan]: readonly WordPlan[]): Promise<T[]> => (plan === undefined ? [] : run(plan));
    const rows = further === undefined || page.offset + page.limit < counted ? await runAll(plans) : [];
    return further === undefined || rows.length > page.limit ? rows : await runAll(await further());
  } catch (error) {
    if (!isWithoutIndex(error)) throw error;
    return run({ words, driver: undefined, wholeDriver: undefined, since: undefined, wholeSince: undefined });
  }
}

/** The plans by what is known of the words. */
interface Planned {
  /** None for a reading that has a word without a match. */
  readonly plans: readonly WordPlan[];
  /** Makes better plans, by one command; undefined where these are the best. */
  readonly further: (() => Promise<WordPlan[]>) | undefined;
}

/** A reading with the counts of its words' terms: of their beginnings, and of whole words. */
interface CountedReading {
  readonly words: readonly string[];
  readonly indexed: readonly string[];
  readonly begun: readonly Counted[];
  readonly whole: readonly Counted[];
}

/** The plan for one word that the index holds whole; undefined where words have to be counted. */
function planUncounted(words: readonly string[], shape: SearchShape): WordPlan | undefined {
  const [word] = words;
  if (word === undefined || words.length > 1 || !isDecidedByTerm(word, shape)) return undefined;
  return { words, driver: word, wholeDriver: shape.whole ? word : undefined, since: undefined, wholeSince: undefined };
}

/**
 * The plans by counts, by one command. A term that several readings have is counted once, and all terms share one
 * bound: further readings cost what further words in a query of one reading cost.
 */
async function planByCounts(
  collection: Collection<Document>,
  scope: Scope,
  readings: readonly (readonly string[])[],
  shape: SearchShape,
  within: Within,
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
      const tried = await tryTerms(collection, scope, undecided, within);
      const better = (those: readonly Counted[]): Counted[] => those.map((one) => tried.get(one) ?? one);
      return counts.map((one) => planOf({ ...one, begun: better(one.begun), whole: better(one.whole) }));
    },
  };
}

/** The readings of which every word has a match. */
async function countReadings(
  collection: Collection<Document>,
  scope: Scope,
  readings: readonly (readonly string[])[],
  shape: SearchShape,
  within: Within,
): Promise<CountedReading[]> {
  const termed = readings.map((words) => {
    const indexed = indexedOf(words, shape);
    const beginnings = indexed.length === 0 ? [undefined] : indexed.map((word) => probe(word, shape)?.term);
    return { words, indexed, beginnings, wholes: shape.whole ? indexed.map((word) => wholeProbe(word).term) : [] };
  });
  const terms = new Set(termed.flatMap(({ beginnings, wholes }) => [...beginnings, ...wholes]));
  const counts = await countTerms(collection, scope, [...terms], within);
  const found = (those: readonly (string | undefined)[]): Counted[] => those.flatMap((term) => counts.get(term) ?? []);
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

/** Of equally rare words the longer one: it is likelier to be rare beyond the bound. */
function rarest(
  words: readonly string[],
  counts: readonly Counted[],
): (Counted & { readonly word: string }) | undefined {
  const order = words.map((word, at) => ({ word, term: undefined, count: 0, since: undefined, ...counts[at] }));
  order.sort((a, b) => a.count - b.count || b.word.length - a.word.length);
  return order[0];
}
