// Generates attack strings from a regular expression: pumps a quantifier, then appends a mismatch.
import type { AST } from "@eslint-community/regexpp";
import { RegExpParser } from "@eslint-community/regexpp";

/** An attack string: `start`, then `part` repeated to fill the length, then `end`. */
export interface Pump {
  readonly start: string;
  readonly part: string;
  readonly end: string;
}

/** Candidates for a member of a character class. */
const candidates = [..."a1 0-.,;=\"'/_~%@:+*(){}[]<>&|\\!ZzFf\t\n", "\u00e9", "\u0301", "\ud83d\ude00"];
/** Endings that almost no expression matches. The first is valid in a header. */
const mismatches = ["!", "\u00ff", ""];
/** A quantifier with at least this maximum counts as unbounded. */
const many = 100;
/** How many characters of a class to try. Overlapping neighbors give a matcher more ways to backtrack. */
const tried = 3;

/** The pumps of every quantifier in an expression; none if the expression is invalid. */
export function pumpsOf(source: string): Pump[] {
  let pattern: AST.Pattern;
  try {
    pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: /\\p\{/.test(source) });
  } catch {
    return [];
  }
  const pumps = pattern.alternatives.flatMap((alternative) => pumpsWithin(alternative, ""));
  const seen = new Map(pumps.map((pump) => [JSON.stringify(pump), pump]));
  return [...seen.values()];
}

/** The pumps within a sequence of elements. `before` matches the preceding elements. */
function pumpsWithin({ elements }: AST.Alternative, before: string): Pump[] {
  let start = before;
  return elements.flatMap((element) => {
    const pumps = pumpsOfElement(element, start);
    start += samples(element)[0] ?? "";
    return pumps;
  });
}

function pumpsOfElement(element: AST.Element, start: string): Pump[] {
  if (element.type === "Group" || element.type === "CapturingGroup")
    return element.alternatives.flatMap((alternative) => pumpsWithin(alternative, start));
  if (element.type !== "Quantifier") return [];
  const inner = pumpsOfElement(element.element, start);
  if (element.max < many) return inner;
  const parts = samples(element.element).filter((part) => part !== "");
  return [
    ...inner,
    ...parts.flatMap((part) => [
      // Leading white space is not part of a header value.
      ...mismatches.flatMap((end) =>
        (start === "" ? ["", "a"] : [start]).map((first) => ({ start: first, part, end })),
      ),
      // An unanchored expression is tried at every position.
      ...(start === ""
        ? []
        : [
            { start: "", part: start, end: "" },
            { start: "", part: start + part, end: "!" },
          ]),
    ]),
  ];
}

/** Texts that match an element; several for a character class or a group. */
function samples(element: AST.Element): string[] {
  switch (element.type) {
    case "Character":
      return [String.fromCodePoint(element.value)];
    case "CharacterSet":
    case "CharacterClass":
      return charactersOf(element);
    case "Group":
    case "CapturingGroup":
      return element.alternatives
        .map((one) => one.elements.map((part) => samples(part)[0] ?? "").join(""))
        .slice(0, tried);
    case "Quantifier":
      return samples(element.element).map((text) => text.repeat(element.min));
    default:
      return [""];
  }
}

function charactersOf({ raw }: { readonly raw: string }): string[] {
  let whole: RegExp;
  try {
    whole = new RegExp(`^(?:${raw})$`, /\\p\{/.test(raw) ? "u" : "");
  } catch {
    return ["a"];
  }
  const own = raw.replace(/^\[\^?|\]$/g, "");
  return [...new Set([...candidates, ...own])].filter((character) => whole.test(character)).slice(0, tried);
}
