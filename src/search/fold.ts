// Text folding: the common form of stored search text and queries (contract §3.1).

/**
 * Lower-case characters that NFKD and case folding do not change, with their spelling on a plain keyboard. They are
 * ligatures, letters with strokes, and letters that represent an apostrophe (ʻokina, ayn, hamza) and divide words like
 * one. The final sigma is included because `toLowerCase` turns a capital sigma at the end of a word into it.
 */
const ALONE: Readonly<Record<string, string>> = {
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  æ: "ae",
  œ: "oe",
  ħ: "h",
  ŧ: "t",
  ŋ: "n",
  ĸ: "k",
  ə: "e",
  ƒ: "f",
  ɛ: "e",
  ɔ: "o",
  ɩ: "i",
  ʋ: "v",
  ɲ: "n",
  ɣ: "g",
  ɓ: "b",
  ɗ: "d",
  ɖ: "d",
  ɠ: "g",
  ƙ: "k",
  ƥ: "p",
  ƭ: "t",
  ʈ: "t",
  ƴ: "y",
  ⱥ: "a",
  ƀ: "b",
  ȼ: "c",
  ɇ: "e",
  ǥ: "g",
  ɨ: "i",
  ɉ: "j",
  ƚ: "l",
  ɫ: "l",
  ɵ: "o",
  ɍ: "r",
  ⱦ: "t",
  ʉ: "u",
  ɏ: "y",
  ƶ: "z",
  ʹ: "'",
  ʺ: "'",
  ʻ: "'",
  ʼ: "'",
  ʽ: "'",
  ʾ: "'",
  ʿ: "'",
  ς: "σ",
};

const NOT_ASCII = /[^\0-\x7f]/;
/**
 * Marks and invisible characters (soft hyphen, joiners, direction marks), which do not divide words (UAX #29, WB4). The
 * zero-width space is excluded because it divides words.
 */
const UNSEEN = new RegExp("[\\p{M}[\\p{Default_Ignorable_Code_Point}--\\u200b]]+", "gv");
const ALONE_OR_DIGIT = new RegExp(`[${Object.keys(ALONE).join("")}]|[^\\P{Nd}0-9]`, "gu");
const DIGIT = /\p{Nd}/u;

/**
 * Returns the folded text (contract §3.1, §3.2): NFKD without marks, with full case folding. Spells letters with
 * strokes and ligatures plainly, and replaces the decimal digits of every script by 0-9. Idempotent. NFC and NFD input
 * have equal results. Takes linear time, and returns at most 18 code points for each of the input.
 */
export function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  // Marks are also removed before NFKD, which takes quadratic time to reorder a long sequence of them.
  const bare = text.replace(UNSEEN, "").normalize("NFKD").replace(UNSEEN, "");
  // Upper case, then lower case is full case folding (ß = ss). The first `toLowerCase` is for ẞ, which is upper case
  // already.
  const cased = bare.toLowerCase().toUpperCase().toLowerCase();
  return cased.replace(ALONE_OR_DIGIT, (letter) => ALONE[letter] ?? decimal(letter));
}

/** Returns the value of a decimal digit. Unicode keeps the digits of a script together, in tens from 0 to 9. */
function decimal(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}
