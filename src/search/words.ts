// Words of records and queries (contract §3.1).
import { endOfCodePoints } from "../text/text.ts";
import { fold } from "./fold.ts";

/**
 * The scripts without blanks between words. In these, Unicode breaks lines by dictionary or between any two letters
 * (UAX #14, classes SA and ID). Javanese and Balinese are added. Script extensions include shared characters (ー, 々).
 */
const UNSPACED_SCRIPTS = [
  "Han",
  "Hiragana",
  "Katakana",
  "Bopomofo",
  "Yi",
  "Nushu",
  "Tangut",
  "Khitan_Small_Script",
  "Thai",
  "Lao",
  "Khmer",
  "Myanmar",
  "Tai_Le",
  "New_Tai_Lue",
  "Tai_Tham",
  "Tai_Viet",
  "Ahom",
  "Javanese",
  "Balinese",
];
const UNSPACED = `[${UNSPACED_SCRIPTS.map((script) => `\\p{Script_Extensions=${script}}`).join("")}]`;
const LETTER_OR_DIGIT = "[\\p{L}\\p{N}]";
/** A folded text contains only marks that are vowel signs. A word does not begin with one. */
const IN_WORD = "[\\p{L}\\p{N}\\p{M}]";
const ZERO_WIDTH_SPACE = "\u200b";
const SPACED_RUN = `[${LETTER_OR_DIGIT}--${UNSPACED}][${IN_WORD}--${UNSPACED}]*`;
/** A zero-width space does not divide a run of a script without blanks, in which a word may begin anywhere. */
const UNSPACED_RUN = `[${LETTER_OR_DIGIT}&&${UNSPACED}](?:${ZERO_WIDTH_SPACE}*[${IN_WORD}&&${UNSPACED}])*`;
/** The runs of a text in scripts without blanks. */
export const UNSPACED_RUNS = new RegExp(UNSPACED_RUN, "gv");
const WORD = new RegExp(`${SPACED_RUN}|${UNSPACED_RUN}`, "gv");
/** The same in folded ASCII, which takes a fraction of the time. */
const ASCII_WORD = /[a-z0-9]+/g;
/** A hyphen, apostrophe, dot, middle dot or ampersand: one joins the words on its sides (contract §3.1). */
const JOINER_SIGNS = "\\-\u2010'\u2018\u2019\u0060.\u00b7\u30fb\\&";
const JOINED_BY = `[${JOINER_SIGNS}]`;
const JOINER = new RegExp(`^${JOINED_BY}$`, "v");
const HAS_JOINER = new RegExp(`${IN_WORD}${JOINED_BY}${LETTER_OR_DIGIT}`, "v");
// A third of the time that it takes with "v".
const JOINERS = new RegExp(`[${JOINER_SIGNS}${ZERO_WIDTH_SPACE}]+`, "g");
const IN_SPACED_WORD = `[${IN_WORD}--${UNSPACED}]`;
const WORD_BEGIN = new RegExp(`(?<!${IN_SPACED_WORD})${IN_SPACED_WORD}`, "gv");
const BEGINS_SPACED = new RegExp(`^${IN_SPACED_WORD}`, "v");
const WITHIN_JOINED = new RegExp(`${JOINED_BY}(?=${IN_SPACED_WORD})(?<=${IN_SPACED_WORD}.)`, "v");
const JOINER_OR_SPACE = new RegExp(`[${JOINER_SIGNS}${ZERO_WIDTH_SPACE}]`, "v");
/** Between letters of the Arabic script, a zero-width non-joiner joins words as a hyphen does (علی‌رضا). */
const NON_JOINER = "\u200c";
const ARABIC_JOINER = /(?<=\p{Script=Arabic})\u200c+(?=\p{Script=Arabic})/gu;
/** Names in the Arabic script are also written without the blanks between their parts (عبدالله, محمدرضا). */
const ARABIC_BLANK = /(?<=\p{Script=Arabic})[ \u00a0]+(?=\p{Script=Arabic})/gu;
const ARABIC = /^\p{Script=Arabic}/u;
/** Between Hebrew letters, a quotation mark stands for the gershayim of an abbreviation (צה"ל, UAX #29). */
const GERSHAYIM = /(?:["\u201c\u201d](?<=\p{Script=Hebrew}.)|''(?<=\p{Script=Hebrew}..))(?=\p{Script=Hebrew})/gu;
/** Between the digits of a number, a comma and a no-break space divide thousands as a dot does. */
const THOUSANDS = /[,\u066c\u00a0\u2009\u202f](?=\p{Nd}{2,3}(?!\p{Nd}))(?<=\p{Nd}.)/gu;
/** What divides the parts of a name in a script without blanks, in Hangul or in Arabic. */
const NAME_GAP = /^[\s\u2010'\u2018\u2019`.\u00b7\u30a0\u30fb=-]+$/;
const NOT_ASCII = /[^\0-\x7f]/;
const HANGUL = /^\p{Script=Hangul}/u;
/** What precedes a syllable of decomposed Hangul inside a word, in whatever script it is. */
const BEFORE_SYLLABLE = /[^\u1100-\u115f](?=[\u1100-\u115f])/g;
/** The Arabic article, folded. It is written as one word with the word after it, which is also used without it. */
const ARTICLE = "\u0627\u0644";
const WITHOUT_ARTICLE = new RegExp(`^(?!${ARTICLE})\\p{Script=Arabic}{2,}$`, "u");
/** The maximum number of words of a query that are read both without the article and with it. */
const maxArticles = 4;
/** Letters that names also spell with two letters, or with another one. */
const UMLAUTS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa", đ: "dj", ə: "a" };
const UMLAUT = /[äöüøåđə]/gi;
/** The word of a record that has one of these signs, which a query can spell as a word. */
const AND = "&";
const AND_SIGN = /&|\+(?=[ \p{L}])(?<=[ \p{L}]\+)/u;
/** The words for it, folded, in the languages of company names. */
const AND_WORDS: ReadonlySet<string> = new Set(
  "and und et y e en og och ja és ve și и і та και ו و और".split(" ").map(fold),
);
/** The maximum length of a joined word: no query is longer. */
const maxJoined = 100;
/** The maximum length of all joined words of a text together, which only a text of single letters reaches. */
const maxAllJoined = 1_000_000;
/** The maximum number of ways to read the joiners of a query. It allows every way for four. */
const maxSpellings = 16;
/** The maximum number of ways to spell the umlauts of a name. It allows every way for three different ones. */
const maxUmlautWays = 8;
const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");
/** Thai, the first of these scripts in Unicode. Letters below it need no comparison with the list. */
const FIRST_UNSPACED = 0x0e00;
/** The ratio of search terms per letter in scripts without and with blanks: 2.9 to 0.4 in notes. */
const UNSPACED_WEIGHT = 7;

/**
 * Returns the distinct words of a record's text, folded (contract §3.1), then those that hyphens, apostrophes and dots
 * join, and then an ampersand if it has one; none for null. A run of a script without blanks is one word here. `terms`
 * lets a word begin at each of its characters.
 */
export function recordWords(text: string | null | undefined): string[] {
  return text ? wordsOf(foldWithJoiners(text)) : [];
}

function wordsOf(folded: string): string[] {
  return [...new Set([...wordsIn(folded), ...joinedWords(folded), ...(AND_SIGN.test(folded) ? [AND] : [])])];
}

/** Returns the words of a folded query that stand for an ampersand, each between blanks. */
export function andWordsIn(folded: string): ReadonlySet<string> {
  return new Set(folded.split(/\s+/).filter((word) => AND_WORDS.has(word)));
}

/** Returns the words with an ampersand for each of these after another one. A last letter can begin a word. */
export function withAndSigns(words: readonly string[], andWords: ReadonlySet<string>): string[] {
  const isAnd = (word: string, at: number): boolean =>
    at > 0 && (word.length > 1 || at < words.length - 1) && andWords.has(word);
  return words.map((word, at) => (isAnd(word, at) ? AND : word));
}

/** Returns the other ways to write the words: some of those in Arabic with the article, and first all of them. */
export function withArticles(words: readonly string[]): string[][] {
  const bare = words.filter((word) => WITHOUT_ARTICLE.test(word)).slice(0, maxArticles);
  return Array.from({ length: 2 ** bare.length - 1 }, (_, way) => {
    const left = new Set(bare.filter((_word, at) => Math.floor(way / 2 ** at) % 2 === 1));
    return words.map((word) => (bare.includes(word) && !left.has(word) ? ARTICLE + word : word));
  });
}

/**
 * Returns the folded text, in which a hyphen is in place of what joins words invisibly, an apostrophe in place of
 * gershayim, and a dot between thousands.
 */
export function foldWithJoiners(text: string): string {
  const visible = text.includes(NON_JOINER) ? text.replace(ARABIC_JOINER, "-") : text;
  return fold(visible.replace(THOUSANDS, ".")).replace(GERSHAYIM, "'");
}

/** Returns the folded text of a name, or of a query for one. Blanks that names lack elsewhere join as a hyphen does. */
export function foldNameWithJoiners(name: string): string {
  return foldWithJoiners(name).replace(ARABIC_BLANK, "-");
}

/** The words of a name. */
export interface NameWords {
  readonly words: readonly string[];
  /** The endings of its Korean words, each from the beginning of a syllable. They are not words of their own. */
  readonly endings: readonly string[];
}

/**
 * Returns the words of names (contract §3.2): those of `recordWords`, those with umlauts spelt as two letters, and
 * parts of scripts without blanks and of Korean names as one word.
 */
export function nameWords(...names: readonly (string | null | undefined)[]): NameWords {
  const spelt = names.flatMap((name) => (name ? spellingsOfName(name).map(foldWithJoiners) : []));
  const words = new Set(spelt.flatMap((folded) => [...wordsOf(folded), ...joinedParts(folded)]));
  const endings = [...words]
    .filter((word) => NOT_ASCII.test(word))
    .flatMap(endingsOf)
    .filter((ending) => !words.has(ending));
  return { words: [...words], endings: [...new Set(endings)] };
}

/**
 * Returns the texts by which a query can be the whole name (contract §3.2): its words in order, without what divides
 * them. A name and a query that share one differ at most in that.
 */
export function nameKeys(text: string | null | undefined): string[] {
  const keys = (text ? spellingsOfName(text) : []).map((spelt) => wordsIn(foldWithJoiners(spelt)).join(""));
  return [...new Set(keys)].filter((key) => key !== "");
}

/**
 * Returns the text of a name, and with umlauts spelt as two letters if it has any: all of them, or only some of its
 * different letters (Nørgård is also Norgaard).
 */
export function spellingsOfName(name: string): string[] {
  if (!NOT_ASCII.test(name)) return [name];
  const composed = name.normalize("NFC");
  const letters = [...new Set(composed.toLowerCase().match(UMLAUT))];
  if (letters.length === 0) return [name];
  const ways = Math.min(2 ** letters.length, maxUmlautWays);
  // From all letters to none: the last way is the name itself.
  const spelt = Array.from({ length: ways - 1 }, (_, way) => {
    const kept = letters.filter((_letter, at) => Math.floor(way / 2 ** at) % 2 === 1);
    return composed.replace(UMLAUT, (letter) => {
      const lower = letter.toLowerCase();
      return kept.includes(lower) ? letter : (UMLAUTS[lower] ?? letter);
    });
  });
  return [name, ...spelt];
}

/**
 * Returns the folded spellings of a folded query, in which joined words are read as several words, as one, or partly as
 * one. The first one is the query as typed, and the second one joins all.
 */
export function spellings(folded: string): string[] {
  const chains = chainsIn(folded);
  if (chains.length === 0) return [folded];
  const gaps = chains.map((chain) => chain.slice(1).map(({ from }) => from - 1));
  const all = gaps.flat();
  const found = new Set([folded, without(folded, all)]);
  const add = (some: readonly number[]): void => {
    if (found.size < maxSpellings) found.add(without(folded, some));
  };
  for (const ofChain of gaps) add(ofChain);
  const ways = 2 ** Math.min(all.length, maxSpellings) - 1;
  for (let way = 1; way < ways && found.size < maxSpellings; way += 1)
    add(all.filter((_, at) => Math.floor(way / 2 ** at) % 2 === 1));
  return [...found];
}

/** Returns the text without the UTF-16 units at these places, which are in order. */
function without(text: string, places: readonly number[]): string {
  return [-1, ...places].map((place, at) => text.slice(place + 1, places[at] ?? text.length)).join("");
}

/** A word and its place in a folded text. */
interface Placed {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

/** Returns the rows of at least two words that joiners join. Each is in scripts without blanks, or in others. */
function chainsIn(folded: string): Placed[][] {
  if (!HAS_JOINER.test(folded)) return [];
  return rowsIn(folded, (gap, before, after) => JOINER.test(gap) && isUnspaced(before) === isUnspaced(after));
}

/** Returns the rows of at least two words that are parts of a name in a script without blanks, in Hangul or in Arabic. */
function dividedNamesIn(folded: string): Placed[][] {
  if (!NOT_ASCII.test(folded)) return [];
  const isOf = (word: string): boolean => isUnspaced(word) || HANGUL.test(word) || ARABIC.test(word);
  return rowsIn(
    folded,
    (gap, before, after) =>
      isOf(before) && isOf(after) && isUnspaced(before) === isUnspaced(after) && NAME_GAP.test(gap),
  );
}

function rowsIn(folded: string, isJoined: (gap: string, before: string, after: string) => boolean): Placed[][] {
  const rows: Placed[][] = [];
  let row: Placed[] = [];
  for (const { 0: word, index: from } of folded.matchAll(wordPattern(folded))) {
    const before = row.at(-1);
    if (before !== undefined && !isJoined(folded.slice(before.to, from), before.word, word)) row = [];
    row.push({ word, from, to: from + word.length });
    if (row.length === 2) rows.push(row);
  }
  return rows;
}

/** Returns the words that parts of names make together: all of them, or in the Arabic script each two. */
function joinedParts(folded: string): string[] {
  return dividedNamesIn(folded).flatMap((row) => {
    const parts = row.map(({ word }) => word);
    if (parts.some((part) => ARABIC.test(part))) return parts.slice(1).map((part, at) => `${parts[at]}${part}`);
    return wordsIn(parts.join(""));
  });
}

/** Returns the endings of a word that begin with a syllable of Hangul. */
function endingsOf(word: string): string[] {
  return [...word.matchAll(BEFORE_SYLLABLE)].map(({ index }) => word.slice(index + 1));
}

/**
 * Returns the words that joiners make of several words, from each of these on: jrr and rr for "j.r.r". A script without
 * blanks needs only the first, in which a word may begin anywhere.
 */
function joinedWords(folded: string): string[] {
  const found: string[] = [];
  let left = maxAllJoined;
  for (const chain of chainsIn(folded)) {
    const parts = chain.map(({ word }) => word);
    // In a script without blanks, a zero-width space may be inside.
    const joined = parts.join("").replaceAll(ZERO_WIDTH_SPACE, "");
    if (isUnspaced(joined)) {
      found.push(joined);
      continue;
    }
    let at = 0;
    for (const part of parts.slice(0, -1)) {
      const word = withinPoints(joined.slice(at), maxJoined);
      left -= word.length;
      if (left < 0) return found;
      found.push(word);
      at += part.length;
    }
  }
  return found;
}

function withinPoints(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, endOfCodePoints(text, max));
}

/**
 * Returns the distinct words of a query, folded, in order of appearance (contract §3.1). Each must be the beginning of
 * a word of the record. A query without letters or digits has no words and matches nothing.
 */
export function queryWords(text: string): string[] {
  return [...new Set(splitWords(text))];
}

/**
 * Returns the runs of letters and digits in order, duplicates included. A run also ends at a change between scripts
 * with and without blanks.
 */
export function splitWords(text: string): string[] {
  return wordsIn(fold(text));
}

/**
 * Returns where a word that begins with `word`, one of a query's, first begins in a folded text, or -1. With `isWhole`,
 * it must be that word. Joiners may divide it, as in `recordWords`.
 */
export function findWord(folded: string, word: string, isWhole: boolean): number {
  if (word === AND) return folded.search(AND_SIGN);
  const unspaced = isUnspaced(word);
  // Each sign that is left out has the length 1. What is before a part thus has as many more letters as there are parts.
  const parts = folded.split(unspaced ? JOINER_OR_SPACE : WITHIN_JOINED);
  const joined = parts.join("");
  const first = joined.indexOf(word);
  if (first === -1) return -1;
  let from = 0;
  for (const [left, part] of parts.entries()) {
    if (unspaced && first < from + part.length) return first + left;
    if (!unspaced && from + part.length > first)
      for (const { index } of part.matchAll(WORD_BEGIN)) {
        const place = from + index + left;
        const isThere = joined.startsWith(word, from + index);
        if (isThere && !(isWhole && BEGINS_SPACED.test(folded.slice(place + word.length)))) return place;
      }
    from += part.length;
  }
  return -1;
}

/**
 * Returns the folded text without what joins words, or divides them only in some scripts. It contains all its words and
 * all joined words, with an ampersand at the end if it has a sign for one.
 */
export function withoutJoiners(folded: string): string {
  return folded.replace(JOINERS, "") + (AND_SIGN.test(folded) ? AND : "");
}

/** Returns the words of a folded text in order, duplicates included. */
export function wordsIn(folded: string): string[] {
  const words: string[] = folded.match(wordPattern(folded)) ?? [];
  return folded.includes(ZERO_WIDTH_SPACE) ? words.map((word) => word.replaceAll(ZERO_WIDTH_SPACE, "")) : words;
}

function wordPattern(folded: string): RegExp {
  return NOT_ASCII.test(folded) ? WORD : ASCII_WORD;
}

/**
 * Estimates the number of search terms of a text, in characters of a script with blanks. The estimate may be too high:
 * it counts every letter from Thai on as one without blanks.
 */
export function termWeight(text: string): number {
  let weight = text.length;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= FIRST_UNSPACED) weight += UNSPACED_WEIGHT - 1;
  return weight;
}

/** Whether a folded word is in a script without blanks. A match may then begin at any character of a record's run. */
export function isUnspaced(word: string): boolean {
  return word.charCodeAt(0) >= FIRST_UNSPACED && BEGINS_UNSPACED.test(word);
}
