// The title of a test is written where the test is.
import { sourcesIn } from "../architecture/sources.ts";
import { declareRule } from "./rule.ts";
import { distantTitles } from "./titles.ts";

declareRule({
  title: "a test's title is where the ledger and the vocabulary read it",
  sources: sourcesIn("test"),
  breaches: (sources) => sources.flatMap(distantTitles),
  exceptions: [
    // A function of the command line that has the same name.
    "test/docs/names.test.ts: program",
    // The title of a rule is read where the rule is declared.
    "test/rules/rule.ts: title",
  ],
  path: "test/contacts/get.test.ts",
  bad: [
    ["a variable", 'const one = "rejects it"; test(one, () => run());'],
    ["a variable that is called title", 'const title = "rejects it"; test(title, () => run());'],
    ["a member", 'const titles = { first: "rejects it" }; test(titles.first, () => run());'],
    ["a call", "test(titleOf(row), () => run());"],
    ["a suite", "describe(name, () => run());"],
    ["a table", "test.each(rows)(name, () => run());"],
  ],
  good: [
    ["a text", 'test("rejects it", () => run());'],
    ["a template", "test(`rejects ${name}`, () => run());"],
    ["a case", "test(stated.title, () => run());"],
    ["a table", 'test.each(rows)("rejects %s", () => run());'],
  ],
});
