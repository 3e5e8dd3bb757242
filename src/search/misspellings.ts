// Misspelt names: the words that differ from a word of a query by one letter (contract §3.2).
import { endOfCodePoint } from "../text/text.ts";
import { fold } from "./fold.ts";

/** The lengths of words that may be misspelt. A longer word is not stored whole in the index. */
const minLength = 5;
const maxLength = 30;
/** The number of letters at the beginning that must be right. */
const rightLetters = 2;

/**
 * The letters with which scripts are written, as ranges of the basic letters. A letter of another script is compared
 * with those of its block, which is how Unicode arranges the scripts of India.
 */
const ALPHABETS = [
  [0x61, 0x7a],
  [0x3b1, 0x3c9],
  [0x430, 0x45f],
  [0x561, 0x586],
  [0x5d0, 0x5ea],
  [0x621, 0x64a, 0x67e, 0x686, 0x698, 0x6af, 0x679, 0x688, 0x691, 0x6ba],
  [0x10d0, 0x10f0],
] as const;
const blockLength = 0x80;
const firstOfOtherBlocks = 0x900;
const LETTERS = /^[\p{L}\p{M}]+$/u;
/** Words of letters, of which the last may be or end with a number (Studio 54). */
const WITH_NUMBER = /^\p{L}[\p{L}\p{M} ]*[0-9]*$/u;
const HAN_OR_HANGUL = /[\p{Script=Han}\p{Script=Hangul}]/u;
const alphabets = new Map<number, readonly string[]>();

/** Whether a word of a query may be a misspelt name. Words in Han and Hangul are too short. */
export function canBeMisspelt(word: string): boolean {
  return LETTERS.test(word) && hasLength(word);
}

/** Whether names may have the words of a query with other blanks. */
export function canBeDivided(words: readonly string[]): boolean {
  return WITH_NUMBER.test(words.join(" ")) && hasLength(words.join(""));
}

function hasLength(word: string): boolean {
  const { length } = [...word];
  return length >= minLength && length <= maxLength && !HAN_OR_HANGUL.test(word);
}

/** Returns the beginnings of a word, up to `longest` letters, with which its corrections begin: the shortest first. */
export function rightBeginningsOf(word: string, longest: number): string[] {
  const letters = [...word];
  return letters.slice(rightLetters - 1, longest).map((_, at) => letters.slice(0, at + rightLetters).join(""));
}

/**
 * Returns the words of which `word` is a misspelling: it has one letter wrong, missing or doubled, or two neighbouring
 * letters swapped. The first two letters are right, and the wrong one comes after at most `right` letters. There are at
 * most about twice as many as the letters of the word times those of its alphabet.
 */
export function correctionsOf(word: string, right = Infinity): string[] {
  const letters = [...word];
  const alphabet = [...new Set(letters.flatMap(alphabetOf))];
  const found = new Set<string>();
  const add = (from: number, to: number, ...others: readonly string[]): unknown =>
    found.add([...letters.slice(0, from), ...others, ...letters.slice(to)].join(""));
  for (let at = rightLetters; at <= Math.min(letters.length, right); at += 1) {
    for (const letter of alphabet) {
      add(at, at, letter);
      if (at < letters.length) add(at, at + 1, letter);
    }
    const [letter = "", next] = letters.slice(at);
    if (letter === letters[at - 1]) add(at, at + 1);
    if (next !== undefined) add(at, at + 2, next, letter);
  }
  found.delete(word);
  return [...found];
}

function alphabetOf(letter: string): readonly string[] {
  const point = letter.codePointAt(0) ?? 0;
  const own = ALPHABETS.find(
    ([first, last, ...others]) => (point >= first && point <= last) || others.some((other) => other === point),
  );
  const block = Math.max(0, point - (point % blockLength));
  const [first, last, ...others] =
    own ?? (point < firstOfOtherBlocks ? [point, point] : [block, block + blockLength - 1]);
  const known = alphabets.get(first);
  if (known !== undefined) return known;
  const range = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const all = [...range, ...others].map((one) => String.fromCodePoint(one));
  // Only letters as they are stored.
  const alphabet = all.filter((one) => LETTERS.test(one) && fold(one) === one && endOfCodePoint(one, 0) === one.length);
  alphabets.set(first, alphabet);
  return alphabet;
}
