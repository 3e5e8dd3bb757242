// Texts that a backtracking matcher is slow on, made from a regular expression: what may repeat repeats, then fails.
import type { AST } from "@eslint-community/regexpp";
import { RegExpParser } from "@eslint-community/regexpp";

/** A text with a part that repeats: `start`, `part` as often as there is room, `end`. */
export interface Pump {
  readonly start: string;
  readonly part: string;
  readonly end: string;
}

/** Characters out of which one is taken that a class of characters has. */
const candidates = [..."a1 0-.,;=\"'/_~%@:+*(){}[]<>&|\\!ZzFf\t\n", "\u00e9", "\u0301", "\ud83d\ude00"];
/** What hardly any expression ends with: the first can stand in a header, too. */
const mismatches = ["!", "\u00ff", ""];
/** A repetition of more than so many is one without a bound, as far as a request is long enough. */
const many = 100;
/** Characters of a class that are tried: the more alike two neighbours are, the more ways a matcher has to go. */
const tried = 3;

/** The pumps of every repetition of an expression; none where the source is no expression. */
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

/** What repeats within a run of elements, after a text that matches all that comes before. */
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
      // White space at the beginning of a header is not part of it.
      ...mismatches.flatMap((end) =>
        (start === "" ? ["", "a"] : [start]).map((first) => ({ start: first, part, end })),
      ),
      // An expression that is not bound to the beginning is tried at each place where it may begin.
      ...(start === ""
        ? []
        : [
            { start: "", part: start, end: "" },
            { start: "", part: start + part, end: "!" },
          ]),
    ]),
  ];
}

/** Texts that match an element; where it is a class, of several of its characters. */
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
