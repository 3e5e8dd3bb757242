// Every test runs: none is left out by its own file, but where the machine may lack what it needs.
import { expect, test } from "vitest";
import { sourcesIn } from "../architecture/sources.ts";
import { mayLeaveOut } from "../support/may-leave-out.ts";
import { outcomeOf } from "../support/outcome.ts";
import { declareRule } from "./rule.ts";
import { leftOutIn } from "./skipped.ts";

declareRule({
  title: "no test is left out, expected to fail, or empty [OPS-03]",
  sources: sourcesIn("test", "drills", "fixtures"),
  breaches: (sources) => sources.flatMap(leftOutIn),
  exceptions: [
    ...mayLeaveOut.map(([file]) => `${file}: skip()`),
    // A reader of protobuf's wire format.
    "test/observability/collector.ts: reader.skip()",
  ],
  path: "test/contacts/get.test.ts",
  bad: [
    ["a test that is skipped", 'test.skip("rejects it", () => run());'],
    ["a suite that is skipped", 'describe.skip("rejections", () => run());'],
    ["a table that is skipped", 'test.skip.each(rows)("rejects %s", () => run());'],
    ["a test to write", 'test.todo("rejects it");'],
    ["a test that has to fail", 'test.fails("rejects it", () => run());'],
    ["a test that runs alone", 'test.only("rejects it", () => run());'],
    ["a condition", 'test.skipIf(isSlow)("rejects it", () => run());'],
    ["the other condition", 'describe.runIf(isFast)("rejections", () => run());'],
    ["a modifier behind another", 'test.concurrent.skip("rejects it", () => run());'],
    ["a modifier that is a text", 'test["skip"]("rejects it", () => run());'],
    ["a modifier by another name", "const later = test.skip;"],
    ["another name of a skipped test", 'xit("rejects it", () => run());'],
    ["an option", 'test("rejects it", { skip: true }, () => run());'],
    ["an option that is a text", 'test("rejects it", { "todo": true }, () => run());'],
    ["an option of a suite", 'describe("rejections", { skip: isSlow }, () => run());'],
    ["an option that lets it run alone", 'test("rejects it", { only: true }, () => run());'],
    ["an option in a variable", "const later = { fails: true };"],
    ["an option that is set later", "options.skip = true;"],
    ["a test that leaves itself out", 'test("rejects it", ({ skip }) => { skip(); run(); });'],
    ["a test that leaves itself out by its context", 'test("rejects it", (context) => { context.skip(); run(); });'],
    ["an empty body", 'test("rejects it", () => {});'],
    ["a body that is a value", 'test("rejects it", async () => undefined);'],
    ["a body that calls nothing", 'test("rejects it", () => { const one = 1; void one; });'],
    ["an empty table", 'test.each(rows)("rejects %s", () => undefined);'],
    ["a test without a function", 'test("rejects it");'],
  ],
  good: [
    ["a test", 'test("rejects it", () => run());'],
    ["a table", 'test.each(rows)("rejects %s", { timeout: 1 }, async (row) => run(row));'],
    ["a test whose function has a name", 'test("rejects it", run);'],
    ["a cursor", "await sessions.find({}).skip(1).toArray();"],
    ["an expression", "expect(/x/.test(text)).toBe(true);"],
  ],
});

test("a file that leaves tests out has a reason", () => {
  for (const [file, why] of mayLeaveOut) expect(why.length, file).toBeGreaterThan(20);
});

/** A report of one file with tests of these statuses. */
const report = (status: string, ...statuses: string[]) => ({
  testResults: [
    {
      name: "/root/test/a.test.ts",
      status,
      assertionResults: statuses.map((one) => ({ status: one, fullName: "a b" })),
    },
  ],
});

test.each([
  ["tests that passed", report("passed", "passed", "passed"), { passed: 2, failed: 0 }],
  ["a test that failed", report("failed", "passed", "failed"), { passed: 1, failed: 1 }],
  ["a file that could not be loaded", report("failed"), { passed: 0, failed: 1 }],
  ["a test that was skipped", report("passed", "passed", "skipped"), { passed: 1, failed: 1 }],
  ["a test that is pending", report("passed", "pending"), { passed: 0, failed: 1 }],
  ["a test to write", report("passed", "todo"), { passed: 0, failed: 1 }],
  ["a file whose preparation failed", report("failed", "skipped", "skipped"), { passed: 0, failed: 1 }],
] as const)("a run counts %s", (_what, given, expected) => {
  expect(outcomeOf(given, "/root", [])).toMatchObject(expected);
});

test("a run names the tests that did not run, except those of a declared file", () => {
  const given = report("passed", "skipped");
  expect(outcomeOf(given, "/root", []).missing).toEqual(["test/a.test.ts: a b (skipped)"]);
  const declared = outcomeOf(given, "/root", ["test/a.test.ts"]);
  expect(declared).toEqual({ passed: 0, failed: 0, failures: [], missing: [] });
});

test("a run names the tests that failed and the files that could not be loaded, with their errors", () => {
  const [file] = report("failed", "failed").testResults;
  const given = { failureMessages: ["not 2"], meta: { logged: ["a line of a log"] } };
  const failedTest = { ...file!, assertionResults: [{ ...file!.assertionResults[0]!, ...given }] };
  const unloaded = { ...report("failed").testResults[0]!, message: "no such module" };
  expect(outcomeOf({ testResults: [failedTest, unloaded] }, "/root", []).failures).toEqual([
    "test/a.test.ts: a b\nnot 2\na line of a log",
    "test/a.test.ts\nno such module",
  ]);
});
