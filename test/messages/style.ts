// Checks a text by the rules for what people read: the words, the length of a sentence, how a text ends.

/** Words to avoid, and what to write. */
const words: readonly (readonly [found: RegExp, instead: string])[] = [
  [/\banswer(?:s|ed|ing)?\b/i, "response, returns, responds"],
  [/\brefus(?:e|es|ed|ing|al)\b/i, "reject"],
  [/\btells\b|\btold\b|\bcannot tell\b/i, "report, show, say"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\b(?:goes|go|going|went) on\b/i, "continue, resume"],
  [/\b(?:stands?|stood) (?:at|by|for)\b/i, "is"],
  [/\bbears?\b/i, "has"],
  [/\bwhoever\b|\bwho calls\b|\bwho runs\b/i, "the operator, the caller"],
  [/\b(?:is|are|be) of use\b|\bis meant\b|\bmust be had\b|\bcannot be had\b|\bailing|\bails\b/i, "a plain verb"],
  [/\bdoes not do\b|\bdo not do\b/i, "is not accepted"],
  [/\bIdP\b/, "identity provider"],
  [/\bour side\b|\bthe inside\b|\bthe outside\b/i, "the service, clients"],
  [/\bin the clear\b/i, "unencrypted"],
  [/, (?:which|that) nothing\b|(?<!\bthere )\bis no (?!longer|more)/i, "is not a, does not"],
  [/\bis away\b|\baway or slow\b/i, "is unavailable, cannot be reached"],
  [/\bwhere (?:that is not|none|they are not)\b/i, "if"],
];

const maxWords = 30;

/** The words to avoid in a text, each with what to write. */
export function wrongWordsIn(text: string): string[] {
  return words.flatMap(([found, instead]) => {
    const word = found.exec(text)?.[0];
    return word === undefined ? [] : [`"${word}": write ${instead}`];
  });
}

/** The flaws of a text; empty if there are none. */
export function flawsOf(text: string): string[] {
  const flaws = wrongWordsIn(text);
  const sentences = text.split(/(?<=[.!?][”"’)]?) (?=[“"(]?[\p{Lu}…])/u);
  for (const sentence of sentences) {
    const count = sentence.split(" ").filter((word) => /[\p{L}\p{N}…]/u.test(word)).length;
    if (count > maxWords) flaws.push(`${count} words: ${sentence}`);
  }
  if (sentences.length > 1 && !/[.!?:…)”"|]$/.test(text)) flaws.push("ends without a full stop");
  return flaws;
}
