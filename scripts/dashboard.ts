// Generates the Grafana dashboard: rows of panels, in the order in which an operator needs them.
import { readFileSync, writeFileSync } from "node:fs";
import type { Panel, Rows } from "./dashboard/panel.ts";
import { requestRows } from "./dashboard/requests.ts";
import { resourceRows } from "./dashboard/resources.ts";

export const dashboardFile = "deploy/grafana/records.json";

const scope = 'job="$job", instance=~"$instance"';
const rows: Rows = { ...requestRows, ...resourceRows };

const datasource = { type: "prometheus", uid: "${datasource}" };

/** A variable for the values of a label. */
function variable(name: string, label: string, metric: string, more: object): object {
  const definition = `label_values(${metric}, ${name})`;
  return {
    name,
    label,
    type: "query",
    datasource,
    query: { query: definition, refId: name },
    definition,
    refresh: 2,
    sort: 1,
    ...more,
  };
}

const several = { includeAll: true, multi: true, allValue: ".*", current: { text: ["All"], value: ["$__all"] } };

function panelOf(
  { title, description = "", type = "timeseries", unit = "short", width, isState, targets }: Panel,
  id: number,
  x: number,
  y: number,
): object {
  const steps = [
    { color: "red", value: null },
    { color: "green", value: 1 },
  ];
  const looks = isState === true ? { color: { mode: "thresholds" }, thresholds: { mode: "absolute", steps } } : {};
  const options =
    type === "stat"
      ? {
          reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
          colorMode: "value",
          graphMode: "none",
          textMode: "auto",
        }
      : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } };
  return {
    id,
    type,
    title,
    description,
    datasource,
    gridPos: { h: type === "stat" ? 4 : 8, w: width, x, y },
    fieldConfig: { defaults: { unit, min: 0, ...looks }, overrides: [] },
    targets: Object.entries(targets).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr: expr.replaceAll("SCOPE", scope),
      legendFormat,
    })),
    options,
  };
}

/** The panels, laid out from left to right; a panel that does not fit starts a new line. */
function layOut(): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const [title, row] of Object.entries(rows)) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      collapsed: false,
      gridPos: { h: 1, w: 24, x: 0, y },
      panels: [],
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of row) {
      if (x + panel.width > 24) {
        y += height;
        x = 0;
      }
      panels.push(panelOf(panel, panels.length + 1, x, y));
      x += panel.width;
      height = panel.type === "stat" ? 4 : 8;
    }
    y += height;
  }
  return panels;
}

function dashboard(): string {
  const list = [
    { name: "datasource", label: "Data source", type: "datasource", query: "prometheus", current: {}, refresh: 1 },
    variable("job", "Job", "records_build_info", {
      includeAll: false,
      multi: false,
      current: { text: "records", value: "records" },
    }),
    variable("instance", "Instance", 'records_build_info{job="$job"}', several),
    variable("wire", "Wire", 'records_requests_total{job="$job"}', several),
  ];
  const head = {
    uid: "records",
    title: "Records",
    description: "Whether Records is up, what fails, how slow it is, and what is full.",
    tags: ["records"],
    schemaVersion: 41,
    version: 2,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    timezone: "",
    annotations: { list: [] },
    links: [],
  };
  // One panel per line, so that a change to one changes one line.
  const lines = (all: readonly object[]): string => all.map((one) => `  ${JSON.stringify(one)}`).join(",\n");
  return `${JSON.stringify(head).slice(0, -1)},\n"templating": { "list": [\n${lines(list)}\n] },\n"panels": [\n${lines(layOut())}\n]}\n`;
}

export function generateDashboard(): boolean {
  writeFileSync(dashboardFile, dashboard());
  return true;
}

/** Whether the file is up to date with this code. */
export function isDashboardGenerated(): boolean {
  return dashboard() === readFileSync(dashboardFile, "utf8");
}
