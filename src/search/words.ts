// Words: what a record is found by and what a query searches for (contract §3.1).
import { fold } from "./fold.ts";

/**
 * The scripts that put no blanks between words: those in which Unicode breaks lines by dictionary or between any two
 * letters (UAX #14, classes SA and ID), and Javanese and Balinese. Extensions bring in what scripts share (ー, 々).
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
/** A zero-width space does not divide a run of a script without blanks: a word may begin at every character anyway. */
const WORD = new RegExp(
  `[${LETTER_OR_DIGIT}--${UNSPACED}]+|[${LETTER_OR_DIGIT}&&${UNSPACED}](?:${ZERO_WIDTH_SPACE}*[${LETTER_OR_DIGIT}&&${UNSPACED}])*`,
  "gv",
);
const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");
/** Thai comes first among them: a letter below it needs no look at the list. */
const FIRST_UNSPACED = 0x0e00;
/** Search terms of a letter of a script without blanks, for each of one with blanks: in notes, 2.9 against 0.4. */
const UNSPACED_WEIGHT = 7;

/**
 * The distinct words of a record's text, folded, in order of appearance; none for null (contract §3.1). A run of a
 * script without blanks comes whole: in a record a word begins at every character of it, and `terms` spells those out.
 */
export function recordWords(text: string | null | undefined): string[] {
  return text ? [...new Set(wordsInTurn(text))] : [];
}

/**
 * The distinct words of a query, folded, in order of appearance (contract §3.1); each has to be the beginning of a word
 * of the record. None where the query has no letter or digit: then nothing matches.
 */
export function queryWords(text: string): string[] {
  return [...new Set(wordsInTurn(text))];
}

/**
 * The runs of letters and digits, each time they appear; one ends, too, where a script without blanks meets another.
 */
export function wordsInTurn(text: string): string[] {
  const words: string[] = fold(text).match(WORD) ?? [];
  return text.includes(ZERO_WIDTH_SPACE) ? words.map((word) => word.replaceAll(ZERO_WIDTH_SPACE, "")) : words;
}

/**
 * Estimates how many search terms a text has, in characters of a script with blanks. The estimate may be too high: it
 * counts every letter from Thai on as one of a script without blanks.
 */
export function termWeight(text: string): number {
  let weight = text.length;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= FIRST_UNSPACED) weight += UNSPACED_WEIGHT - 1;
  return weight;
}

/**
 * Whether a folded word is of a script without blanks, so that a match may begin at any character of a record's run.
 */
export function isUnspaced(word: string): boolean {
  return word.charCodeAt(0) >= FIRST_UNSPACED && BEGINS_UNSPACED.test(word);
}
