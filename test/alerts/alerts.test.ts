// Every alert rule against promtool's unit tests: it fires, and it stays silent when it must.
import { expect, test } from "vitest";
import { kinds, testsOf } from "./case.ts";
import { caseOf } from "./cases/all.ts";
import { testRules } from "./promtool.ts";
import { alerts, withRule } from "./rules.ts";

// All kinds of an alert in one run, in which promtool names those that fail: its start takes longer than a test.
test.each(alerts.map((rule) => [rule.alert, rule] as const))(
  "the alert %s fires, is silent below, survives a planned switch-off, and is neither moved nor hidden by another job",
  (name, rule) => {
    const tests = kinds.map((kind) => testsOf(rule, caseOf(name), kind));
    for (const [at, ofKind] of tests.entries()) expect(ofKind.length, kinds[at]).toBeGreaterThan(0);
    const { status, output } = testRules(withRule(rule), tests.flat());
    expect(output).toContain("SUCCESS");
    expect(status, output).toBe(0);
  },
);
