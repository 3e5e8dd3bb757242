// Faults for the alert rules: each rule with one thing wrong in it, which its tests must notice.
import type { Kind } from "./case.ts";
import type { Rule } from "./rules.ts";

export interface Mutant {
  readonly fault: string;
  readonly rule: Rule;
  /** The kinds of test that have to notice. */
  readonly kinds: readonly Kind[];
}

const bothWays: readonly Kind[] = ["fires", "is silent below"];

const flipped: Readonly<Record<string, string>> = { ">": "<", "<": ">", "==": "!=" };

/** Every text that a pattern finds, replaced one at a time. */
function eachReplaced(
  text: string,
  pattern: RegExp,
  replace: (found: RegExpExecArray) => string,
): (readonly [found: string, text: string])[] {
  return [...text.matchAll(pattern)].map((found) => [
    found[0].trim(),
    text.slice(0, found.index) + replace(found) + text.slice(found.index + found[0].length),
  ]);
}

/**
 * The faults of a rule: its scope, each comparison, each threshold, each other label that it selects by, each
 * exception, and the time that it waits.
 */
export function mutantsOf(rule: Rule): readonly Mutant[] {
  const { expr } = rule;
  const changed = (kind: string, all: readonly (readonly [string, string])[]): Mutant[] =>
    all.map(([found, text]) => ({ fault: `${kind}: ${found}`, rule: { ...rule, expr: text }, kinds: bothWays }));
  return [
    {
      fault: "no job",
      rule: { ...rule, expr: expr.replaceAll(/job="records"(, )?/g, "") },
      kinds: ["is not moved by another job", "is not hidden by another job"],
    },
    ...(rule.for === undefined ? [] : [{ fault: "no waiting time", rule: { ...rule, for: "0m" }, kinds: bothWays }]),
    ...changed(
      "flipped",
      eachReplaced(expr, / (>|<|==) /g, ([, operator = ""]) => ` ${flipped[operator]} `),
    ),
    ...changed(
      "higher",
      eachReplaced(expr, /(?<= [<>] )[1-9][\d.]*|(?<= [<>] )0\.\d+/g, ([number]) => String(Number(number) * 1.5)),
    ),
    ...changed(
      "lower",
      eachReplaced(expr, /(?<= [<>] )[1-9][\d.]*|(?<= [<>] )0\.\d+/g, ([number]) => String(Number(number) * 0.67)),
    ),
    ...changed(
      "not selected by",
      eachReplaced(expr, /, (?!listener)\w+(=|!=|=~|!~)"[^"]*"/g, () => ""),
    ),
    ...changed(
      "without",
      eachReplaced(expr, / unless on \(job\) \S+( [^{}()]*"\})? == 0/g, () => ""),
    ).map((one) => ({ ...one, kinds: ["survives a planned switch-off"] as const })),
  ];
}
