// The oracle: the search rules of the contract (§3.1 to §3.4) taken literally, as a plain function over all records. It
// shares no code with the service.

/** A contact of the oracle. A later one is newer. */
export interface OracleContact {
  readonly fullName?: string;
  readonly inferredName?: string;
  readonly email?: string;
  readonly phone?: string;
}

/** Letters that NFKD leaves alone, and letters that the contract makes one. */
const SAME: Readonly<Record<string, string>> = {
  ...{ ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ħ: "h", ə: "e", ς: "σ", ŋ: "n", ŧ: "t" },
  ...{ "\u02bb": "'", "\u02bc": "'", "\u02be": "'", "\u02bf": "'" },
  ...{ "\u06cc": "\u064a", "\u0649": "\u064a", "\u06a9": "\u0643", "\u0629": "\u0647" },
};
const WITH_VOWEL_SIGNS =
  /[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Nukta, and the signs above and below that are no vowels: tones, shortening and silencing signs. */
const NUKTA_OR_TONE =
  /[\u093c\u09bc\u0a3c\u0abc\u0b3c\u0c3c\u0cbc\u0e47-\u0e4c\u0e4e\u0ec8-\u0ecc\u17c9-\u17d0\u17d3\u17dd\u1037\u1087-\u108d]/u;
/** The marks that make another letter of a kana. */
const VOICING = /[\u3099\u309a]/u;
const INVISIBLE = /[\u00ad\u200c-\u200f\u2060\ufeff]/gu;
const WITHOUT_BLANKS = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
const HANGUL = /\p{scx=Hang}/u;

function fold(text: string): string {
  const joined = text.replace(/(?<=\p{sc=Arab})\u200c(?=\p{sc=Arab})/gu, "-");
  const letters = [...joined.replace(INVISIBLE, "").normalize("NFKD")].filter(
    (letter) =>
      !/\p{M}/u.test(letter) || VOICING.test(letter) || (WITH_VOWEL_SIGNS.test(letter) && !NUKTA_OR_TONE.test(letter)),
  );
  const cased = letters.join("").toLowerCase().toUpperCase().toLowerCase();
  return [...cased]
    .map((letter) => {
      if (/[\u3041-\u3096]/u.test(letter)) return String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0x60);
      return SAME[letter] ?? letter;
    })
    .join("")
    .replace(/[\u30a1-\u30ff]+[\u3099\u309a\u30a1-\u30ff]*/gu, (kana) => kana.normalize("NFC"));
}

type Kind = "spaced" | "unspaced";
interface Word {
  readonly letters: string;
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
}

/** The runs of letters, digits and marks. */
function wordsIn(folded: string): Word[] {
  const words: { letters: string; kind: Kind; from: number; to: number }[] = [];
  let at = 0;
  for (const letter of folded) {
    const end = at + letter.length;
    const last = words.at(-1);
    const kind = WITHOUT_BLANKS.test(letter) ? "unspaced" : "spaced";
    const begins = /[\p{L}\p{N}]/u.test(letter);
    if (last !== undefined && last.to === at && last.kind === kind && (begins || /\p{M}/u.test(letter))) {
      last.letters += letter;
      last.to = end;
    } else if (begins) words.push({ letters: letter, kind, from: at, to: end });
    at = end;
  }
  return words;
}

