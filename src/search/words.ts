// Words of records and queries (contract §3.1).
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
const ZERO_WIDTH_SPACE = "\u200b";
/** A zero-width space does not divide a run of a script without blanks, in which a word may begin anywhere. */
const WORD = new RegExp(
  `[${LETTER_OR_DIGIT}--${UNSPACED}]+|[${LETTER_OR_DIGIT}&&${UNSPACED}](?:${ZERO_WIDTH_SPACE}*[${LETTER_OR_DIGIT}&&${UNSPACED}])*`,
  "gv",
);
const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");
/** Thai, the first of these scripts in Unicode. Letters below it need no comparison with the list. */
const FIRST_UNSPACED = 0x0e00;
/** The ratio of search terms per letter in scripts without and with blanks: 2.9 to 0.4 in notes. */
const UNSPACED_WEIGHT = 7;

/**
 * Returns the distinct words of a record's text, folded, in order of appearance (contract §3.1); none for null. A run
 * of a script without blanks is one word here. `terms` lets a word begin at each of its characters.
 */
export function recordWords(text: string | null | undefined): string[] {
  return text ? [...new Set(splitWords(text))] : [];
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
  const words: string[] = fold(text).match(WORD) ?? [];
  return text.includes(ZERO_WIDTH_SPACE) ? words.map((word) => word.replaceAll(ZERO_WIDTH_SPACE, "")) : words;
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
