// Finds words outside the vocabulary in identifiers, comments, test titles and file names.
import type { Source } from "./syntax.ts";
import type { Text } from "./words.ts";
import { textsOf } from "./words.ts";

/** A word that has a standard term: where it must not be, and what to write instead. */
interface Word {
  readonly use: string;
  /** Looked for in the words of a name: `answeredAt` is "answered at". */
  readonly inNames?: RegExp;
  /** Looked for in comments and titles. */
  readonly inProse?: RegExp;
}

/**
 * Names say these words, and so do comments and titles. The idioms of ordinary English are left out of the patterns.
 */
const words: readonly Word[] = [
  { use: "response", inNames: /\b(?:un)?answer/, inProse: /\b(?:un)?answer/i },
  {
    use: "reject",
    inNames: /\brefus/,
    inProse: /(?<!connections? (?:(?:is|are|was|were) )?)\brefus(?!es? the connection)/i,
  },
  { use: "instant", inNames: /\bmoments?\b/, inProse: /\bmoments\b|\b(?:each|every|some|or) moment\b/i },
  { use: "throttle", inNames: /\bcharg(?:es?|ed|ing)\b/, inProse: /\bcharg(?:es?|ed|ing)\b/i },
  { use: "finalize", inNames: /\bconclu/, inProse: /\bconclu/i },
  { use: "collect", inNames: /\bgather/, inProse: /\bgather/i },
  { use: "access policy", inNames: /\b(?:entrance|doors?)\b/, inProse: /\b(?:entrance|doors?)\b/i },
  { use: "fault mode", inNames: /\bweather\b/, inProse: /\bweather\b/i },
  { use: "supervisor", inNames: /\bleash/, inProse: /\bleash/i },
  { use: "report", inNames: /\b(?:un)?t(?:old|ell(?:s|ing)?)\b/, inProse: /\b(?:un)?t(?:old|ell(?:s|ing)?)\b/i },
  { use: "is", inProse: /\bstands\b(?! for\b|-)/i },
  { use: "continue", inProse: /\b(?:go|goes|going|went) on\b(?! strike)/i },
  { use: "have", inProse: /\bbears?\b/i },
  { use: "request", inNames: /\b(?:un)?ask(?:s|ed|ing)?\b/, inProse: /\b(?:un)?[aA]sk(?:s|ed|ing)?\b/ },
  { use: "fixture", inNames: /\bhouse\b/, inProse: /\bof the house\b/i },
  { use: "receive", inNames: /\b(?:un)?hear(?:s|d|ing)?\b/, inProse: /\b(?:un)?hear(?:s|d|ing)?\b/i },
  // The name of a property is no prose: `person` is one of an audit entry.
  {
    use: "user",
    inNames: /\w persons?\b|\bpersons? \w/,
    inProse: /(?<!\} )(?:(?<!`)\bpersons?\b|\bpersons?\b(?!`))/i,
  },
  { use: "operator action", inNames: /\blevers?\b/, inProse: /\blevers?\b/i },
  { use: "caller", inProse: /\bwho calls\b|\bwhoever\b/i },
  { use: "operator", inProse: /\bwhoever runs the service\b/i },
];

/** Every use of a word that has a standard term, as `path:line: found → term`. */
export function misnamed({ path, text }: Source): string[] {
  const texts = [{ kind: "path", text: path, line: 1 } as const, ...(hasAny(text) ? textsOf(path, text) : [])];
  return texts.flatMap((one) => wordsIn(one).map(({ found, use }) => `${path}:${one.line}: ${found} → ${use}`));
}

function wordsIn({ kind, text }: Text): { found: string; use: string }[] {
  const isName = kind === "name" || kind === "path";
  const said = isName ? spoken(text) : text;
  return words.flatMap(({ use, inNames, inProse }) => {
    const found = (isName ? inNames : inProse)?.exec(said);
    return found == null ? [] : [{ found: isName ? text : around(text, found.index), use }];
  });
}

/** Cheap: most files have none of the words, and are not parsed. */
function hasAny(text: string): boolean {
  return words.some(({ inNames, inProse }) =>
    [inNames, inProse].some(
      (pattern) => pattern !== undefined && new RegExp(pattern.source.replaceAll("\\b", ""), "i").test(text),
    ),
  );
}

/** The words of a name: `answeredAt` and `ANSWERED_AT` are "answered at". */
function spoken(name: string): string {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ")
    .replace(/[^a-z]+/gi, " ")
    .toLowerCase();
}

function around(text: string, at: number): string {
  return text.slice(Math.max(0, at - 20), at + 20).replace(/\s+/g, " ");
}
