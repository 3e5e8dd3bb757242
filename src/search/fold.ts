// Text folding: the common form of stored search text and queries (contract §3.1).
import { setBounded } from "../call/bounded-cache.ts";

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
  // Other apostrophes (prime, reversed, saltillo, Armenian) and other middle dots (bullets, hyphenation point).
  "\u2032": "'",
  "\u201b": "'",
  ꞌ: "'",
  "\u055a": "'",
  "\u2022": "·",
  "\u2027": "·",
  "\u2219": "·",
  "\u22c5": "·",
  // Cyrillic letters with strokes, descenders and hooks, which Russian keyboards lack; and the final sigma.
  ...variants("ґг ғг қк ҡк ҝк ңн ҥн өо үу ұу ҳх һх ҷч ҹч җж ҙз ҫс әа ςσ"),
  // The Hebrew geresh, gershayim and maqaf, which keyboards replace by an apostrophe, a quotation mark and a hyphen.
  "\u05f3": "'",
  "\u05f4": '"',
  "\u05be": "-",
  // The final forms of Hebrew letters: a name keeps them before a hyphen (בן־גוריון), and loses them if it is joined.
  ...variants("ךכ םמ ןנ ףפ ץצ"),
  // Chillu letters and the khanda ta, which older texts write as a consonant without its vowel; and a nasal sign.
  "\u0d7a": "\u0d23\u0d4d",
  "\u0d7b": "\u0d28\u0d4d",
  "\u0d7c": "\u0d30\u0d4d",
  "\u0d7d": "\u0d32\u0d4d",
  "\u0d7e": "\u0d33\u0d4d",
  "\u0d7f": "\u0d15\u0d4d",
  "\u09ce": "\u09a4\u09cd",
  "\u0901": "\u0902",
  // The first letter of the Tamil Sri, whose two spellings look the same.
  "\u0bb6": "\u0bb8",
  // Letters that Arabic, Persian and Urdu keyboards interchange: alef, yeh, kaf and heh. A tatweel is only a line.
  "\u0671": "\u0627",
  "\u0649": "\u064a",
  "\u06cc": "\u064a",
  "\u06a9": "\u0643",
  "\u0629": "\u0647",
  "\u06be": "\u0647",
  "\u06c1": "\u0647",
  "\u06c3": "\u0647",
  "\u06d5": "\u0647",
  "\u0640": "",
  // The Ethiopic series of one sound: ኃይለ is also typed as ሀይለ.
  ...variants(
    "ሃሀ ሐሀ ሑሁ ሒሂ ሓሀ ሔሄ ሕህ ሖሆ ሠሰ ሡሱ ሢሲ ሣሳ ሤሴ ሥስ ሦሶ ኀሀ ኁሁ ኂሂ " +
      "ኃሀ ኄሄ ኅህ ኆሆ ኣአ ዐአ ዑኡ ዒኢ ዓአ ዔኤ ዕእ ዖኦ ፀጸ ፁጹ ፂጺ ፃጻ ፄጼ ፅጽ ፆጾ",
  ),
  // The forms of characters that Japanese names have besides the usual ones: 渡邊 is also typed as 渡辺.
  ...variants(
    "邊辺 邉辺 髙高 﨑崎 嵜崎 澤沢 濱浜 濵浜 廣広 國国 櫻桜 嶋島 嶌島 德徳 惠恵 瀨瀬 眞真 齋斎 齊斎 斉斎 龍竜 彌弥 禮礼",
  ),
  ...variants(
    "與与 壽寿 榮栄 圓円 學学 藏蔵 淺浅 冨富 舘館 曾曽 條条 檜桧 槇槙 靜静 將将 緖緒 凜凛 穗穂 豐豊 萬万 關関 鐵鉄",
  ),
  ...variants(
    "黑黒 增増 栁柳 𠮷吉 淵渕 渊渕 峯峰 埜野 桒桑 吳呉 來来 實実 聰聡 巖巌 戶戸 藪薮 鄕郷 邨村 會会 澁渋 ヵカ ヶケ",
  ),
};

