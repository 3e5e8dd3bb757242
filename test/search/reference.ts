// The reference: the contract's rule of search taken literally, without an index, and texts of many scripts to try it
// on.
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const MARK = /\p{M}/u;
const JOINER = /^[-\u2010'\u2018\u2019`.\u00b7\u30fb&]$/u;
const UNSPACED = [
  /\p{scx=Han}/u,
  /\p{scx=Hira}/u,
  /\p{scx=Kana}/u,
  /\p{scx=Thai}/u,
  /\p{scx=Laoo}/u,
  /\p{scx=Khmr}/u,
  /\p{scx=Mymr}/u,
];

export interface Run {
  letters: string[];
  unspaced: boolean;
  /** Whether one hyphen, apostrophe or dot joins it to the run before. */
  joined: boolean;
}

/** The runs of letters and digits of a text, letter by letter; one ends where a script without blanks meets another. */
function runs(text: string): Run[] {
  const found: Run[] = [];
  let open: Run | undefined;
  let gap = "";
  for (const letter of fold(text)) {
    // It ends a word, except in a script in which every character begins one.
    if (letter === "\u200b") {
      if (open?.unspaced === false) open = undefined;
      gap += letter;
      continue;
    }
    const unspaced = UNSPACED.some((script) => script.test(letter));
    const continues = open?.unspaced === unspaced;
    if (!LETTER_OR_DIGIT.test(letter) && !(MARK.test(letter) && continues)) {
      open = undefined;
      gap += letter;
      continue;
    }
    if (!continues) {
      const before = found.at(-1);
      open = { letters: [], unspaced, joined: before?.unspaced === unspaced && JOINER.test(gap) };
      found.push(open);
    }
    gap = "";
    open?.letters.push(letter);
  }
  return found;
}

/** The ways to cut a text into words, in which some joined runs are one. */
export function cuts(text: string): string[][] {
  let found: { letters: string[]; unspaced: boolean }[][] = [[]];
  for (const { letters, unspaced, joined } of runs(text)) {
    const together = joined
      ? found.map((cut) => [...cut.slice(0, -1), { letters: [...(cut.at(-1)?.letters ?? []), ...letters], unspaced }])
      : [];
    found = [...found.map((cut) => [...cut, { letters, unspaced }]), ...together];
  }
  return found.map((cut) => cut.map(({ letters }) => letters.join("")));
}

/** Every word of a record: in a script without blanks one begins at every character. */
function allWords(record: string): string[] {
  return runs(record).flatMap(({ letters, unspaced }) =>
    unspaced ? letters.map((_, at) => letters.slice(at).join("")) : [letters.join("")],
  );
}

export function queryTerms(query: string): string[] {
  return runs(query).map(({ letters }) => letters.join(""));
}

/** Every word of the query is the beginning of some word of the record, and there is one. */
export function matches(record: string, query: string, isNote = false): boolean {
  const whole = new Set(cuts(record).flat());
  const words = [...whole, ...[...whole].flatMap(endingsOf)];
  const has = (word: string): boolean =>
    isNote && [...word].length === 1 && !isUnspaced(word)
      ? whole.has(word)
      : words.some((other) => other.startsWith(word));
  return cuts(query).some((needed) => needed.length > 0 && needed.every(has));
}

function isUnspaced(word: string): boolean {
  return UNSPACED.some((script) => script.test([...word][0] ?? ""));
}

function endingsOf(word: string): string[] {
  const letters = [...word];
  return isUnspaced(word) ? letters.map((_, at) => letters.slice(at).join("")) : [];
}

/** Every word of the query is a whole word of the record: in a script without blanks, a whole run. */
export function matchesWhole(record: string, query: string): boolean {
  const words = cuts(record).flat();
  return cuts(query).some((needed) => needed.length > 0 && needed.every((word) => words.includes(word)));
}

/** A word of a query, and whether a `+` is between it and the word before. */
interface Typed {
  readonly word: string;
  readonly afterPlus: boolean;
}

function typedWords(query: string): Typed[] {
  return fold(query)
    .split("+")
    .flatMap((part, at) => queryTerms(part).map((word, place) => ({ word, afterPlus: at > 0 && place === 0 })));
}

export interface SearchedContact {
  readonly name: string;
  readonly phone: string;
}

/**
 * The rule for contacts: the query can be cut so that every word of it is the beginning of a word of the record, or is
 * one of the numbers in a row that together are the beginning of the phone's digits. Those that begin with a `+` do so
 * from there. At most `phones` such rows are in the query.
 */
export function matchesContact({ name, phone }: SearchedContact, query: string, phones: number): boolean {
  const all = fold(phone).replace(/[^0-9]/g, "");
  const digits = all.startsWith("00") ? all.slice(2) : all;
  const words = [...allWords(name), ...allWords(phone), all, digits];
  const typed = typedWords(query);
  const isNumber = (at: number): boolean => /^[0-9]+$/.test(typed[at]?.word ?? "");
  const follows = (at: number): boolean => isNumber(at - 1) && isNumber(at) && typed[at]?.afterPlus === false;
  const plusBefore = (at: number): boolean => typed[at]?.afterPlus === true || (follows(at) && plusBefore(at - 1));
  const matchesFrom = (at: number, left: number): boolean => {
    const first = typed[at]?.word;
    if (first === undefined) return true;
    if (words.some((word) => word.startsWith(first)) && matchesFrom(at + 1, left)) return true;
    if (left === 0 || !isNumber(at) || (plusBefore(at) && typed[at]?.afterPlus === false)) return false;
    let joined = first;
    for (let end = at + 1; follows(end); end += 1) {
      joined += typed[end]?.word ?? "";
      if (digits.startsWith(joined) && matchesFrom(end + 1, left - 1)) return true;
    }
    return false;
  };
  return typed.length > 0 && matchesFrom(0, phones);
}

const digits = fc.string({ unit: fc.constantFrom(..."0124"), minLength: 1, maxLength: 3 });
const gap = fc.constantFrom("", "", " ", "/", ") (", "\u00a0");
const spaced = (text: string, gaps: readonly string[]): string =>
  [...text].map((digit, at) => (at === 0 ? "" : (gaps[at % gaps.length] ?? "")) + digit).join("");
const gaps = fc.array(gap, { minLength: 1, maxLength: 9 });

/**
 * A contact with numbers in its name and a phone, and a query that mostly finds it: the beginnings of words of the name
 * and of the phone, in any order, the phone with or without `+` and spaced anew.
 */
export const contactAndQuery: fc.Arbitrary<[contact: SearchedContact, query: string]> = fc
  .record({
    names: fc.array(fc.oneof(digits, fc.constantFrom("unit", "flat", "b4")), { minLength: 1, maxLength: 4 }),
    phone: fc.string({ unit: fc.constantFrom(..."0124"), minLength: 1, maxLength: 8 }),
    typedLength: fc.integer({ min: 1, max: 5 }),
    inRecord: gaps,
    inQuery: gaps,
    signs: fc.tuple(fc.constantFrom("", "+"), fc.constantFrom("", "+")),
    stranger: fc.option(digits, { freq: 6 }),
  })
  .chain(({ names, phone, typedLength, inRecord, inQuery, signs: [stored, typed], stranger }) => {
    const phoneTyped = typed + spaced(phone.slice(0, typedLength), inQuery);
    const parts = [...names, phoneTyped, ...(stranger === null ? [] : [stranger])];
    return fc
      .shuffledSubarray(parts, { minLength: 1 })
      .map((chosen) => [{ name: names.join(" "), phone: stored + spaced(phone, inRecord) }, chosen.join(" ")]);
  });

/**
 * Few letters of each script, so that records and queries meet: accents, ligatures, wide forms and squares among them.
 */
const ALPHABETS = [
  "aAbé",
  "oøØœ",
  "sSßẞſ",
  "lŁłi",
  "iIİı",
  "σςΣ",
  "ίΐα",
  "йиЁе",
  "ابأة",
  "שׁםב",
  "हिन्द",
  "会议室明",
  "ひがかー",
  "ｶﾞハパ㌖",
  "한하글ㅎ",
  "ไทยำ",
  "ຄວາ",
  "ខ្មែ",
  "မြန်",
  "𠀀𠀁会",
  "𝒜𐐨𐐀b",
  "12３٣",
  "½Ⅷ②㏠",
  "ﬁﷺi",
  "🎉👩‍👧",
  "\u0301\u00ad\u200b",
  "-+('ʼ.",
].map((letters) => [...letters]);

const word = fc
  .constantFrom(...ALPHABETS)
  .chain((letters) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 6 }));
