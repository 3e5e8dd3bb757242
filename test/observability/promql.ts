// Reads PromQL and Prometheus's text form, so that what is requested can be checked against what is served.
import { parser } from "@prometheus-io/lezer-promql";

/** One selector of an expression: a metric, and the labels that select it. */
export interface Selector {
  readonly metric: string;
  /** The selector as it is written. */
  readonly text: string;
  readonly labels: readonly string[];
}

/** The selectors of an expression, and the labels that it groups by. Throws where it does not parse. */
export function readExpression(expression: string): {
  readonly selectors: readonly Selector[];
  readonly grouping: readonly string[];
} {
  const selectors: { metric: string; text: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  let inGrouping = 0;
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      const here = expression.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at ${from}: ${expression}`);
      if (type.name === "VectorSelector") selectors.push({ metric: "", text: here, labels: [] });
      if (type.name === "GroupingLabels") inGrouping++;
      const last = selectors.at(-1);
      if (type.name === "Identifier" && last?.metric === "") last.metric = here;
      if (type.name === "LabelName") (inGrouping > 0 ? grouping : (last?.labels ?? [])).push(here);
    },
    leave({ type }) {
      if (type.name === "GroupingLabels") inGrouping--;
    },
  });
  return { selectors, grouping };
}

/**
 * The series of the text form: each metric's name with all labels that any of its series has. A counter with labels may
 * have none yet.
 */
export function readSeries(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const series = new Map<string, Set<string>>();
  for (const line of text.split("\n")) {
    const [, name, labels = ""] = /^(?:# TYPE )?([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = series.get(name) ?? new Set<string>();
    for (const [, label = ""] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    series.set(name, known);
  }
  return series;
}

/** Series that Prometheus itself makes. */
const ofPrometheus: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["up", new Set<string>()],
  ["ALERTS", new Set(["alertname", "alertstate", "severity"])],
]);

/** Labels that Prometheus itself adds. */
const given = ["instance", "job"];

/** What an expression requests and is not served. */
export function missingIn(expression: string, series: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const { selectors, grouping } = readExpression(expression);
  const missing: string[] = [];
  for (const { metric, labels } of selectors) {
    const served = ofPrometheus.get(metric) ?? series.get(metric);
    if (served === undefined) missing.push(metric);
    else
      missing.push(
        ...labels.filter((label) => !served.has(label) && !given.includes(label)).map((label) => `${metric}{${label}}`),
      );
  }
  const anywhere = new Set(
    selectors.flatMap(({ metric }) => [...(ofPrometheus.get(metric) ?? series.get(metric) ?? [])]),
  );
  return [
    ...missing,
    ...grouping.filter((label) => !anywhere.has(label) && !given.includes(label)).map((label) => `by (${label})`),
  ];
}
