// Texts for the bench: names, and two invented languages with realistic word frequencies (Zipf).
import type { Random } from "../../fixtures/random.ts";
import { createRandom, pick } from "../../fixtures/random.ts";

/** The words of a language, most frequent first. */
export type Language = readonly string[];

const wordCount = 20_000;
const openings = ["an", "be", "co", "da", "el", "fa", "gu", "ha", "in", "jo", "lu", "ma", "no", "or", "pe", "qui"];
const middles = [
  "ro",
  "sa",
  "ti",
  "un",
  "va",
  "wi",
  "bra",
  "cle",
  "dri",
  "fre",
  "gra",
  "pla",
  "sto",
  "tre",
  "mar",
  "son",
  "ber",
  "ton",
];
const otherOpenings = ["szö", "czy", "zał", "köp", "öst", "ků", "yng", "vå", "xe", "rzę", "kvi", "ühl", "żda", "yaž"];
const otherMiddles = ["łow", "nią", "ský", "jö", "ček", "dź", "ůj", "svä", "kää", "hü", "gło", "bję", "ně", "zó"];

/** The two languages. Their words share no prefix. */
export const languages: readonly [Language, Language] = [
  words("first", openings, middles),
  words("second", otherOpenings, otherMiddles),
];
export const firstNames = words("given", openings, middles, 2_000).map(capital);
export const lastNames = words("family", middles, openings, 5_000).map(capital);

/** A random name. Some are far more frequent than others. */
export function personName(random: Random): { first: string; last: string } {
  return {
    first: firstNames[Math.floor(random() ** 3 * firstNames.length)] as string,
    last: lastNames[Math.floor(random() ** 2 * lastNames.length)] as string,
  };
}

/** Random sentences with about `length` characters. */
export function sentences(random: Random, language: Language, length: number): string {
  let text = "";
  for (let begins = true; text.length < length; ) {
    const word = language[Math.floor(language.length ** random()) - 1] as string;
    text += `${text === "" ? "" : " "}${begins ? capital(word) : word}`;
    begins = random() < 0.08;
    if (begins) text += ".";
  }
  return text;
}

/** A random note length in characters: log-normal, 240 on average, at most 10,000. */
export function noteLength(random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(8, Math.min(9_900, Math.round(Math.exp(Math.log(240) - 0.32 + 0.8 * normal))));
}

function words(seed: string, first: readonly string[], others: readonly string[], count = wordCount): string[] {
  const random = createRandom(seed);
  const all = new Set<string>();
  while (all.size < count) {
    // Frequent words are short.
    const length = 1 + Math.floor((all.size / count) * 2 + random() * 2.5);
    all.add(pick(random, first) + Array.from({ length }, () => pick(random, others)).join(""));
  }
  return [...all];
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