/** Whether what is between two words is one hyphen, apostrophe, dot, middle dot or ampersand. */
function areJoined(folded: string, one: Word, next: Word): boolean {
  return one.kind === next.kind && /^[-\u2010'\u2019.\u00b7\u30fb&]$/u.test(folded.slice(one.to, next.from));
}

/** A way to cut a text into words, in which some joined words are one. */
type Cut = readonly string[];

function cutsOf(folded: string): Cut[] {
  const words = wordsIn(folded);
  let cuts: string[][] = [[]];
  for (const [at, word] of words.entries()) {
    const before = words[at - 1];
    const joined = before !== undefined && areJoined(folded, before, word);
    const divided = cuts.map((cut) => [...cut, word.letters]);
    const together = joined ? cuts.map((cut) => [...cut.slice(0, -1), (cut.at(-1) ?? "") + word.letters]) : [];
    cuts = [...divided, ...together];
  }
  return cuts;
}

/** The cuts of a query, and those in which an ampersand is in place of an "and" after another word. */
function queryCuts(query: string): Cut[] {
  const isAnd = (word: string): boolean => ["and", "und"].includes(word) && fold(query).split(/\s/u).includes(word);
  return cutsOf(fold(query)).flatMap((cut) => [cut, cut.map((word, at) => (at > 0 && isAnd(word) ? "&" : word))]);
}

/** The words of a text, and those that joined words make: each with all that are joined behind it. */
function rowsOf(folded: string): Cut[] {
  const words = wordsIn(folded);
  return words.map((word, at) => {
    const row = [word];
    for (const next of words.slice(at + 1)) {
      if (!areJoined(folded, row.at(-1) ?? word, next)) break;
      row.push(next);
    }
    return [word.letters, row.map(({ letters }) => letters).join("")];
  });
}

/** The words of a record: whole ones, and what may begin a match besides. */
interface Searched {
  readonly whole: Set<string>;
  readonly begins: Set<string>;
}

function searched(texts: readonly string[], areNames: boolean): Searched {
  const whole = new Set<string>();
  const begins = new Set<string>();
  for (const text of texts.flatMap((one) => (areNames ? [one, ...expansions(one)] : [one]))) {
    const folded = fold(text);
    if (/&| \+ /u.test(folded)) for (const set of [whole, begins]) set.add("&");
    for (const cut of [...rowsOf(folded), ...(areNames ? [togetherIn(folded)] : [])]) {
      for (const word of cut) {
        whole.add(word);
        begins.add(word);
        if (areNames && /^\u0627\u0644../u.test(word)) begins.add(word.slice(2));
        const letters = [...word];
        const isOf = (script: RegExp): boolean => script.test(letters[0] ?? "");
        for (const at of letters.keys()) {
          const beginsSyllable = areNames && isOf(HANGUL) && /[\u1100-\u115f]/u.test(letters[at] ?? "");
          if (isOf(WITHOUT_BLANKS) || beginsSyllable) begins.add(letters.slice(at).join(""));
        }
      }
    }
  }
  return { whole, begins };
}

/** A name with some of its ä, ö, ü, ø, å as two letters, each everywhere. */
function expansions(name: string): string[] {
  let texts = [name.normalize("NFC")];
  for (const [one, two] of Object.entries({ ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa", đ: "dj" }))
    texts = texts.flatMap((text) => [text, text.replaceAll(one, two).replaceAll(one.toUpperCase(), two)]);
  return texts;
}

/** The parts of a name in a script without blanks, or in Hangul, each with its neighbours as one word. */
function togetherIn(folded: string): string[] {
  const found: string[] = [];
  let last: Word | undefined;
  for (const word of wordsIn(folded)) {
    const alike = (script: RegExp): boolean =>
      last !== undefined && script.test(last.letters) && script.test(word.letters);
    const gap = last === undefined ? "" : folded.slice(last.to, word.from);
    if ((alike(WITHOUT_BLANKS) || alike(HANGUL)) && /^[\s\-'’.·\u2010・]+$/u.test(gap))
      found.push((found.pop() ?? "") + word.letters);
    else found.push(word.letters);
    last = word;
  }
  return found;
}

function begin(words: Iterable<string>, word: string): boolean {
  for (const other of words) if (other.startsWith(word)) return true;
  return false;
}

/** The number of joiners in a query, each of which divides words or joins them. */
export function joinersIn(query: string): number {
  const folded = fold(query);
  const words = wordsIn(folded);
  return words.filter((word, at) => at > 0 && areJoined(folded, words[at - 1] as Word, word)).length;
}

/** Whether a note or a title matches a query. */
export function matchesText(
  text: string,
  query: string,
  { isNote, name = "" }: { isNote: boolean; name?: string },
): boolean {
  const own = searched([text], false);
  const ofName = searched([name], true);
  const has = (word: string): boolean =>
    isNote && [...word].length === 1 && !WITHOUT_BLANKS.test(word)
      ? own.whole.has(word)
      : begin(own.begins, word) || begin(ofName.begins, word);
  // The query over sessions can be a client's name.
  return [query, ...(isNote ? [] : expansions(query))]
    .flatMap(queryCuts)
    .some((cut) => cut.length > 0 && cut.every(has));
}

interface Prepared {
  readonly name: Searched;
  readonly any: Searched;
  readonly contact: OracleContact;
}

export function prepare(contacts: readonly OracleContact[]): readonly Prepared[] {
  return contacts.map((contact) => {
    const name = searched([contact.fullName ?? "", contact.inferredName ?? ""], true);
    const others = searched([contact.email ?? "", contact.phone ?? ""], false);
    const any = {
      whole: new Set([...name.whole, ...others.whole]),
      begins: new Set([...name.begins, ...others.begins]),
    };
    return { name, any, contact };
  });
}

/** The indexes of the contacts that a query of words finds, at most 25, tier by tier, the newest first in each. */
export function searchContacts(prepared: readonly Prepared[], query: string): number[] {
  const tokens = query.split(/[\s,;()]+/u).filter((token) => token !== "");
  const names = tokens.filter((token) => !TITLES.includes(fold(token).replace(/[.'"-]/gu, "")));
  const name = names.length === 0 ? query : names.join(" ");
  const asTyped = tiersOf(prepared, query);
  const found = asTyped.length > 0 || name === query ? asTyped : tiersOf(prepared, name);
  if (found.length > 0) return found;
  const cuts = cutsOfAll(name);
  const similar = [...prepared.keys()].filter((at) => {
    const one = prepared[at] as Prepared;
    return hasLetters(one, name) || isMisspelt(one, cuts) || isDivided(one, cuts);
  });
  return similar.toReversed().slice(0, 25);
}

/** The titles that an invented query can have. */
const TITLES = "mr ms mx dr sr jr md ing mag sig lic dra mw".split(" ");

function cutsOfAll(query: string): Cut[] {
  return [...new Set([query, ...expansions(query)])]
    .flatMap((one) => queryCuts(one).map((cut) => [...new Set(cut)]))
    .filter(({ length }) => length > 0);
}

function tiersOf(prepared: readonly Prepared[], query: string): number[] {
  const cuts = cutsOfAll(query);
  if (cuts.length === 0) return [];
  const tiers: number[][] = [[], [], [], []];
  for (const [at, { name, any, contact }] of prepared.entries()) {
    const some = (test: (word: string) => boolean): boolean => cuts.some((cut) => cut.every(test));
    const tier = isWhole(contact, query)
      ? 0
      : some((word) => name.whole.has(word))
        ? 1
        : some((word) => any.whole.has(word))
          ? 2
          : some((word) => begin(any.begins, word))
            ? 3
            : undefined;
    if (tier !== undefined) tiers[tier]?.unshift(at);
  }
  return tiers.flat().slice(0, 25);
}

function isWhole({ fullName = "", inferredName = "", email }: OracleContact, query: string): boolean {
  if (email?.toLowerCase() === query.trim().toLowerCase()) return true;
  const keys = (text: string): string[] =>
    [...new Set(expansions(text))].flatMap((one) => [
      ...cutsOf(fold(one)).map((cut) => cut.join(" ")),
      togetherIn(fold(one)).join(" "),
    ]);
  const typed = keys(query);
  return [fullName, inferredName].some(
    (name) => name !== "" && keys(name).some((key) => key !== "" && typed.includes(key)),
  );
}

/** Whether the query is the whole name with other blanks. */
function hasLetters({ contact: { fullName = "", inferredName = "" } }: Prepared, query: string): boolean {
  const lettersOf = (text: string): string[] =>
    expansions(text).map((one) =>
      wordsIn(fold(one))
        .map(({ letters }) => letters)
        .join(""),
    );
  const names = [fullName, inferredName].flatMap(lettersOf);
  return lettersOf(query).some((letters) => letters !== "" && names.includes(letters));
}

function isMisspelt({ name, any }: Prepared, cuts: readonly Cut[]): boolean {
  return cuts.some((cut) =>
    cut.some((word, at) => {
      if ([...word].length < 5 || /\p{N}/u.test(word) || /\p{sc=Han}/u.test(word) || HANGUL.test(word)) return false;
      const others = cut.filter((_, other) => other !== at);
      return (
        [...name.whole].some((right) => differsByOne(word, right)) && others.every((other) => begin(any.begins, other))
      );
    }),
  );
}

/** Whether consecutive words of a query are, without the blanks, the beginning of consecutive words of a name. */
function isDivided({ any, contact: { fullName = "", inferredName = "" } }: Prepared, cuts: readonly Cut[]): boolean {
  // The words that joined words make follow the others.
  const names = [fullName, inferredName].flatMap(expansions).map((name) => {
    const rows = rowsOf(fold(name));
    return [...new Set([0, 1].flatMap((at) => rows.map((row) => row[at] ?? "")))];
  });
  const rests = names.flatMap((words) => words.map((_, at) => words.slice(at)));
  const together = rests.map((rest) => rest.join(""));
  return cuts.some((cut) =>
    cut.some((_, from) =>
      cut.slice(from).some((_other, more) => {
        const run = cut.slice(from, from + more + 1).join("");
        const others = [...cut.slice(0, from), ...cut.slice(from + more + 1)];
        return canBeDivided(run) && begin(together, run) && others.every((other) => begin(any.begins, other));
      }),
    ),
  );
}

function canBeDivided(run: string): boolean {
  return /^[\p{L}\p{M}]{5,30}$/u.test(run) && !WITHOUT_BLANKS.test(run) && !HANGUL.test(run);
}

/** Whether `typed` is `right` with one letter wrong, missing, doubled or swapped, after the first two. */
function differsByOne(typed: string, right: string): boolean {
  const [a, b] = [[...typed], [...right]];
  if (a[0] !== b[0] || a[1] !== b[1]) return false;
  const without = (letters: readonly string[], at: number): string =>
    letters.filter((_, other) => other !== at).join("");
  if (a.length === b.length) {
    const wrong = a.flatMap((letter, at) => (letter === b[at] ? [] : [at]));
    const [first = 0, second = 0] = wrong;
    return (
      wrong.length === 1 ||
      (wrong.length === 2 && second === first + 1 && a[first] === b[second] && a[second] === b[first])
    );
  }
  if (a.length === b.length - 1) return b.some((_, at) => without(b, at) === typed);
  return (
    a.length === b.length + 1 && a.some((letter, at) => at > 0 && letter === a[at - 1] && without(a, at) === right)
  );
}
