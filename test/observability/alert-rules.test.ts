// The alert rules agree with what is around them: the job that is scraped, the manifest, the runbook, the memory limit,
// and their own tests.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Kind } from "../alerts/case.ts";
import { kinds, testsOf } from "../alerts/case.ts";
import { caseOf, cases } from "../alerts/cases/all.ts";
import type { Alert, Rule, RuleFile } from "../alerts/rules.ts";
import { alerts, recordings, ruleFile } from "../alerts/rules.ts";
import { readManifests } from "../deploy/kubernetes.ts";
import { readCompose } from "../deploy/compose.ts";
import { anchorsOf, readPage, root } from "../docs/pages.ts";
import { readExpression } from "./promql.ts";

const read = (path: string): unknown => parse(readFileSync(join(root, path), "utf8"));
const all: readonly Rule[] = [...recordings, ...alerts];

/** The selectors of a rule that read every job. */
function unscoped({ expr }: Rule): string[] {
  return readExpression(expr)
    .selectors.map(({ text }) => text)
    .filter((text) => !text.includes('{job="records"'));
}

test.each(all.map((rule) => [rule.alert ?? rule.record ?? "", rule] as const))(
  "%s reads only the job records",
  (_name, rule) => {
    expect(unscoped(rule)).toEqual([]);
  },
);

test("detects a selector without the job", () => {
  expect(unscoped({ expr: 'up{job="records"} == 0 and records_ready == 0' })).toEqual(["records_ready"]);
});

test("the Prometheus of Compose and the ServiceMonitor give the instances the job in the rules", () => {
  const { rule_files: files, scrape_configs: scraped } = read("deploy/prometheus/prometheus.yaml") as {
    rule_files: string[];
    scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
  };
  expect(files).toEqual(["alerts.yaml"]);
  expect(scraped.map(({ job_name: job }) => job)).toEqual(["records"]);
  expect(scraped[0]?.dns_sd_configs).toMatchObject([{ names: ["records"], port: 8081 }]);
  const { prometheus, records } = readCompose().services;
  expect(prometheus?.volumes).toEqual([
    "../prometheus/prometheus.yaml:/etc/prometheus/prometheus.yml:ro",
    "../prometheus/alerts.yaml:/etc/prometheus/alerts.yaml:ro",
  ]);
  expect(records?.networks).toEqual(expect.arrayContaining(prometheus?.networks as string[]));
  // The job of a ServiceMonitor is the namespace: test/deploy holds the relabelling.
  expect(readManifests().find(({ kind }) => kind === "Namespace")?.metadata.name).toBe("records");
});

test("the PrometheusRule has the same rules", () => {
  const manifest = read("deploy/kubernetes/example/prometheus-rule.yaml") as {
    kind: string;
    apiVersion: string;
    spec: RuleFile;
  };
  expect([manifest.apiVersion, manifest.kind]).toEqual(["monitoring.coreos.com/v1", "PrometheusRule"]);
  expect(manifest.spec).toEqual(ruleFile);
});

const page = readPage("docs/runbook.md");
const anchors = [...anchorsOf(page)];
const entries = new Map(
  [...page.text.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)].map(([, heading = "", text = ""]) => [
    heading.toLowerCase().replaceAll(" ", "-"),
    text,
  ]),
);

/** What is missing for an alert: a test of some kind, a runbook entry or a part of it. */
function lacks({ alert, annotations: { runbook_url: url } }: Alert, tests: (kind: Kind) => number): string[] {
  const anchor = url.replace("docs/runbook.md#", "");
  const entry = entries.get(anchor) ?? "";
  return [
    ...kinds.filter((kind) => tests(kind) === 0).map((kind) => `${alert}: no test that it ${kind}`),
    ...(anchors.includes(anchor) ? [] : [`${alert}: no entry ${anchor}`]),
    ...["**Callers**", "**Look at**", "**Do:**"]
      .filter((part) => !entry.includes(part))
      .map((part) => `${alert}: nothing under ${part}`),
    ...(alerts.filter(({ annotations }) => annotations.runbook_url === url).length === 1
      ? []
      : [`${alert}: shares its entry`]),
  ];
}

test.each(alerts.map((rule) => [rule.alert, rule] as const))(
  "the alert %s has tests in each direction and its own runbook entry",
  (name, rule) => {
    expect(lacks(rule, (kind) => testsOf(rule, caseOf(name), kind).length)).toEqual([]);
  },
);

test("detects a new alert without tests or an entry", () => {
  const [rule] = alerts as [Alert];
  const added = {
    ...rule,
    alert: "RecordsNew",
    annotations: { ...rule.annotations, runbook_url: "docs/runbook.md#nothing" },
  };
  expect(() => caseOf("RecordsNew")).toThrow("RecordsNew has no case");
  expect(lacks(added, () => 0)).toHaveLength(kinds.length + 5);
});

test("every case and every entry belongs to an alert, and each name is used once", () => {
  const names = alerts.map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
  expect(cases.map(({ alert }) => alert).sort()).toEqual([...names].sort());
  expect([...entries.keys()].sort()).toEqual(
    alerts.map(({ annotations }) => annotations.runbook_url.split("#")[1]).sort(),
  );
});

test("only alerts on symptoms that callers notice page someone", () => {
  expect(alerts.filter(({ labels }) => labels.severity === "critical").map(({ alert }) => alert)).toEqual([
    "RecordsNoReadyInstance",
    "RecordsErrorsFast",
    "RecordsMongoDBAway",
  ]);
});

test("the alert on memory uses the limit of the Deployment", () => {
  const text = readFileSync(join(root, "deploy/kubernetes/base/deployment.yaml"), "utf8");
  const limit = /limits: \{ memory: (\d+)Mi \}/.exec(text)?.[1];
  const { expr = "" } = alerts.find(({ alert }) => alert === "RecordsMemoryNearLimit") ?? {};
  expect([...expr.matchAll(/(\d+) \* 1024 \* 1024/g)].map(([, number]) => number)).toEqual([limit, limit, limit]);
});
