// Finds the transcripts with all words of a query, newest first, from index keys alone.
import type { Collection, Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import type { PageRequest } from "../db/page.ts";
import type { RankRange } from "../db/term-counts.ts";
import { countTerms } from "../db/term-counts.ts";
import { read } from "../db/read.ts";
import { termsField } from "../db/search-fields.ts";
import { searchIndex } from "../db/search-index.ts";
import { queryTerms } from "./spoken-terms.ts";

/** How to find the transcripts with all words. */
export interface Matching {
  /**
   * The condition for them within the account, by the index of search terms. It may match others too, such as one with
   * the rank of another, so a reader must compare the words.
   */
  readonly condition: Document;
  /** The rank at which the search paused or ended; undefined if it reached the oldest transcript. */
  readonly endedAt: number | undefined;
}

/** The maximum number of words whose terms are compared. */
const maxCompared = 8;
/** The numbers of transcripts of the rarest word that are compared with the other words, one step after the other. */
const steps = [250, 1_000, 3_000];

/**
 * Returns how to find the transcripts with all words, at least up to the end of the page; undefined if there are none.
 * One word needs no command. For more words, reads the ranks of the transcripts with the rarest word, and looks up each
 * in the keys of the other words: reading the transcripts themselves would take a hundred times as long.
 */
export async function matchTranscripts(
  transcripts: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  within: RankRange,
  { limit, offset }: PageRequest,
): Promise<Matching | undefined> {
  const [only, ...more] = [...new Set(words.flatMap(queryTerms))];
  if (only === undefined) return undefined;
  if (more.length === 0) return { condition: { [termsField]: only, ...within }, endedAt: undefined };
  const counts = await countTerms(transcripts, scope, { terms: [only, ...more] }, within);
  // Of the words that reach the limit of the count, the rarest is the one whose newest transcripts go back furthest.
  const ordered = [...counts.values()].sort((a, b) => a.count - b.count || (a.since ?? 0) - (b.since ?? 0));
  const [rarest = only, ...others] = ordered.flatMap(({ term }) => term ?? []);
  if (ordered[0]?.count === 0) return undefined;
  const found = new Set<number>();
  let before: number | undefined;
  for (const step of steps) {
    const ranks = await newestRanks(transcripts, scope, rarest, rangeBefore(within, before), step);
    const common = await withAll(transcripts, scope, others.slice(0, maxCompared - 1), ranks);
    for (const rank of common) found.add(rank);
    before = ranks.length < step ? undefined : ranks.at(-1);
    if (before === undefined || found.size > offset + limit) break;
  }
  return {
    condition: { [termsField]: rarest, rank: { $in: [...found] } },
    endedAt: before,
  };
}

function rangeBefore({ rank }: RankRange, before: number | undefined): RankRange {
  return rank === undefined && before === undefined
    ? {}
    : { rank: { ...rank, ...(before === undefined ? {} : { $lt: before }) } };
}

/** Returns the ranks of the newest transcripts with a term, in this range. */
async function newestRanks(
  transcripts: Collection<Document>,
  scope: Scope,
  term: string,
  within: RankRange,
  limit: number,
): Promise<number[]> {
  const stages = [
    { $match: { account_id: scope.accountId, [termsField]: term, ...within } },
    { $sort: { rank: -1 } },
    { $limit: limit },
    { $group: { _id: null, ranks: { $push: "$rank" } } },
  ];
  const rows = await read<{ ranks: number[] }>(transcripts, scope, stages, { hint: searchIndex });
  return rows[0]?.ranks ?? [];
}

/** Returns those of the ranks that transcripts with each of the terms have. */
async function withAll(
  transcripts: Collection<Document>,
  scope: Scope,
  terms: readonly string[],
  ranks: readonly number[],
): Promise<readonly number[]> {
  if (ranks.length === 0) return [];
  const among = { rank: { $in: [...new Set(ranks)] } };
  const each = await Promise.all(terms.map((term) => distinctRanks(transcripts, scope, term, among)));
  const sets = each.map((some) => new Set(some));
  return ranks.filter((rank) => sets.every((some) => some.has(rank)));
}

/** Returns the distinct ranks of the transcripts with a term, in this range. Several transcripts can have one rank. */
async function distinctRanks(
  transcripts: Collection<Document>,
  scope: Scope,
  term: string,
  within: RankRange,
): Promise<number[]> {
  const stages = [
    { $match: { account_id: scope.accountId, [termsField]: term, ...within } },
    { $group: { _id: null, ranks: { $addToSet: "$rank" } } },
  ];
  const rows = await read<{ ranks: number[] }>(transcripts, scope, stages, { hint: searchIndex });
  return rows[0]?.ranks ?? [];
}
