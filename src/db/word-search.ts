// Plans word searches: the word that drives the index scan, and the checks for the others (contract §3.1, §3.7).
import type { Collection, Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import type { Reading } from "../search/readings.ts";
import type { Probe, SearchShape } from "../search/terms.ts";
import {
  beforeThisRelease,
  checkPattern,
  isDecidedByTerm,
  isOnlyWhole,
  isPhone,
  nameCheckPattern,
  nameProbe,
  probe,
  wholeCheckPattern,
  wholeProbe,
} from "../search/terms.ts";
import type { PageRequest } from "./page.ts";
import { termsField, textField } from "./search-fields.ts";
import { isWithoutIndex, listIndex, searchIndex } from "./search-index.ts";
import type { RankRange, TermCount, TermQuestions } from "./term-counts.ts";
import { countTerms, firstCountLimit } from "./term-counts.ts";

/** How much of a word a query must have: its beginning, the whole word, or a whole word of a contact's name. */
export type Match = "begun" | "whole" | "ofName";
const allMatches: readonly Match[] = ["begun", "whole", "ofName"];

/** The word that drives an index scan, and how far back the scan goes. */
interface Scan {
  /** Undefined if no word is in the index. The account is then scanned, newest first. */
  readonly driver: string | undefined;
  /** The lowest rank to scan; undefined if the driver has fewer documents than the limit, or nothing is checked. */
  readonly since: number | undefined;
}

/** The words of a reading, and its scans. A scan is missing if no document can match, or without such terms. */
export interface WordPlan {
  readonly reading: Reading;
  readonly scans: Readonly<Partial<Record<Match, Scan>>>;
}

/** A page of a word search. */
export interface PageSearch<T> {
  readonly page: PageRequest;
  readonly within: RankRange;
  /** Runs the plans and returns the rows of the page, plus one if there are more. */
  run(plans: readonly WordPlan[]): Promise<T[]>;
}

/** Returns what a reading can match. A phone is in no name. */
function matchesOf(shape: SearchShape, { words }: Reading): readonly Match[] {
  if (!shape.whole) return ["begun"];
  return words.some(isPhone) ? ["begun", "whole"] : ["begun", "whole", "ofName"];
}

/** Returns the index term of a word; undefined if terms of the previous release lack it. */
function probeOf(match: Match, word: string, shape: SearchShape, hasPrevious: boolean): Probe | undefined {
  if (match === "whole") return wholeProbe(word);
  if (match === "ofName") return nameProbe(word);
  return hasPrevious && isOnlyWhole(word, shape) ? undefined : probe(word, shape);
}

function patternOf(match: Match, word: string, shape: SearchShape): string {
  if (match === "whole") return wholeCheckPattern(word);
  return match === "ofName" ? nameCheckPattern(word) : checkPattern(word, shape);
}

/** A query over a collection. */
export interface WordQuery {
  readonly readings: readonly Reading[];
  readonly shape: SearchShape;
  /** Whether the collection may have terms of the previous release. */
  readonly hasPrevious: boolean;
}

/** The plans of a query whose matches are ranked. */
export interface RankedPlans {
  readonly plans: readonly WordPlan[];
  /** True if the plans scan few documents, and only for the beginnings of words. `rankOf` ranks what they find. */
  readonly areShort: boolean;
}

/**
 * Plans a query with several readings (ways to split it into words): one plan for each reading whose words all have
 * matches. The rarest word of a reading drives the scan. The others are checked in at most the newest 5,000 of its
 * documents. A reading of one word that the index holds whole needs no command. All other readings together need one,
 * and two if they have many matches.
 */
export async function planReadings(
  collection: Collection<Document>,
  scope: Scope,
  query: WordQuery,
): Promise<RankedPlans> {
  const uncounted = planUncounted(query);
  if (uncounted !== undefined) return { plans: uncounted, areShort: false };
  const ask = (questions: TermQuestions): Promise<Counts> => countTerms(collection, scope, questions, {});
  const termed = termedReadings(query);
  // A command is needed anyway, so it also counts phones: only the count limits how many documents are checked.
  const ofBegun = await ask({ terms: termsOf(termed, ["begun"]) });
  const begun = countedReadings(termed, ofBegun, ["begun"]);
  const scanned = begun.reduce((sum, { counts }) => sum + Math.min(...(counts.begun ?? []).map(countOf)), 0);
  if (scanned < firstCountLimit) return { plans: begun.map(planOf), areShort: true };
  const found = termed.filter(({ reading }) => begun.some((one) => one.reading === reading));
  const others = ["whole", "ofName"] as const;
  const frequent = undecidedOf(begun, ["begun"]);
  const more = await ask({ terms: termsOf(found, others), groups: frequent });
  const counts = new Map([...ofBegun, ...more]);
  return { plans: countedReadings(found, counts).map(planOf), areShort: false };
}

type Counts = ReadonlyMap<string | undefined, TermCount>;

const countOf = ({ count }: TermCount): number => count;

/**
 * Returns an expression for the rank of a document that short plans find: 0 if all words of a reading are whole words
 * of a name, 1 if they are whole words, otherwise 2.
 */
export function rankOf(plans: readonly WordPlan[], shape: SearchShape): Document {
  const anyReading = (match: Match): Document => ({
    $or: plans
      .filter(({ reading }) => matchesOf(shape, reading).includes(match))
      .map(({ reading: { words, ofPrevious } }) => ({
        $and: [
          ...(ofPrevious ? [{ $lt: [`$${textField}`, beforeThisRelease.$lt] }] : []),
          ...words.map((word) => ({
            $regexMatch: { input: `$${textField}`, regex: { $literal: patternOf(match, word, shape) } },
          })),
        ],
      })),
  });
  return { $cond: [anyReading("ofName"), 0, { $cond: [anyReading("whole"), 1, 2] }] };
}

/**
 * Searches a page by words. If every word is frequent, searches the newest 200 documents of one before counting
 * further, because these mostly fill a first page. While a large import has dropped the search index, scans the
 * account, newest first.
 */
export async function searchPage<T>(
  collection: Collection<Document>,
  scope: Scope,
  query: WordQuery,
  { page, within, run }: PageSearch<T>,
): Promise<T[]> {
  try {
    const uncounted = planUncounted(query);
    if (uncounted !== undefined) return await run(uncounted);
    const { plans, further } = await planByCounts(collection, scope, query, within);
    const runAll = async (all: readonly WordPlan[]): Promise<T[]> => (all.length === 0 ? [] : run(all));
    if (further === undefined) return await runAll(plans);
    if (page.offset + page.limit < firstCountLimit) {
      const rows = await runAll(equallyFar(plans));
      if (rows.length > page.limit) return rows;
    }
    return await runAll(await further());
  } catch (error) {
    if (!isWithoutIndex(error)) throw error;
    return run(planUnindexed(query));
  }
}

/**
 * Returns the plans with scans that all end where the first one ends. Of older documents, some readings would find all
 * and others none.
 */
function equallyFar(plans: readonly WordPlan[]): WordPlan[] {
  const end = Math.max(...plans.flatMap(({ scans }) => Object.values(scans)).map(({ since = -Infinity }) => since));
  return plans.map(({ reading, scans }) => ({
    reading,
    scans: Object.fromEntries(Object.entries(scans).map(([match, scan]) => [match, { ...scan, since: end }])),
  }));
}

/** Returns the plans that use no index of words. */
export function planUnindexed({ readings, shape }: Pick<WordQuery, "readings" | "shape">): WordPlan[] {
  const scan = { driver: undefined, since: undefined };
  return readings.map((reading) => ({
    reading,
    scans: Object.fromEntries(matchesOf(shape, reading).map((match) => [match, scan])),
  }));
}

/** Plans from the counts of the words. */
interface Planned {
  /** Contains no plan for a reading with a word that has no match. */
  readonly plans: readonly WordPlan[];
  /** Makes better plans by one command; undefined if there are none. */
  readonly further: (() => Promise<readonly WordPlan[]>) | undefined;
}

/** A reading with its terms for each match. */
interface TermedReading {
  readonly reading: Reading;
  /** Its words that the index has. */
  readonly indexed: readonly string[];
  readonly byMatch: readonly (readonly [match: Match, terms: readonly (string | undefined)[]])[];
}

/** A reading with the counts of its terms, for each match. */
interface CountedReading {
  readonly reading: Reading;
  readonly indexed: readonly string[];
  readonly counts: Readonly<Partial<Record<Match, readonly TermCount[]>>>;
}

/** Returns the plans of readings with a single word that the index holds whole; undefined if words must be counted. */
function planUncounted({ readings, shape, hasPrevious }: WordQuery): WordPlan[] | undefined {
  const plans = readings.flatMap((reading) => {
    const [word] = reading.words;
    if (word === undefined || reading.words.length > 1 || !isDecidedByTerm(word, shape)) return [];
    if (probeOf("begun", word, shape, hasPrevious) === undefined) return [];
    const scan = { driver: word, since: undefined };
    return [{ reading, scans: Object.fromEntries(matchesOf(shape, reading).map((match) => [match, scan])) }];
  });
  return plans.length === readings.length ? plans : undefined;
}

/**
 * Plans readings from counts, by one command. A term of several readings is counted once, and all terms share one
 * bound. Additional readings therefore cost as much as additional words in one reading.
 */
async function planByCounts(
  collection: Collection<Document>,
  scope: Scope,
  query: WordQuery,
  within: RankRange,
): Promise<Planned> {
  const termed = termedReadings(query);
  const counts = await countTerms(collection, scope, { terms: termsOf(termed, allMatches) }, within);
  const counted = countedReadings(termed, counts);
  const groups = undecidedOf(counted, allMatches);
  return {
    plans: counted.map(planOf),
    further:
      groups.length === 0
        ? undefined
        : async () => {
            const better = await countTerms(collection, scope, { groups }, within);
            return countedReadings(termed, new Map([...counts, ...better])).map(planOf);
          },
  };
}

/** Returns the terms of the readings, for each match. */
function termedReadings({ readings, shape, hasPrevious }: WordQuery): TermedReading[] {
  return readings.map((reading) => {
    const indexed = reading.words.filter((word) => probeOf("begun", word, shape, hasPrevious) !== undefined);
    const byMatch = matchesOf(shape, reading).map((match) => {
      const found = indexed.map((word) => probeOf(match, word, shape, hasPrevious)?.term);
      return [match, indexed.length === 0 && match === "begun" ? [undefined] : found] as const;
    });
    return { reading, indexed, byMatch };
  });
}

function termsOf(termed: readonly TermedReading[], matches: readonly Match[]): (string | undefined)[] {
  const wanted = termed.flatMap(({ byMatch }) => byMatch.filter(([match]) => matches.includes(match)));
  return [...new Set(wanted.flatMap(([, terms]) => terms))];
}

/** Returns the readings whose words all have a match, with the counts of their terms. */
function countedReadings(
  termed: readonly TermedReading[],
  counts: Counts,
  matches: readonly Match[] = allMatches,
): CountedReading[] {
  return termed
    .map(({ reading, indexed, byMatch }) => ({
      reading,
      indexed,
      counts: Object.fromEntries(
        byMatch
          .filter(([match]) => matches.includes(match))
          .map(([match, terms]) => [match, terms.flatMap((term) => counts.get(term) ?? [])]),
      ) as CountedReading["counts"],
    }))
    .filter(({ counts: { begun } }) => begun?.every(({ count }) => count > 0) === true);
}

/** Returns the counts of the words of which none is known to be rare, for each reading and match. */
function undecidedOf(counted: readonly CountedReading[], matches: readonly Match[]): (readonly TermCount[])[] {
  return counted
    .flatMap(({ counts }) => matches.flatMap((match) => (counts[match] === undefined ? [] : [counts[match]])))
    .filter((those) => those.length > 0 && those.every(({ since }) => since !== undefined));
}

function planOf({ reading, indexed, counts }: CountedReading): WordPlan {
  const ofBegun = rarest(indexed, counts.begun ?? []);
  const scans = Object.entries(counts).flatMap(([match, those]): [string, Scan][] => {
    if (those.some(({ count }) => count === 0)) return [];
    const own = rarest(indexed, those);
    // No more documents have a whole word than its beginning, so that tier can go back as far as the last one.
    const first = own?.since === undefined ? own : ofBegun;
    if (first === undefined && match !== "begun") return [];
    return [[match, { driver: first?.word, since: (first ?? those[0])?.since }]];
  });
  return { reading, scans: Object.fromEntries(scans) };
}

/**
 * Returns the filters of the plans for a match, each with one term of the index and checks on the search text. Plans
 * with the same term share its scan. Plans without possible matches have none. A check on the terms would move the
 * bounds of the index scan.
 */
export function planFilters(
  plans: readonly WordPlan[],
  match: Match,
  { shape, hasPrevious }: Pick<WordQuery, "shape" | "hasPrevious">,
  within: RankRange = {},
): Document[] {
  const byScan = new Map<string | undefined, { readonly scan: Document; readonly checks: Document[] }>();
  for (const { reading, scans } of plans) {
    const { driver, since } = scans[match] ?? {};
    if (scans[match] === undefined) continue;
    const driving = driver === undefined ? undefined : probeOf(match, driver, shape, hasPrevious);
    const checked = reading.words.filter((word) => word !== driver || driving?.exact !== true);
    const check = searchTextConditions(
      checked.map((word) => patternOf(match, word, shape)),
      reading.ofPrevious,
    );
    const term = driving === undefined ? {} : { [termsField]: driving.term };
    const same = byScan.get(driving?.term) ?? { scan: { ...term, ...sinceFilter(since, within) }, checks: [] };
    same.checks.push(check);
    byScan.set(driving?.term, same);
  }
  return [...byScan.values()].map(({ scan, checks }) => ({ ...scan, ...anyOf(checks) }));
}

/** Returns the name of the index that the plans scan. */
export function indexOf(plans: readonly WordPlan[]): string {
  return plans.every(({ scans }) => scans.begun?.driver !== undefined) ? searchIndex : listIndex;
}

/** Returns one filter for several, of which one must match. */
export function anyOf(filters: readonly Document[]): Document {
  const [only, ...others] = filters;
  return only !== undefined && others.length === 0 ? only : { $or: filters };
}

/** Returns the filter for documents whose search texts match a reading, without an index of words. */
export function readingsFilter(readings: readonly Reading[], shape: SearchShape): Document {
  return anyOf(planFilters(planUnindexed({ readings, shape }), "begun", { shape, hasPrevious: false }));
}

function sinceFilter(since: number | undefined, { rank }: RankRange): Document {
  return since === undefined && rank === undefined
    ? {}
    : { rank: { ...rank, ...(since === undefined ? {} : { $gte: since }) } };
}

/** Returns conditions on the search text. */
export function searchTextConditions(patterns: readonly string[], ofPrevious = false): Document {
  const conditions = [
    ...(ofPrevious ? [{ [textField]: beforeThisRelease }] : []),
    ...patterns.map((pattern) => ({ [textField]: { $regex: pattern } })),
  ];
  return conditions.length === 0 ? {} : { $and: conditions };
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
