// The alert rules of deploy/prometheus, as the tests read them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** A rule that alerts, or one that records a series. */
export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}
export type Alert = Required<Omit<Rule, "record">>;

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export const rulesPath = join(import.meta.dirname, "../../deploy/prometheus/alerts.yaml");
export const ruleFile = parse(readFileSync(rulesPath, "utf8")) as RuleFile;
const rules = ruleFile.groups.flatMap((group) => group.rules);
export const alerts = rules.filter((rule) => rule.alert !== undefined) as readonly Alert[];
export const recordings = rules.filter((rule) => rule.record !== undefined);

/**
 * The rules with one of them replaced. Of the alerts only the named one stays, so that promtool evaluates no more than
 * it needs.
 */
export function withRule(changed: Rule, alert = changed.alert): RuleFile {
  const recorded = alert === undefined || changed.alert === undefined || changed.expr.includes("job:");
  const isChanged = (rule: Rule): boolean => rule.alert === changed.alert && rule.record === changed.record;
  return {
    groups: ruleFile.groups.map((group) => ({
      ...group,
      rules: group.rules
        .filter((rule) => (rule.record !== undefined && recorded) || rule.alert === alert)
        .map((rule) => (isChanged(rule) ? changed : rule)),
    })),
  };
}