/** Returns each first character with the one after it. */
function variants(pairs: string): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.split(" ").map((pair) => [...pair] as [string, string]));
}

/**
 * A run of letters that need more than lower case, with the blanks between its words. What is beside a run does not
 * change its folded form.
 */
const NOT_ASCII = /[^\0-\x7f]+(?:[\0-\x7f]{1,2}[^\0-\x7f]{2,})*/g;
/** The maximum length of a run that is remembered, in UTF-16 units: an accented letter, a quotation mark, a dash. */
const maxShort = 2;
const shortRuns = new Map<string, string>();
/** The scripts whose vowel signs are letters: those of India and its neighbours, and of Southeast Asia. */
const WITH_VOWEL_SIGNS = [
  "Devanagari",
  "Bengali",
  "Gurmukhi",
  "Gujarati",
  "Oriya",
  "Tamil",
  "Telugu",
  "Kannada",
  "Malayalam",
  "Sinhala",
  "Meetei_Mayek",
  "Thai",
  "Lao",
  "Khmer",
  "Myanmar",
];
/**
 * The signs that join consonants or remove a vowel. Unicode counts them among the diacritics, as it does nukta and tone
 * marks. Thai and Lao signs that shorten or silence a letter are not among them: they are ignored like tone marks.
 */
const VIRAMAS =
  "\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca" +
  "\\u0e3a\\u0eba\\u1039\\u103a\\u17d1\\u17d2\\uaaf6\\uabed";
/** The marks that make another letter of a kana: が is not か. */
const VOICING = "\\u3099\\u309a";
/** Those that make none: あ゙ is あ. */
const UNVOICED = new RegExp(`[${VOICING}]+`, "gu");
const SCRIPTS = WITH_VOWEL_SIGNS.map((script) => `\\p{Script=${script}}`).join("");
const VOWEL_SIGN = `[[${SCRIPTS}]&&[\\p{M}--\\p{Diacritic}]]`;
const KEPT = `[${VOWEL_SIGN}${VIRAMAS}${VOICING}]`;
/**
 * Marks and invisible characters (soft hyphen, joiners, direction marks), which do not divide words (UAX #29, WB4). The
 * zero-width space is excluded because it divides words.
 */
const UNSEEN = new RegExp(`[[\\p{M}\\p{Default_Ignorable_Code_Point}]--[\\u200b${KEPT}]]+`, "gv");
/** NFKD takes quadratic time to reorder a long sequence of marks, so only the first ones are kept. */
const TOO_MANY = new RegExp(`(${KEPT}{30})${KEPT}+`, "gv");
/** Acute accents that are typed for an apostrophe, and the marks of kana that stand alone: NFKD adds a blank to them. */
const BLANKED = /[\u00b4\u1ffd\u309b\u309c]/g;
const UNBLANKED: Readonly<Record<string, string>> = { "\u309b": "\u3099", "\u309c": "\u309a" };
/** Signs that NFKD spells with letters (numero, service mark, telephone, trade mark). They divide words: №5, Acme™. */
const SPELT_SIGNS = /[\u2116\u2120-\u2122]/g;
/** What the previous release removed: all marks. */
const ALL_UNSEEN = new RegExp("[\\p{M}[\\p{Default_Ignorable_Code_Point}--\\u200b]]+", "gv");
const CHANGED = new RegExp(`[${Object.keys(ALONE).join("")}]|[^\\P{Nd}0-9]|[\u3041-\u3096\u309d\u309e]`, "gu");
/** The scripts of India and Myanmar and the kana, in which NFKD divides some letters and vowel signs. */
const DIVIDED = /[\u0900-\u0dff\u1000-\u109f\u3099-\u30ff]+/g;
/** A nasal consonant without its vowel before one of its class, also written as a sign in Devanagari (आनन्द, आनंद). */
const NASALS =
  /\u0919\u094d(?=[\u0915-\u0918])|\u091e\u094d(?=[\u091a-\u091d])|\u0923\u094d(?=[\u091f-\u0922])|\u0928\u094d(?=[\u0924-\u0927])|\u092e\u094d(?=[\u092a-\u092d])/g;
