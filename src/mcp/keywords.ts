// The keywords of a sentence: its words without the stop words.
import { deu, eng, fra, ita, nld, por, spa } from "stopword";
import { firstWords } from "./first-words.ts";
import { queryWords } from "../search/words.ts";

/** How much of a text is read, and the longest query of a search, in UTF-16 units. */
const longestText = 1_000;
const longestQuery = 100;

const common: ReadonlySet<string> = new Set(
  [eng, deu, fra, spa, ita, por, nld].flatMap((words) => words.flatMap((word) => queryWords(word))),
);

/** A query of the keywords, in their order, as many as fit; of all words where there is no keyword or none fits. */
export function keywords(text: string): string {
  const words = queryWords(text.slice(0, longestText));
  const uncommon = words.filter((word) => !common.has(word));
  let query = "";
  for (const word of uncommon.length === 0 ? words : uncommon) {
    const longer = query === "" ? word : `${query} ${word}`;
    if (longer.length <= longestQuery) query = longer;
  }
  return query === "" ? firstWords(text) : query;
}
