// The alert rules agree with what is around them: the job that is scraped, the manifest, the runbook, the memory limit.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { alerts, recordings } from "../alerts/rules.ts";
import { readManifests } from "../deploy/kubernetes.ts";
import { readCompose } from "../deploy/compose.ts";
import { readPage, root } from "../docs/pages.ts";
import { readExpression } from "./promql.ts";

const read = (path: string): unknown => parse(readFileSync(join(root, path), "utf8"));

test("every rule reads only the job records, so that no other installation moves or hides an alert", () => {
  const selectors = [...recordings, ...alerts].flatMap(({ expr }) => readExpression(expr).selectors);
  expect(selectors.map(({ text }) => text).filter((text) => !text.includes('{job="records"'))).toEqual([]);
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

test("every alert has its own entry in the runbook, which says what callers notice, where to look and what to do", () => {
  const entries = new Map(
    [...readPage("docs/runbook.md").text.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)].map(
      ([, heading = "", text = ""]) => [heading.toLowerCase().replaceAll(" ", "-"), text],
    ),
  );
  expect([...entries.keys()].sort()).toEqual(
    alerts.map(({ annotations }) => annotations.runbook_url.replace("docs/runbook.md#", "")).sort(),
  );
  for (const [anchor, text] of entries)
    for (const part of ["**Callers**", "**Look at**", "**Do:**"]) expect(text, anchor).toContain(part);
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
