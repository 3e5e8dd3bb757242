// Folding: the one spelling in which records are stored for search and queries are read (contract §3.1).

/**
 * What NFKD and case folding leave alone, in lower case, and how a plain keyboard writes it: letters with strokes and
 * ligatures; the letters that represent an apostrophe (ʻokina, ayn, hamza), which divide words as it does; and the
 * final sigma, which `toLowerCase` makes of a capital at the end of a word.
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
 * zero-width space is not among them: it divides words.
 */
const UNSEEN = new RegExp("[\\p{M}[\\p{Default_Ignorable_Code_Point}--\\u200b]]+", "gv");
const ALONE_OR_DIGIT = new RegExp(`[${Object.keys(ALONE).join("")}]|[^\\P{Nd}0-9]`, "gu");
const DIGIT = /\p{Nd}/u;

/**
 * The folded form of a text: NFKD without marks, full case folding, letters with strokes and ligatures spelt plainly,
 * the decimal digits of every script as 0-9 (contract §3.1, §3.2).
 * Idempotent; the same for NFC and NFD input; linear in the length; at most 18 code points for one of the input.
 */
export function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  // Marks go before NFKD as well: putting a long row of them into canonical order is quadratic.
  const bare = text.replace(UNSEEN, "").normalize("NFKD").replace(UNSEEN, "");
  // Upper then lower is full case folding (ß = ss); lower before them, as ẞ is upper case already.
  const cased = bare.toLowerCase().toUpperCase().toLowerCase();
  return cased.replace(ALONE_OR_DIGIT, (letter) => ALONE[letter] ?? decimal(letter));
}

/** The value of a decimal digit: Unicode keeps those of a script together, in tens from 0 to 9. */
function decimal(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}
