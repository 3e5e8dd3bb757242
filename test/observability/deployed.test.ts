// The dashboard and the alert rules query nothing that a running instance does not serve.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { exchange } from "../fixtures/clients/raw.ts";
import { useService } from "../support/client.ts";
import { alerts, recordings } from "../alerts/rules.ts";
import { readPage } from "../docs/pages.ts";
import { missingIn, readExpression, readSeries } from "./promql.ts";

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly schemaVersion: number;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
  readonly panels: readonly Panel[];
}

const deploy = join(import.meta.dirname, "../../deploy");
const dashboard = JSON.parse(readFileSync(join(deploy, "grafana/records.json"), "utf8")) as Dashboard;
const targets = dashboard.panels.flatMap(({ title, targets: queries = [] }) =>
  queries.map(({ expr, legendFormat }) => ({ title, expr: expr.replaceAll("$__rate_interval", "5m"), legendFormat })),
);

const service = useService({ RATE_LIMIT: "1", RATE_BURST: "2" });
let series: ReadonlyMap<string, ReadonlySet<string>>;

beforeAll(async () => {
  const { key } = await service().account();
  const headers = { "Idempotency-Key": randomUUID() };
  for (let count = 0; count < 4; count++)
    await service().rest("/v1/contacts", { key, body: { full_name: "Ann Lee", email: "ann@example.com" }, headers });
  await exchange(service().base, "GET /v1 HTTP/9.9\r\nHost: localhost\r\n\r\n");
  const read = async (): Promise<typeof series> =>
    withDocumented(readSeries(await (await fetch(`${service().internal}/metrics`)).text()));
  // A rare one: the first sweep of the memory.
  await until(
    async () => (series = await read()).has("nodejs_gc_duration_seconds_sum") && series.has("records_throttled_total"),
    AbortSignal.timeout(20_000),
  );
});

/**
 * Adds the series that the rules record, and to metrics that have counted nothing yet the labels that the guide names.
 */
function withDocumented(served: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, ReadonlySet<string>> {
  const rows = [...readPage("docs/observability.md").prose.matchAll(/^\| `(\w+)` \| \w+ \| ([^|]*?) ?\|/gm)].map(
    ([, name = "", labels = ""]) => [name, new Set(labels.split(", "))] as const,
  );
  const documented = new Map(rows.filter(([name]) => served.get(name)?.size === 0));
  return new Map([
    ...served,
    ...documented,
    ...recordings.map(({ record = "", expr }) => [record, new Set(readExpression(expr).grouping)] as const),
  ]);
}

test.each(recordings.map(({ record, expr }) => [record, expr] as const))(
  "the recording rule %s queries what instances serve",
  (_name, expr) => expect(missingIn(expr, series)).toEqual([]),
);

test.each(alerts.map((rule) => [rule.alert, rule] as const))(
  "the alert %s queries what instances serve, and says what to do",
  (_name, { expr, for: pending, labels, annotations }) => {
    expect(missingIn(expr, series)).toEqual([]);
    expect(pending).toMatch(/^\d+[smh]$/);
    expect(["critical", "warning", "info"]).toContain(labels.severity);
    expect(annotations.summary.length).toBeGreaterThan(10);
    expect(annotations.description.length).toBeGreaterThan(20);
    expect(annotations.runbook_url).toMatch(/^docs\/runbook\.md#[a-z-]+$/);
    for (const [, label = ""] of `${annotations.summary}${annotations.description}`.matchAll(/\$labels\.(\w+)/g))
      expect(["instance", ...readExpression(expr).grouping]).toContain(label);
  },
);

test("every panel of the dashboard queries what instances serve, from the source that the reader selected", () => {
  expect(targets.length).toBeGreaterThan(20);
  expect(
    targets.flatMap(({ title, expr }) => missingIn(expr, series).map((missing) => `${title}: ${missing}`)),
  ).toEqual([]);
  for (const { title, expr, legendFormat } of targets) {
    const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    const { selectors, grouping } = readExpression(expr);
    // What is not summed keeps the labels of its series, and those that Prometheus adds.
    const kept =
      grouping.length > 0 ? grouping : ["instance", "job", ...(series.get(selectors[0]?.metric ?? "") ?? [])];
    for (const label of labels) expect(kept, title).toContain(label);
  }
  for (const { title, type, datasource } of dashboard.panels)
    if (type !== "row") expect(datasource?.uid, title).toBe("${datasource}");
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

test("every panel reads only the job and the instances that the reader selected", () => {
  const selectors = targets.flatMap(({ expr }) =>
    readExpression(expr)
      .selectors.filter(({ metric }) => metric !== "ALERTS")
      .map(({ text }) => text),
  );
  expect(selectors.filter((text) => !text.includes('job="$job", instance=~"$instance"'))).toEqual([]);
});

test("the dashboard has a current format, and its variables are labels that instances serve", () => {
  expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39);
  const { list } = dashboard.templating;
  expect(list[0]).toMatchObject({ name: "datasource", type: "datasource" });
  for (const { name, definition } of list.slice(1)) {
    const [, metric = "", label = ""] =
      /^label_values\((\w+)(?:\{job="\$job"\})?, (\w+)\)$/.exec(definition ?? "") ?? [];
    expect(name).toBe(label);
    expect(series.has(metric), metric).toBe(true);
    expect(["instance", "job", ...(series.get(metric) ?? [])]).toContain(label);
  }
});
