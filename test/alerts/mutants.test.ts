// Faults that are put into an alert rule are noticed by promtool's tests of that rule.
import { expect, test } from "vitest";
import type { Kind } from "./case.ts";
import { recordedTest, testsOf } from "./case.ts";
import { caseOf } from "./cases/all.ts";
import type { Mutant } from "./mutants.ts";
import { mutantsOf } from "./mutants.ts";
import type { UnitTest } from "./promtool.ts";
import { testRules } from "./promtool.ts";
import { alerts, recordings, withRule } from "./rules.ts";

/** The faults that the tests do not notice. */
function unnoticed(
  alert: string,
  tests: (kinds: readonly Kind[]) => readonly UnitTest[],
  faults: readonly Mutant[],
): string[] {
  return faults.flatMap(({ fault, rule: changed, kinds }) => {
    const isNoticed = runs(tests(kinds)).some((together) => {
      const { status, output } = testRules(withRule(changed, alert), together);
      // promtool must have run the tests: a rule that it cannot read proves nothing.
      expect(output).not.toMatch(/parse|template|yaml: /);
      return status !== 0;
    });
    return isNoticed ? [] : [fault];
  });
}

/** The short tests, which notice most, in one run: promtool takes longer to start. Then the others, one by one. */
function runs(tests: readonly UnitTest[]): readonly (readonly UnitTest[])[] {
  const isShort = (one: UnitTest): boolean => minutes(one) <= 15;
  const longer = tests.filter((one) => !isShort(one)).sort((one, another) => minutes(one) - minutes(another));
  return [tests.filter(isShort), ...longer.map((one) => [one])].filter((together) => together.length > 0);
}

/** How long a test evaluates. */
function minutes({ promql_expr_test: expected }: UnitTest): number {
  return Math.max(...expected.map(({ eval_time: time }) => Number.parseInt(time, 10)));
}

test.each(alerts.map((rule) => [rule.alert, rule] as const))(
  "the tests of the alert %s detect every mutation",
  (name, rule) => {
    const faults = mutantsOf(rule);
    expect(faults.length).toBeGreaterThanOrEqual(2);
    const tests = (kinds: readonly Kind[]) => kinds.flatMap((kind) => testsOf(rule, caseOf(name), kind));
    expect(unnoticed(name, tests, faults)).toEqual([]);
  },
  240_000,
);

const errors = alerts.find(({ alert }) => alert === "RecordsErrorsFast") as (typeof alerts)[number];

test.each(recordings.map((rule) => [rule.record ?? "", rule] as const))(
  "the tests of the errors detect every mutation of %s",
  (name, rule) => {
    const tests = (kinds: readonly Kind[]): readonly UnitTest[] => [
      recordedTest(name),
      ...kinds.flatMap((kind) => testsOf(errors, caseOf(errors.alert), kind)),
    ];
    expect(unnoticed(errors.alert, tests, mutantsOf(rule))).toEqual([]);
  },
  240_000,
);

test("the original rule passes its tests", () => {
  expect(
    unnoticed(errors.alert, (kinds) => kinds.flatMap((kind) => testsOf(errors, caseOf(errors.alert), kind)), [
      { fault: "none", rule: errors, kinds: ["fires"] },
    ]),
  ).toEqual(["none"]);
});
