// Checks the tests against the ledger: no clause without a test, no test that cites a clause which is not there.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { citationsOf } from "./citations.ts";

const root = join(import.meta.dirname, "..");
const clauses = lines("clauses.txt").map((line) => line.slice(0, 6));
const areas = [...new Set(clauses.map((clause) => clause.slice(0, 3)))];
const id = new RegExp(`\\b(?:${areas.join("|")})-\\d{2}\\b`, "g");
const later = new Map(lines("later.txt").map((line) => [line.slice(0, 6), line.slice(6).trim()]));
const cited = new Map<string, string[]>();
for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
  if (!/\.(test|cases)\.ts$/.test(file)) continue;
  for (const clause of citationsOf(readFileSync(join(root, file), "utf8"), id))
    cited.set(clause, [...(cited.get(clause) ?? []), file]);
}

test("every clause in reach is cited by a test", () => {
  expect(clauses.filter((clause) => !cited.has(clause) && !later.has(clause))).toEqual([]);
});

test("no test cites a clause that is not in the ledger", () => {
  expect([...cited.keys()].filter((clause) => !clauses.includes(clause))).toEqual([]);
});

test("a clause that is said to be out of reach is in the ledger, has a reason, and is cited by no test", () => {
  for (const [clause, reason] of later) {
    expect(clauses).toContain(clause);
    expect(reason.length, clause).toBeGreaterThan(10);
    expect(cited.get(clause), clause).toBeUndefined();
  }
});

test.each([
  ["a comment", '// Proves ABC-01.\ntest("rejects it", () => undefined);'],
  ["a text in the test", 'test("rejects it", () => expect("ABC-01").toBeDefined());'],
  ["a row that the title does not show", 'test.each([["one", "ABC-01"]])("rejects it", () => undefined);'],
  ["a name elsewhere", 'const clause = "ABC-01";'],
])("an id in %s proves nothing", (_where, text) => {
  expect(citationsOf(text, /\bABC-\d{2}\b/g)).toEqual([]);
});

test.each([
  ["the title of a test", 'test("rejects it [ABC-01]", () => undefined);'],
  ["the title of a suite", 'describe("rejects it [ABC-01]", () => undefined);'],
  ["the title of a table", 'test.each(rows)("rejects %s [ABC-01]", () => undefined);'],
  ["a row that the title shows", 'test.each([["one", "ABC-01"]])("rejects %s [%s]", () => undefined);'],
  ["the title of a case", 'const cases = [{ title: "rejects it [ABC-01]", request: () => ({}) }];'],
  ["the clauses of a drill", 'holds(kills, ["ABC-01"]);'],
])("an id in %s counts", (_where, text) => {
  expect(citationsOf(text, /\bABC-\d{2}\b/g)).toEqual(["ABC-01"]);
});

test("no id occurs twice", () => {
  expect(new Set(clauses).size).toBe(clauses.length);
});

function lines(name: string): string[] {
  return readFileSync(join(import.meta.dirname, name), "utf8")
    .split("\n")
    .filter((line) => /^[A-Z]{3}-\d{2} /.test(line));
}
