// Checks the tests against the ledger: no clause without a test, no test that cites a clause which is not there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sourcesIn } from "../architecture/sources.ts";
import { declareRule } from "../rules/rule.ts";
import type { Source } from "../rules/syntax.ts";
import { longFiles } from "../support/long-files.ts";
import { mayLeaveOut } from "../support/may-leave-out.ts";
import { citationsOf } from "./citations.ts";
import { anyId, misplaced, repeated, uncited, unknown } from "./ledger.ts";

const clauses = lines("clauses.txt").map((line) => line.slice(0, 6));
const later = new Map(lines("later.txt").map((line) => [line.slice(0, 6), line.slice(6).trim()]));
/** An id in an example of a test that proves nothing. */
const example = "ABC-01";

/** The clauses that these tests cite, each with its files. */
function citedBy(sources: readonly Source[]): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const { path, text } of sources) {
    // What a run of every change does not include proves nothing.
    if (longFiles.includes(path)) continue;
    if (!/\.(?:test|cases)\.[cm]?[jt]sx?$/.test(path)) continue;
    const leavesOut = mayLeaveOut.some(([file]) => file === path);
    for (const clause of citationsOf(text, anyId, leavesOut))
      if (clause !== example) cited.set(clause, [...(cited.get(clause) ?? []), path]);
  }
  return cited;
}

const all = citedBy(sourcesIn("test"));

test("a test cites every clause in reach", () => {
  expect(clauses.length).toBeGreaterThan(400);
  expect(uncited(clauses, all, later)).toEqual([]);
});

declareRule({
  title: "no test cites a clause that is not in the ledger",
  sources: sourcesIn("test"),
  breaches: (sources) => unknown(clauses, citedBy(sources)),
  path: "test/contacts/get.test.ts",
  bad: [
    ["a clause of an area that exists", 'test("rejects it [ISO-99]", () => run());'],
    ["a clause of an area that does not exist", 'test("rejects it [ZZZ-99]", () => run());'],
    ["a clause in a case", 'const one = { title: "rejects it [ZZZ-99]" };', "test/cases/all.cases.ts"],
  ],
  good: [["a clause", 'test("rejects it [ISO-01]", () => run());']],
});

test("a clause that is declared out of reach is in the ledger, has a reason, and is cited by no test", () => {
  expect(misplaced(clauses, all, later)).toEqual([]);
});

test("no id occurs twice", () => {
  expect(repeated(clauses)).toEqual([]);
});

const cited = new Map([["ABC-01", ["a.test.ts"]]]);

test.each([
  ["a clause without a test", uncited(["ABC-01", "ABC-02"], cited, new Map())],
  [
    "a clause that is out of reach and not in the ledger",
    misplaced([], new Map(), new Map([["ABC-02", "a reason here"]])),
  ],
  ["a clause that is out of reach without a reason", misplaced(["ABC-02"], new Map(), new Map([["ABC-02", "later"]]))],
  ["a clause that is out of reach and cited", misplaced(["ABC-01"], cited, new Map([["ABC-01", "a reason here"]]))],
  ["an id that occurs twice", repeated(["ABC-01", "ABC-02", "ABC-01"])],
])("detects %s", (_what, found) => {
  expect(found).toHaveLength(1);
});

test("a clause that is out of reach needs no test", () => {
  expect(uncited(["ABC-01", "ABC-02"], cited, new Map([["ABC-02", "a reason here"]]))).toEqual([]);
});

test.each([
  ["a comment", '// Proves ABC-01.\ntest("rejects it", () => undefined);'],
  ["a text in the test", 'test("rejects it", () => expect("ABC-01").toBeDefined());'],
  ["a row that the title does not show", 'test.each([["one", "ABC-01"]])("rejects it", () => undefined);'],
  ["a name elsewhere", 'const clause = "ABC-01";'],
  ["a row of another table", 'test.for([["one", "ABC-01"]])("rejects it", () => run());'],
  ["a test that is skipped", 'test.skip("rejects it [ABC-01]", () => run());'],
  ["a test to write", 'test.todo("rejects it [ABC-01]");'],
  ["a test that has to fail", 'test.fails("rejects it [ABC-01]", () => run());'],
  ["a test under a condition", 'test.skipIf(isSlow)("rejects it [ABC-01]", () => run());'],
  ["a table that is skipped", 'test.skip.each(rows)("rejects %s [ABC-01]", () => run());'],
  ["a test with the option", 'test("rejects it [ABC-01]", { skip: true }, () => run());'],
  ["a test that leaves itself out", 'test("rejects it [ABC-01]", ({ skip }) => { skip(); run(); });'],
  ["a test that does nothing", 'test("rejects it [ABC-01]", () => undefined);'],
  ["a suite that is skipped", 'describe.skip("[ABC-01]", () => { test("rejects it [ABC-01]", () => run()); });'],
])("an id in %s proves nothing", (_where, text) => {
  expect(citationsOf(text, /\bABC-\d{2}\b/g)).toEqual([]);
});

test.each([
  ["the title of a test", 'test("rejects it [ABC-01]", () => run());'],
  ["the title of a suite", 'describe("rejects it [ABC-01]", () => run());'],
  ["the title of a table", 'test.each(rows)("rejects %s [ABC-01]", () => run());'],
  ["a row that the title shows", 'test.each([["one", "ABC-01"]])("rejects %s [%s]", () => run());'],
  ["a row of the other table", 'test.for([["one", "ABC-01"]])("rejects %s [%s]", () => run());'],
  ["the title of a case", 'const cases = [{ title: "rejects it [ABC-01]", request: () => ({}) }];'],
  ["the clauses of a drill", 'holds(kills, ["ABC-01"]);'],
])("an id in %s counts", (_where, text) => {
  expect(citationsOf(text, /\bABC-\d{2}\b/g)).toEqual(["ABC-01"]);
});

test("a file that declares what it leaves out may cite what it proves elsewhere", () => {
  const text = 'test("rejects it [ABC-01]", ({ skip }) => { if (isAbsent) skip(); run(); });';
  expect(citationsOf(text, anyId, true)).toEqual(["ABC-01"]);
});

function lines(name: string): string[] {
  return readFileSync(join(import.meta.dirname, name), "utf8")
    .split("\n")
    .filter((line) => /^[A-Z]{3}-\d{2} /.test(line));
}
