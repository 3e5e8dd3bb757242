// Search of the texts of contacts that no index contains: their notes and memory.
import { setImmediate } from "node:timers/promises";
import type { Collection, Document, UUID } from "mongodb";
import type { Scope } from "../call/scope.ts";
import { read } from "../db/read.ts";
import { listIndex } from "../db/search-index.ts";
import { wordReadings, wordsOf } from "../search/readings.ts";
import { NOTE_SHAPE, hasWord, terms } from "../search/terms.ts";
import { foldWithJoiners, recordWords, withoutJoiners } from "../search/words.ts";
import type { ContactDocument } from "./document.ts";

/** The maximum number of contacts that are searched, and the number that one command reads. */
const maxContacts = 2_000;
const contactsAtOnce = 200;
/** The maximum number of contacts, newest first, that a command examines. */
const maxExamined = 20_000;
/** The beginning of each text that is searched, in code points, and the maximum length of all, in UTF-16 units. */
const maxLength = 5_000;
const maxTotal = 500_000;

/** The words to find. With `anyWord`, one of them is enough. */
interface Words {
  readonly query: string;
  readonly anyWord: boolean;
}

/** The ids of the contacts that were found, and whether others, changed earlier, were not read. */
export interface FoundInNotes {
  readonly ids: readonly UUID[];
  readonly isCut: boolean;
}

/**
 * Finds active contacts by the words of their notes and memory, newest first. With `anyWord`, those with more words, or
 * rarer ones, come first.
 */
export async function findInNotes(
  contacts: Collection<Document>,
  scope: Scope,
  { query, anyWord }: Words,
  condition: Document,
): Promise<FoundInNotes> {
  const readings = wordReadings(query, false);
  const words = wordsOf(readings);
  if (words.length === 0) return { ids: [], isCut: false };
  const found: { readonly id: UUID; readonly has: readonly string[] }[] = [];
  const frequencies = new Map<string, number>();
  let [count, left, rank, isWhole] = [0, maxTotal, Infinity, false];
  let seen: readonly UUID[] = [];
  while (count < maxContacts && left > 0) {
    const rows = await readTexts(contacts, scope, rank, seen, condition);
    for (const { _id, notes, memory } of rows) {
      left -= (notes?.length ?? 0) + (memory?.length ?? 0);
      const has = left < 0 ? [] : wordsIn([notes, memory], words);
      for (const word of has) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
      const hasAll = (): boolean => readings.some((reading) => reading.words.every((word) => has.includes(word)));
      if (anyWord ? has.length > 0 : hasAll()) found.push({ id: _id, has });
    }
    count += rows.length;
    isWhole = rows.length < contactsAtOnce && left >= 0;
    if (rows.length < contactsAtOnce) break;
    rank = rows.at(-1)?.rank ?? rank;
    // Others can have the rank of the last one.
    seen = [...(rows[0]?.rank === rank ? seen : []), ...rows.filter((row) => row.rank === rank).map(({ _id }) => _id)];
    await setImmediate();
  }
  const weight = (word: string): number => Math.log(1 + count / (frequencies.get(word) ?? 1));
  const score = (has: readonly string[]): number => has.reduce((sum, word) => sum + weight(word), 0);
  if (anyWord) found.sort((one, other) => score(other.has) - score(one.has));
  return { ids: found.map(({ id }) => id), isCut: !isWhole };
}

type Texts = Pick<ContactDocument, "_id" | "rank" | "notes" | "memory">;

/** Reads the texts of the newest active contacts below a rank that have any. */
function readTexts(
  contacts: Collection<Document>,
  scope: Scope,
  from: number,
  seen: readonly UUID[],
  condition: Document,
): Promise<Texts[]> {
  const stages = [
    { $match: { account_id: scope.accountId, rank: { $lte: from }, _id: { $nin: [...seen] } } },
    { $sort: { rank: -1 } },
    { $limit: maxExamined },
    { $match: { archived_at: null, $or: [{ notes: { $ne: null } }, { memory: { $ne: null } }], ...condition } },
    { $limit: contactsAtOnce },
    { $project: { rank: 1, notes: beginningOf("$notes"), memory: beginningOf("$memory") } },
  ];
  return read<Texts>(contacts, scope, stages, { hint: listIndex });
}

function beginningOf(field: string): Document {
  return { $substrCP: [{ $ifNull: [field, ""] }, 0, maxLength] };
}

/** Returns the words that the texts have. Most texts have none, which is cheap to see. */
function wordsIn(texts: readonly (string | null)[], words: readonly string[]): readonly string[] {
  const joined = withoutJoiners(foldWithJoiners(texts.join(" ")));
  if (!words.some((word) => joined.includes(word))) return [];
  const { searchText } = terms(texts.flatMap(recordWords), NOTE_SHAPE);
  return words.filter((word) => hasWord(searchText, word));
}
