// Extracts the keywords of a sentence: its words without stop words.
import { deu, eng, fra, ita, jpn, nld, por, spa, tha, zho } from "stopword";
import { truncateQuery } from "./first-words.ts";
import { splitWords, UNSPACED_RUNS } from "../search/words.ts";

/** The maximum length of the text that is read, and of a query, in UTF-16 units. */
const maxTextLength = 1_000;
const maxQueryLength = 100;

/** Maps each folded word to its written stop words: `sara` is a name, but Italian `sarà` is a stop word. */
const common: ReadonlyMap<string, readonly string[]> = formsByWord(
  [eng, deu, fra, spa, ita, por, nld, jpn, zho, tha].flat().map((word) => word.toLowerCase().normalize()),
);

/** Its dictionaries of the scripts without blanks apply in every language. */
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/**
 * Returns a query of the keywords in their order, as many as fit. Uses all words if there are no keywords, and the
 * beginning of the text if no word fits, or if they are a single character.
 */
export function keywords(text: string): string {
  const read = withBlanks(text.slice(0, maxTextLength));
  const written = read.toLowerCase().normalize();
  const names = namesIn(read);
  const isCommon = (word: string): boolean =>
    !names.has(word) && common.get(word)?.some((form) => written.includes(form)) === true;
  const words = splitWords(read).filter((word, at, all) => isNumber(word) || all.indexOf(word) === at);
  const uncommon = words.filter((word) => !isCommon(word));
  let query = "";
  for (const word of uncommon.length === 0 ? words : uncommon) {
    const longer = query === "" ? word : `${query} ${word}`;
    if (longer.length <= maxQueryLength) query = longer;
  }
  return [...query].length < 2 ? truncateQuery(text) : query;
}

/** Returns the text with blanks between the words of scripts without blanks, so that a sentence is not one word. */
function withBlanks(text: string): string {
  return text.replace(UNSPACED_RUNS, (run) => [...segmenter.segment(run)].map(({ segment }) => segment).join(" "));
}

/** Returns the folded words with a capital after another word of the sentence: names can be stop words, such as Will. */
function namesIn(text: string): ReadonlySet<string> {
  const found = text.normalize().matchAll(/(?<=[\p{L}\p{N}],? )\p{Lu}\p{Ll}+(?![\p{L}\p{N}])/gu);
  return new Set([...found].flatMap(([name]) => splitWords(name)));
}

/** The digit groups of a phone number can repeat. */
function isNumber(word: string): boolean {
  return /^\d+$/.test(word);
}

function formsByWord(stopWords: readonly string[]): Map<string, string[]> {
  const forms = new Map<string, string[]>();
  for (const form of stopWords)
    for (const word of splitWords(form)) forms.set(word, [...(forms.get(word) ?? []), form]);
  return forms;
}
