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

/** The rules without the other alerts, and without recordings that it does not need: promtool would evaluate them. */
export function rulesFor({ alert, expr }: Alert): RuleFile {
  const isRecorded = expr.includes("job:");
  return {
    groups: ruleFile.groups.map((group) => ({
      ...group,
      rules: group.rules.filter((rule) => (rule.record === undefined ? rule.alert === alert : isRecorded)),
    })),
  };
}
