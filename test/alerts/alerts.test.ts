// Every alert rule against promtool's unit tests: it fires, and it stays silent when it must.
import { expect, test } from "vitest";
import { testsOf } from "./case.ts";
import { caseOf } from "./cases/all.ts";
import { testRules } from "./promtool.ts";
import { alerts, rulesFor } from "./rules.ts";

// All tests of an alert in one run, in which promtool names those that fail: its start takes longer than a test.
test.each(alerts.map((rule) => [rule.alert, rule] as const))(
  "the alert %s fires, is silent below, and survives a planned switch-off and a release",
  (name, rule) => {
    const { status, output } = testRules(rulesFor(rule), testsOf(rule, caseOf(name)));
    expect(output).toContain("SUCCESS");
    expect(status, output).toBe(0);
  },
);