/** Long enough for every length that counts (4, 8, 12, 32), of two letters so that the beginnings agree. */
const longWord = fc
  .constantFrom("ab", "会议", "𐐨𐐩", "𠀀𠀁", "ไท", "12")
  .chain((letters) =>
    fc
      .tuple(
        fc.constantFrom(3, 4, 7, 8, 11, 12, 31, 32, 33),
        fc.constantFrom(...letters),
        fc.string({ unit: fc.constantFrom(...letters), maxLength: 3 }),
      )
      .map(([length, first, end]) => first.repeat(length) + end),
  );
const blank = fc.constantFrom(" ", " ", "", "-", "\n", ", ", "。");

/** A record's text. */
export const anyText: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.oneof({ weight: 4, arbitrary: word }, { weight: 1, arbitrary: longWord }), blank), {
    maxLength: 8,
  })
  .map((parts) => parts.flat().join(""));

const respell = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.normalize("NFD"),
  (text) => text.normalize("NFC"),
  fold,
);

/** A piece of a text from one code point to another, spelt anew: likely, but not certain, to be found in it. */
function piece(text: string): fc.Arbitrary<string> {
  const letters = [...text];
  return fc
    .tuple(fc.nat(letters.length), fc.nat(letters.length), respell)
    .map(([from, length, spell]) => spell(letters.slice(from, from + length).join("")));
}

/** The beginning of one of the text's words, or of its runs' endings. */
function beginning(text: string): fc.Arbitrary<string> {
  const words = allWords(text);
  if (words.length === 0) return word;
  return fc
    .tuple(fc.constantFrom(...words), fc.integer({ min: 1, max: 34 }))
    .map(([found, length]) => [...found].slice(0, length).join(""));
}

/** A record and a query that often finds it: one to three pieces, beginnings or strangers, in any order. */
export const recordAndQuery: fc.Arbitrary<[record: string, query: string]> = anyText.chain((record) => {
  const part = fc.oneof(
    { weight: 6, arbitrary: beginning(record) },
    { weight: 2, arbitrary: piece(record) },
    { weight: 1, arbitrary: fc.oneof(word, longWord) },
  );
  return fc.tuple(
    fc.constant(record),
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(" ")),
  );
});

/** Every code point of Unicode but the surrogates, or every `step`-th. */
export function* everyCodePoint(step = 1): Generator<string> {
  for (let point = 0; point < 0x110000; point += step) {
    if (point < 0xd800 || point > 0xdfff) yield String.fromCodePoint(point);
  }
}
