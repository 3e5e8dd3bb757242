// Every alert rule against promtool's unit tests: it fires, and it stays silent when it must.
import { expect, test } from "vitest";
import { kinds, testsOf } from "./case.ts";
import { caseOf } from "./cases/all.ts";
import { testRules } from "./promtool.ts";
import { alerts, withRule } from "./rules.ts";

test.each(alerts.flatMap((rule) => kinds.map((kind) => [rule.alert, kind, rule] as const)))(
  "the alert %s %s",
  (name, kind, rule) => {
    const { status, output } = testRules(withRule(rule), testsOf(rule, caseOf(name), kind));
    expect(output).toContain("SUCCESS");
    expect(status, output).toBe(0);
  },
);
