// Holds the tests to the ledger: no clause without a test, no test that cites a clause which is not there.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const clauses = lines("clauses.txt").map((line) => line.slice(0, 6));
const areas = [...new Set(clauses.map((clause) => clause.slice(0, 3)))];
const id = new RegExp(`\\b(?:${areas.join("|")})-\\d{2}\\b`, "g");
const later = new Map(lines("later.txt").map((line) => [line.slice(0, 6), line.slice(6).trim()]));
const cited = new Map<string, string[]>();
for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
  if (!/\.(test|cases)\.ts$/.test(file)) continue;
  for (const [clause] of readFileSync(join(root, file), "utf8").matchAll(id))
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

test("no id stands twice", () => {
  expect(new Set(clauses).size).toBe(clauses.length);
});

function lines(name: string): string[] {
  return readFileSync(join(import.meta.dirname, name), "utf8")
    .split("\n")
    .filter((line) => /^[A-Z]{3}-\d{2} /.test(line));
}
