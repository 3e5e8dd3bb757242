// Every rule has a negative control: a text that breaks it, so that it fails where it is made to find nothing.
import { allHandWritten } from "../architecture/sources.ts";
import { ownLists, uncontrolledRules, uncontrolledTests } from "./controls.ts";
import { declareRule } from "./rule.ts";

const rules = allHandWritten.filter(({ path }) => /^test\/(?:architecture|rules|ledger)[./]/.test(path));
const path = "test/rules/new.test.ts";

const listed = 'import { handWritten } from "../architecture/sources.ts";';
const checking = 'test("none", () => { expect(handWritten.flatMap(found)).toEqual([]); });';
const checked = 'import { found } from "./new.ts";';
const table = 'test.each([["a text"]])("%s is found", (text) => { expect(found(text)).not.toEqual([]); });';

declareRule({
  title: "every test that checks the sources also checks examples",
  sources: rules,
  breaches: uncontrolledTests,
  path,
  bad: [
    ["a check in the test", `${listed}\ntest("none", () => { expect(handWritten.filter(bad)).toEqual([]); });`],
    [
      "a list with a name",
      `${listed}\nconst all = handWritten;\ntest("none", () => { expect(all.filter(bad)).toEqual([]); });`,
    ],
    ["a function that only this test calls", `${listed}\n${checked}\n${checking}`],
    ["a table of nothing but what is allowed", `${listed}\n${checked}\n${checking}\n${table.replace("not.", "")}`],
    [
      "a table for something else",
      `${listed}\n${checked}\ntest("none", () => { expect(handWritten.filter(bad)).toEqual([]); });\n${table}`,
    ],
    [
      "a check by syntax trees",
      'import { withTrees } from "../../scripts/syntax-trees.ts";\n' +
        'test("none", () => { expect(withTrees(root, check)).toEqual([]); });',
    ],
  ],
  good: [
    ["a function with a table", `${listed}\n${checked}\n${checking}\n${table}`],
    ["a rule that is declared", `${listed}\ndeclareRule({ title: "none", sources: handWritten, breaches, bad });`],
    ["a test of something else", 'test("one", () => { expect(one()).toBe(1); });'],
  ],
});

declareRule({
  title: "every function that finds breaches is tested with examples",
  sources: rules,
  breaches: uncontrolledRules,
  bad: [
    ["a function that nobody calls", "export function found() {}", "test/rules/new.ts"],
    [
      "a function that is given the sources alone",
      [
        { path: "test/rules/new.ts", text: "export function found() {}" },
        {
          path,
          text: `${listed}\n${checked}\n${checking}`,
        },
      ],
    ],
  ],
  good: [
    [
      "a function with a table",
      [
        { path: "test/rules/new.ts", text: "export function found() {}" },
        { path, text: `${checked}\n${table}` },
      ],
    ],
    [
      "a function that a rule with a table builds on",
      [
        { path: "test/rules/part.ts", text: "export function part() {}" },
        { path: "test/rules/new.ts", text: 'import { part } from "./part.ts";\nexport function found() { part(); }' },
        { path, text: `${checked}\n${table}` },
      ],
    ],
  ],
});

declareRule({
  title: "every rule reads the common list of sources",
  sources: rules,
  breaches: ownLists,
  exceptions: [
    // What npm left in a folder of the test's own.
    "test/rules/fetched-tools.test.ts: readdirSync",
    "test/rules/npm-package.test.ts: readdirSync",
  ],
  path,
  bad: [
    ["a folder", 'import { readdirSync } from "node:fs";'],
    ["a folder by promises", 'import { readdir as list } from "node:fs/promises";'],
    ["a pattern", 'import { globSync } from "node:fs";'],
  ],
  good: [["a file", 'import { readFileSync } from "node:fs";']],
});
