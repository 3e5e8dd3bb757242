// Every alert rule against promtool's unit tests: it fires, and it stays silent when it must.
import { expect, test } from "vitest";
import { kinds, recordedTest, testsOf } from "./case.ts";
import { caseOf } from "./cases/all.ts";
import { testRules } from "./promtool.ts";
import { alerts, recordings, rulesFor } from "./rules.ts";

// All kinds of an alert in one run, in which promtool names those that fail: its start takes longer than a test.
test.each(alerts.map((rule) => [rule.alert, rule] as const))(
  "the alert %s fires, is silent below, survives a planned switch-off, and is neither moved nor hidden by another job",
  (name, rule) => {
    const tests = kinds.map((kind) => testsOf(rule, caseOf(name), kind));
    for (const [at, ofKind] of tests.entries()) expect(ofKind.length, kinds[at]).toBeGreaterThan(0);
    const { status, output } = testRules(rulesFor(rule), tests.flat());
    expect(output).toContain("SUCCESS");
    expect(status, output).toBe(0);
  },
);

test.each(recordings.map((rule) => [rule.record ?? "", rule] as const))(
  "the recording %s keeps the jobs of two installations apart",
  (name, rule) => {
    const { status, output } = testRules(rulesFor(rule), [recordedTest(name)]);
    expect(output).toContain("SUCCESS");
    expect(status, output).toBe(0);
  },
);
