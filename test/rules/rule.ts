// Declares a rule over sources together with its negative control: a rule that finds nothing anywhere fails.
import { describe, expect, test } from "vitest";
import type { Source } from "./syntax.ts";

/** What is wrong or right, and the source by itself: its text, and where it is; or several of them. */
export type Example = readonly [what: string, text: string | readonly Source[], path?: string];

export interface Rule {
  /** What is true of every source: a statement, with the ids of the clauses that it proves. */
  readonly title: string;
  readonly sources: readonly Source[];
  /** What breaks the rule, one text for each place. */
  readonly breaches: (sources: readonly Source[]) => readonly string[];
  /** The accepted breaches, exactly; each has its reason in a comment. */
  readonly exceptions?: readonly string[];
  /** Sources that break the rule: each is found by itself. */
  readonly bad: readonly [Example, ...Example[]];
  /** Sources that look like one of them. */
  readonly good?: readonly Example[];
  /** Where an example is, unless it says so. */
  readonly path?: string;
}

/** Declares a test that the rule is kept, and one for each example. */
export function declareRule({ title, sources, breaches, exceptions = [], bad, good = [], path }: Rule): void {
  const found = ([, text, own]: Example): readonly string[] =>
    breaches(typeof text === "string" ? [{ path: own ?? path ?? "src/contacts/example.ts", text }] : text);
  describe(title, () => {
    test("every source conforms", () => {
      // A rule over no sources would always pass.
      expect(sources.length).toBeGreaterThan(0);
      expect([...breaches(sources)].sort()).toEqual([...exceptions].sort());
    });
    for (const example of bad)
      test(`finds ${example[0]}`, () => {
        expect(found(example)).not.toEqual([]);
      });
    for (const example of good)
      test(`ignores ${example[0]}`, () => {
        expect(found(example)).toEqual([]);
      });
  });
}

/** The paths of the sources whose text or path fits a pattern, as a rule's breaches. */
export function havingText(pattern: RegExp): Rule["breaches"] {
  return (sources) => sources.filter(({ text }) => text.search(pattern) !== -1).map(({ path }) => path);
}
