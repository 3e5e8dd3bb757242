// Finds documents that contain any of several words, ranked by how many and how rare the words are, and reads them in
// that order.
import type { Collection, Document, UUID } from "mongodb";
import type { Scope } from "../call/scope.ts";
import type { SearchShape } from "../search/terms.ts";
import { checkPattern, isOnlyWhole, probe } from "../search/terms.ts";
import { read } from "./read.ts";
import { termsField, textField } from "./search-fields.ts";
import { searchIndex } from "./search-index.ts";

/** The maximum number of words. */
const maxWords = 12;
/** The maximum number of documents for each word, newest first. */
const newest = 200;
/** The maximum number of documents for each word that are checked against the condition. */
const maxExamined = 2_000;

interface Hit {
  readonly _id: UUID;
  readonly rank: number;
  /** The position of the word in the query. */
  readonly word: number;
}

/** Returns the ids of the documents that match `condition` and have any of the words, best first, by one command. */
export async function findByAnyWord(
  collection: Collection<Document>,
  scope: Scope,
  words: readonly string[],
  shape: SearchShape,
  condition: Document,
  hint: string = searchIndex,
): Promise<UUID[]> {
  // The index contains the rank, but no other field of the condition.
  const { rank: within, ...others } = condition;
  const rank = within === undefined ? {} : { rank: within as Document };
  const pipelines = words.flatMap((word, at): Document[][] => {
    // Such short words say little, and terms of the previous release lack them.
    if (isOnlyWhole(word, shape)) return [];
    const probed = probe(word, shape);
    const check = probed.exact ? {} : { [textField]: { $regex: checkPattern(word, shape) } };
    return [
      [
        { $match: { account_id: scope.accountId, [termsField]: probed.term, ...rank } },
        { $sort: { rank: -1 } },
        { $limit: maxExamined },
        { $match: { ...others, ...check } },
        { $limit: newest },
        { $project: { rank: 1, word: { $literal: at } } },
      ],
    ];
  });
  const [first, ...more] = pipelines.slice(0, maxWords);
  if (first === undefined) return [];
  const unions = more.map((pipeline) => ({ $unionWith: { coll: collection.collectionName, pipeline } }));
  return ranked(await read<Hit>(collection, scope, [...first, ...unions], { hint }));
}

/**
 * Returns the documents with these ids in the order of the ids, each passed through the stages. Leaves out missing
 * documents.
 */
export async function readInOrder<T extends { readonly _id: UUID }>(
  collection: Collection<Document>,
  scope: Scope,
  ids: readonly UUID[],
  stages: readonly Document[],
): Promise<T[]> {
  const match = { $match: { _id: { $in: ids }, account_id: scope.accountId } };
  const rows = await read<T>(collection, scope, [match, ...stages], { canBeHuge: true });
  const byId = new Map(rows.map((row) => [row._id.toHexString(), row]));
  return ids.flatMap((id) => byId.get(id.toHexString()) ?? []);
}

/** Ranks the hits: the fewer documents have a word, the more it counts. */
function ranked(hits: readonly Hit[]): UUID[] {
  const counts = new Map<number, number>();
  for (const { word } of hits) counts.set(word, (counts.get(word) ?? 0) + 1);
  const scores = new Map<string, { readonly hit: Hit; score: number }>();
  for (const hit of hits) {
    const id = hit._id.toHexString();
    const known = scores.get(id) ?? { hit, score: 0 };
    known.score += Math.log(1 + (2 * newest) / (counts.get(hit.word) ?? 1));
    scores.set(id, known);
  }
  return [...scores.values()].sort((a, b) => b.score - a.score || b.hit.rank - a.hit.rank).map(({ hit }) => hit._id);
}