/** A character or a kana that a mark after it repeats: 佐々木 is also typed as 佐佐木, and いすゞ as いすず. */
const REPEATED = new RegExp("(?=[\u3005\u30fd])(?<=([[\\p{Script=Han}\u30a1-\u30fa]--\u3005]))[\u3005\u30fd]+", "gv");
/** Two signs of the Thai or Lao vowel e, which look like the vowel ae, the letter after it. */
const DOUBLED_E = /\u0e40{2}|\u0ec0{2}/g;
/** The distance from a hiragana letter to its katakana letter. */
const KANA_DISTANCE = 0x60;
const DIGIT = /\p{Nd}/u;

/**
 * Returns the folded text (contract §3.1, §3.2): NFKD with full case folding, and without marks that are not vowel
 * signs, of which each is one letter again: কে is not the beginning of কো. Spells letters with strokes and ligatures
 * plainly, hiragana as katakana, and the decimal digits of every script as 0-9. Idempotent. NFC and NFD input have
 * equal results. Takes linear time, and returns at most 18 code points for each of the input.
 */
export function fold(text: string): string {
  return text.replace(NOT_ASCII, foldRun).toLowerCase();
}

function foldRun(run: string): string {
  const known = shortRuns.get(run);
  if (known !== undefined) return known;
  const folded = foldBy(UNSEEN, withoutBlanks(run).replace(SPELT_SIGNS, " $& "))
    .replace(CHANGED, changed)
    .replace(DOUBLED_E, ([letter = ""]) => String.fromCharCode(letter.charCodeAt(0) + 1))
    .replace(REPEATED, (marks, letter: string) => letter.repeat(marks.length))
    .replace(DIVIDED, (letters) => letters.normalize("NFC").replace(UNVOICED, "").replace(NASALS, "\u0902"));
  if (run.length <= maxShort) setBounded(shortRuns, run, folded);
  return folded;
}

function withoutBlanks(text: string): string {
  return text.replace(BLANKED, (sign) => UNBLANKED[sign] ?? "'");
}

/** Returns the text as the previous release folded it, which stored terms still show until they are migrated. */
export function foldBefore(text: string): string {
  const keptThen =
    /[\u0400-\u04ff\u05be\u05da-\u05e5\u05f3\u05f4\u0600-\u06ff\u0900-\u0dff\u1200-\u137f\u3041-\u30ff\u4e00-\ufaff\u{20000}-\u{2ffff}ꞌ]/u;
  const foldRunBefore = (run: string): string =>
    foldBy(ALL_UNSEEN, run).replace(CHANGED, (letter) =>
      keptThen.test(letter) && !DIGIT.test(letter) ? letter : changed(letter),
    );
  return text.replace(NOT_ASCII, foldRunBefore).toLowerCase();
}

function foldBy(unseen: RegExp, text: string): string {
  // Marks are also removed before NFKD, which takes quadratic time to reorder a long sequence of them.
  const bare = text.replace(unseen, "").replace(TOO_MANY, "$1").normalize("NFKD").replace(unseen, "");
  // Upper case, then lower case is full case folding (ß = ss). The first `toLowerCase` is for ẞ, which is upper case
  // already.
  return bare.toLowerCase().toUpperCase().toLowerCase();
}

function changed(letter: string): string {
  const isHiragana = letter >= "\u3041" && letter <= "\u309e";
  const kana = isHiragana ? String.fromCharCode(letter.charCodeAt(0) + KANA_DISTANCE) : letter;
  return ALONE[kana] ?? (isHiragana ? kana : decimal(letter));
}

/** Returns the value of a decimal digit. Unicode keeps the digits of a script together, in tens from 0 to 9. */
function decimal(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}
