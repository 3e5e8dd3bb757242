// Generates the PrometheusRule manifest for the Prometheus operator from the alert rules.
import { readFileSync, writeFileSync } from "node:fs";

export const prometheusRuleFile = "deploy/kubernetes/example/prometheus-rule.yaml";
const rulesFile = "deploy/prometheus/alerts.yaml";

const opening = `# The alert rules for the Prometheus operator, generated from ${rulesFile} by \`npm run generate\`, do not edit.
# If your Prometheus selects rules by a label, add that label in your overlay.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: records
spec:
`;

export function generatePrometheusRule(): boolean {
  writeFileSync(prometheusRuleFile, prometheusRule());
  return true;
}

/** Whether the manifest is up to date with the rules. */
export function isPrometheusRuleGenerated(): boolean {
  return prometheusRule() === readFileSync(prometheusRuleFile, "utf8");
}

function prometheusRule(): string {
  const rules = readFileSync(rulesFile, "utf8");
  const groups = rules.slice(rules.search(/^groups:$/m));
  return opening + groups.replace(/^(?=.)/gm, "  ");
}
