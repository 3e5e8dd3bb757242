// Recognizes the encoding of a text by its bytes: byte order marks, UTF-16 and UTF-8 by their form, the code pages of
// address books by the words that they result in.
import { TextDecoder } from "node:util";

/** How many units of UTF-16 have one byte of zero, at least, in a text with delimiters and line ends: one in ten. */
const minZeros = 0.1;

/**
 * Returns the standard name of the encoding of a file that begins with these bytes. A byte order mark takes precedence
 * over `said`, the label that the user set. Without both, it is UTF-16 if the zeros are where UTF-16 has them, and
 * otherwise UTF-8.
 */
export function encodingOf(first: Uint8Array, said?: string): string {
  if (first[0] === 0xff && first[1] === 0xfe) return "utf-16le";
  if (first[0] === 0xfe && first[1] === 0xff) return "utf-16be";
  if (first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf) return "utf-8";
  return said === undefined ? (unmarkedUtf16(first.subarray(0, 4_096)) ?? "utf-8") : new TextDecoder(said).encoding;
}

function unmarkedUtf16(first: Uint8Array): string | undefined {
  const zeros = [0, 0];
  for (const [at, byte] of first.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  // Two units with a zero are the least that a header has.
  if (Math.min(even, odd) > 0 || even + odd < Math.max(2, (first.length / 2) * minZeros)) return undefined;
  return odd > 0 ? "utf-16le" : "utf-16be";
}

/** Decodes bytes. Returns undefined for invalid ones, instead of replacing them by U+FFFD. */
export type Decode = (bytes: Uint8Array) => string | undefined;

/** Returns the decoder of an encoding. Fails if its label is not known. */
export function decoderOf(encoding: string): Decode {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const decode: Decode = (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  };
  return decoder.encoding === "windows-1252" ? (bytes) => withWindowsSigns(decode(bytes)) : decode;
}

/** The characters of windows-1252 from 0x80 on. It has none for 5 bytes. */
const windowsSigns = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ";

/** Some versions of Node decode windows-1252 as Latin-1, which has controls for the quotation marks. */
function withWindowsSigns(text: string | undefined): string | undefined {
  const exact = text?.replace(/[\x80-\x9f]/g, (sign) => windowsSigns[sign.charCodeAt(0) - 0x80] ?? "\0");
  // A NUL of the text itself is found later.
  return exact?.includes("\0") === true && text?.includes("\0") === false ? undefined : exact;
}

/** Encodings of one byte a character, the most frequent first, and the letters of the languages that use them. */
const codePages: readonly (readonly [encoding: string, letters: ReadonlySet<string>])[] = [
  ["windows-1252", new Set("äöüßéèêëáàâãåæçñíìîïóòôõøúùûýÿœ")],
  ["macintosh", new Set("äöüßéèêëáàâãåæçñíìîïóòôõøúùûÿœ")],
  ["windows-1250", new Set("ąćęłńóśźżáčďéěíňřšťúůýžőűäöüßëîâăçô")],
];

/** Encodings of two bytes a character, and the ranges of its bytes. `usual` are the lead bytes of everyday words. */
const pairedPages: readonly PairedPage[] = [
  {
    encoding: "shift_jis",
    isLead: (byte) => (byte >= 0x81 && byte <= 0x9f) || (byte >= 0xe0 && byte <= 0xfc),
    isTrail: (byte) => byte >= 0x40 && byte !== 0x7f && byte <= 0xfc,
    isSingle: (byte) => byte >= 0xa1 && byte <= 0xdf,
    isUsual: (lead) => lead <= 0x98,
  },
  {
    encoding: "gbk",
    isLead: (byte) => byte >= 0x81 && byte <= 0xfe,
    isTrail: (byte) => byte >= 0x40 && byte !== 0x7f && byte <= 0xfe,
    isSingle: () => false,
    // The rows of kana have the bytes 0xa4 and 0xa5: Chinese has none, and Japanese in EUC-JP has many.
    isUsual: (lead, trail) => lead >= 0xa1 && lead <= 0xd7 && trail >= 0xa1 && lead !== 0xa4 && lead !== 0xa5,
  },
];

interface PairedPage {
  readonly encoding: string;
  isLead(byte: number): boolean;
  isTrail(byte: number): boolean;
  /** Whether a byte above ASCII is a character of its own. */
  isSingle(byte: number): boolean;
  isUsual(lead: number, trail: number): boolean;
}

/**
 * Returns the code page of bytes that are not UTF-8. Returns undefined if none of those known here results in plausible
 * words.
 */
export function recognizeCodePage(bytes: Uint8Array): string | undefined {
  const paired = pairedPages.find((page) => isPlausible(page, bytes));
  if (paired !== undefined) return paired.encoding;
  let [best, most]: [string | undefined, number] = [undefined, 0];
  for (const [encoding, letters] of codePages) {
    const score = scoreOf(decoderOf(encoding)(bytes) ?? "", letters);
    if (score > most) [best, most] = [encoding, score];
  }
  return best;
}

/** Returns whether most characters above ASCII are usual ones, and have neighbours, as in words. */
function isPlausible({ isLead, isTrail, isSingle, isUsual }: PairedPage, bytes: Uint8Array): boolean {
  let [usual, unusual, neighbours] = [0, 0, 0];
  let end = -1;
  for (let at = 0; at < bytes.length; at++) {
    const [byte = 0, next = 0] = [bytes[at], bytes[at + 1]];
    if (byte < 0x80) continue;
    if (isLead(byte) && isTrail(next)) {
      if (isUsual(byte, next)) usual++;
      else unusual++;
      if (end === at) neighbours++;
      end = at + 2;
      at++;
    } else if (isSingle(byte)) unusual++;
    else return false;
  }
  return usual > 0 && unusual <= usual / 3 && neighbours >= usual / 3;
}

const letter = /\p{L}/u;
const upperCase = /\p{Lu}/u;
/** Signs that programs write before a word, after a word, or between words. */
const [before, after, between] = [new Set("“„‘¿¡"), new Set("”’…ªº°²³™®"), new Set("«»‹›–—•€£§©·½¼´\u00a0")];

/** How many letters above ASCII, of a hundred, follow another one. In Greek, Cyrillic or Hebrew, nearly all do. */
const maxInRow = 40;
/** How many characters above ASCII, of a hundred, may be where no word has them. */
const maxWrong = 20;
/** How many characters above ASCII, of a hundred, may be neither letters nor what word processors insert. */
const maxRare = 30;
const typographic = new Set("‘’“”„–—…•€");

/** Rates how well the characters above ASCII fit their neighbours. 0 or less: they do not. */
function scoreOf(text: string, letters: ReadonlySet<string>): number {
  let [score, all, inRow, wrong, rare] = [0, 0, 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const [sign = "", previous = "", next = ""] = [text[at], text[at - 1], text[at + 1]];
    if (sign <= "\u007f") continue;
    const rating = rate(sign, previous, next, letters);
    score += rating;
    all++;
    if (rating < 0) wrong++;
    if (!letter.test(sign) && !typographic.has(sign)) rare++;
    if (previous > "\u007f" && letter.test(previous)) inRow++;
  }
  // A text of a few words may have one odd sign.
  const isOdd = wrong > 1 && wrong * 100 > all * maxWrong;
  const fits = inRow * 100 <= all * maxInRow && !isOdd && rare * 100 <= all * maxRare;
  return fits ? score : 0;
}

function rate(sign: string, previous: string, next: string, letters: ReadonlySet<string>): number {
  const [follows, precedes] = [letter.test(previous), letter.test(next)];
  if (letters.has(sign)) {
    if (!follows) return precedes ? (upperCase.test(next) ? -1 : 2) : 0;
    return upperCase.test(previous + next) ? 1 : 2;
  }
  if (letters.has(sign.toLowerCase())) return follows && !upperCase.test(previous) ? -3 : 1;
  if (sign === "’") return follows ? 2 : 0;
  if (before.has(sign)) return follows ? -3 : 2;
  if (after.has(sign)) return precedes ? -3 : 2;
  if (between.has(sign)) return follows && precedes ? -3 : follows || precedes ? 0 : 1;
  return -3;
}
