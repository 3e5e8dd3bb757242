// Recognizes the columns of emails and phones whose names no program is known for, by their words.
import wordsByGroup from "./csv-header-words.json" with { type: "json" };

const groups: ReadonlyMap<string, string> = new Map(
  Object.entries<readonly string[]>(wordsByGroup).flatMap(([group, all]) =>
    all.map((word) => [plain(word), group] as const),
  ),
);

/** The kinds of numbers: the first that a header names is the kind of its column. */
const phoneKinds = ["phone_fax", "phone_pager", "phone_mobile", "phone_work", "phone_home", "phone"];
/** What a header of a phone must name, besides the kind of number. */
const phones = ["phone", "phone_mobile", "phone_fax", "phone_pager"];

interface TargetByWords {
  readonly target: string;
  readonly isSecondary: boolean;
}

/**
 * Returns the target of a header if all its words are known, or those that capital letters divide (`homeTelNo`, but not
 * WhatsApp). `isSecondary` is whether another column comes first.
 */
export function targetByWords(header: string): TargetByWords | undefined {
  return targetOf(plain(header)) ?? targetOf(plain(header.replace(/(?<=\p{Ll}{2})(?=\p{Lu})/gu, " ")));
}

function targetOf(words: string): TargetByWords | undefined {
  const found = new Set<string>();
  for (const [word] of words.replace(/\be(?:\P{L}(?=mail)|[-\u2011])/gu, "e").matchAll(/\p{L}+/gu)) {
    const parts = groupsOf(word);
    if (parts === undefined) return undefined;
    for (const group of parts) found.add(group);
  }
  const isPhone = phones.some((one) => found.has(one));
  if (isPhone === found.has("email")) return undefined;
  const target = isPhone ? phoneKinds.find((one) => found.has(one)) : "email";
  return target === undefined ? undefined : { target, isSecondary: found.has("secondary") };
}

/** The parts of a longer word are not looked for. */
const maxWordLength = 40;

/** Returns the groups of a word, or of the known words that it is composed of: `Faxnummer`, `勤務先の電話番号`. */
function groupsOf(word: string): readonly string[] | undefined {
  const whole = groups.get(word);
  if (whole !== undefined || word.length > maxWordLength) return whole === undefined ? undefined : [whole];
  /** The groups of the rest of the word from each position, the longest words first. */
  const rests: (readonly string[] | undefined)[] = [];
  rests[word.length] = [];
  for (let from = word.length - 1; from >= 0; from--) {
    for (let to = word.length; to > from && rests[from] === undefined; to--) {
      const [part, rest] = [word.slice(from, to), rests[to]];
      const group = canBePart(part) && rest !== undefined ? groups.get(part) : undefined;
      if (group !== undefined && rest !== undefined) rests[from] = [group, ...rest];
    }
  }
  return rests[0];
}

/** Short words are parts only in scripts that write no blanks between words: those of South-East and East Asia. */
function canBePart(word: string): boolean {
  return word.length > 2 || word > "\u0e00";
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ł", "l");
}
