// Invented names and notes in many scripts, and queries that people might type for them. Always the same for a seed.
import type { OracleContact } from "./oracle.ts";

/** Returns whole numbers below `count`. */
export type Random = (count: number) => number;

export function createRandom(seed: number): Random {
  let state = seed;
  return (count) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % count;
  };
}

/** The syllables of names of a language. Few of them, so that names resemble each other. */
const LANGUAGES: readonly { readonly syllables: string; readonly gaps: readonly string[] }[] = [
  { syllables: "an na mar tin ro berg sten lo wis ki", gaps: [" ", " ", "-"] },
  { syllables: "Jör gen Mül ler Schä fer grün bö", gaps: [" ", "-"] },
  { syllables: "Sø ren Ås a Bjø rn lø ken", gaps: [" "] },
  { syllables: "O'Bri en D’An ge lo Mac O'Ma", gaps: [" "] },
  { syllables: "Łu kasz Wiś niew ski Żó łć", gaps: [" ", "-"] },
  { syllables: "José Nú ñez Pé rez Ló ca", gaps: [" ", " de "] },
  { syllables: "Çe lik Şen Gül ğı İs kan", gaps: [" "] },
  { syllables: "Nguyễn Văn Đức Trần Thị", gaps: [" "] },
  { syllables: "J. R. A. C. Hal den", gaps: ["", " "] },
  { syllables: "Ан на Ёл кин Сер гей Їж ак", gaps: [" ", "-"] },
  { syllables: "Γιώρ γος Νί κος Αθη νά", gaps: [" "] },
  { syllables: "שׁ לוֹם כֹּ הן דָּ וד", gaps: [" ", "-"] },
  { syllables: "مُحَمَّد علی كري مي فاطمة رضا سامى", gaps: [" "] },
  { syllables: "کری می یاس هدی فاطمه علی", gaps: [" ", "\u200c"] },
  { syllables: "रा म मोह न क़म र री मा कु मार", gaps: [" "] },
  { syllables: "বা ংলা রা হুল দা স", gaps: [" "] },
  { syllables: "மு ருகன் செ ல்வி ரா", gaps: [" "] },
  { syllables: "ไม้ ดี น้ำ ใจ สม ชาย ดู", gaps: [" "] },
  { syllables: "森 川 健 一 花 田 中", gaps: [" ", "", "\u3000"] },
  { syllables: "タ ナカ スズ き ジョン ブラ ﾊﾅ", gaps: ["・", " ", ""] },
  { syllables: "王 小 明 张 伟 李", gaps: ["", " "] },
  { syllables: "김 민 준 서 연 지 훈", gaps: ["", "", " "] },
  { syllables: "ខ្មែ រ សុ ខា", gaps: [" "] },
  { syllables: "အောင် ဆန်း မြ", gaps: [" "] },
];
const WORDS =
  "kick-off kickoff node.js nodejs U.S.A. USA e-mail email don't dont C++ c a v2.1 call the garden follow-up followup col·lega l’eau".split(
    " ",
  );

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

export function inventedName(random: Random): string {
  const { syllables, gaps } = pick(random, LANGUAGES);
  const part = (): string => Array.from({ length: 1 + random(3) }, () => pick(random, syllables.split(" "))).join("");
  return part() + pick(random, gaps) + part();
}

/** Returns an invented text of words and names. */
export function inventedText(random: Random, nameOf = inventedName): string {
  const words = Array.from({ length: 2 + random(5) }, () => (random(3) === 0 ? nameOf(random) : pick(random, WORDS)));
  return words.join(pick(random, [" ", " ", ", "]));
}

export function inventedContact(random: Random, at: number, nameOf = inventedName): OracleContact {
  const word = (): string => pick(random, ["ann", "mar-tin", "o'brien", "lo.ro", "garden"]);
  return {
    fullName: nameOf(random),
    ...(random(4) === 0 ? { inferredName: nameOf(random) } : {}),
    ...(random(2) === 0 ? { email: `${word()}+${at}@${word().replace("'", "")}.example` } : {}),
  };
}

/** Returns a query that may find one of the texts, of 2 to 100 characters. */
export function inventedQuery(random: Random, texts: readonly string[]): string {
  const text = pick(random, texts);
  const words = text.split(/\s+/u).filter((word) => word !== "");
  const chosen = random(4) === 0 ? words : Array.from({ length: 1 + random(2) }, () => pick(random, words));
  if (random(8) === 0) chosen.push(pick(random, texts).split(" ")[0] ?? "");
  const query = respelt(
    random,
    (random(6) === 0 ? chosen.toReversed() : chosen).join(pick(random, [" ", " ", " ", "", "-"])),
  );
  return [...query].slice(0, 100).join("");
}

/** Returns the text as someone else might type it. */
function respelt(random: Random, text: string): string {
  const letters = [...text];
  const at = random(Math.max(1, letters.length));
  const without = (some: RegExp): string => text.replace(some, "");
  return pick<() => string>(random, [
    () => text,
    () => text,
    () => text.toUpperCase(),
    () => text.normalize("NFD"),
    () => without(/[-'’.·・]/gu),
    () => without(/\s/gu),
    () =>
      text
        .replace(/ä/giu, "ae")
        .replace(/ö/giu, "oe")
        .replace(/ü/giu, "ue")
        .replace(/ø/giu, "oe")
        .replace(/å/giu, "aa"),
    () => text.normalize("NFD").replace(/[\u0300-\u0302\u0308\u0327]/gu, ""),
    () => letters.slice(0, 1 + at).join(""),
    () => letters.slice(at).join(""),
    () => [...letters.slice(0, at), ...letters.slice(at + 1)].join(""),
    () => [...letters.slice(0, at), letters[at] ?? "", ...letters.slice(at)].join(""),
    () => [...letters.slice(0, at), letters[at + 1] ?? "", letters[at] ?? "", ...letters.slice(at + 2)].join(""),
    () => [...letters.slice(0, at), "e", ...letters.slice(at + 1)].join(""),
  ])();
}
