// Generates the dashboard for Grafana: rows of panels, in the order of an operator's needs.
import { readFileSync, writeFileSync } from "node:fs";

export const dashboardFile = "deploy/grafana/records.json";

interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly type?: "stat" | "timeseries";
  readonly unit?: string;
  /** The width, of 24. */
  readonly width: number;
  /** A value of 0 is red, every other one green. */
  readonly isState?: boolean;
  /** Legend → expression. `SCOPE` is replaced by the job and the instances that the reader chose. */
  readonly targets: Readonly<Record<string, string>>;
}

const scope = 'job="$job", instance=~"$instance"';
/** Public requests, of the wires that the reader chose. */
const requested = 'listener="public", wire=~"$wire", SCOPE';
const failed = `${requested}, status=~"5..", status!="504"`;
const rate = (metric: string, labels = "SCOPE"): string => `rate(${metric}{${labels}}[$__rate_interval])`;
const quantile = (share: number, metric: string, by: string, labels = "SCOPE"): string =>
  `histogram_quantile(${share}, sum by (${by}) (${rate(`${metric}_bucket`, labels)}))`;
const latency = (share: number, by = "le"): string =>
  quantile(share, "records_request_duration_seconds", by, requested);
const perRequest = (metric: string): string =>
  `sum(${rate(metric)}) / sum(${rate("records_requests_total", requested)})`;

const rows: Readonly<Record<string, readonly Panel[]>> = {
  "Is it up?": [
    {
      title: "Ready instances",
      description: "Instances that accept requests.",
      type: "stat",
      width: 3,
      isState: true,
      targets: { ready: "sum(records_ready{SCOPE})" },
    },
    {
      title: "Scraped instances",
      description: "Instances that respond to Prometheus.",
      type: "stat",
      width: 3,
      isState: true,
      targets: { scraped: "sum(up{SCOPE})" },
    },
    {
      title: "MongoDB",
      description: "1 while every instance reaches it.",
      type: "stat",
      width: 3,
      isState: true,
      targets: { MongoDB: "min(records_mongodb_up{SCOPE})" },
    },
    {
      title: "Lease",
      description: "1 while every instance holds the lease on the primary.",
      type: "stat",
      width: 3,
      isState: true,
      targets: { lease: "min(records_primary_lease{SCOPE})" },
    },
    {
      title: "Redis",
      description: "1 while every instance reaches it.",
      type: "stat",
      width: 3,
      isState: true,
      targets: { Redis: "min(records_redis_up{SCOPE})" },
    },
    {
      title: "Switches",
      description: "1 is on.",
      type: "stat",
      width: 4,
      isState: true,
      targets: { "{{switch}}": "min by (switch) (records_switch_enabled{SCOPE})" },
    },
    {
      title: "Release",
      description: "What runs, and on how many instances.",
      type: "stat",
      width: 5,
      targets: { "{{version}}, Node {{node_version}}": "count by (version, node_version) (records_build_info{SCOPE})" },
    },
    {
      title: "Alerts",
      description: "Alerts that fire.",
      width: 12,
      targets: { "{{alertname}}": 'count by (alertname) (ALERTS{alertname=~"Records.+", alertstate="firing"})' },
    },
    {
      title: "Starts of instances",
      description: "Starts in the last ten minutes.",
      width: 12,
      targets: { "{{instance}}": "changes(process_start_time_seconds{SCOPE}[10m])" },
    },
  ],
  "What fails, and why?": [
    {
      title: "Error ratio",
      description: "The share of requests that failed. 504 and rejected requests do not count.",
      unit: "percentunit",
      width: 8,
      targets: {
        failed: `sum(${rate("records_requests_total", failed)}) / sum(${rate("records_requests_total", `${requested}, status!~"401|429|499"`)})`,
      },
    },
    {
      title: "Failures by status",
      description: "503: a switch, a dependency or overload. 500: a fault of ours.",
      unit: "reqps",
      width: 8,
      targets: { "{{status}}": `sum by (status) (${rate("records_requests_total", failed)})` },
    },
    {
      title: "Failures by wire",
      unit: "reqps",
      width: 8,
      targets: { "{{wire}}": `sum by (wire) (${rate("records_requests_total", failed)})` },
    },
    {
      title: "Failures by route",
      unit: "reqps",
      width: 12,
      targets: {
        "{{status}} {{method}} {{route}}": `sum by (status, method, route) (${rate("records_requests_total", failed)})`,
      },
    },
    {
      title: "Reasons that instances know",
      description: "Rejected because of overload, lease lost, commands that MongoDB denied, commands that failed.",
      unit: "reqps",
      width: 12,
      targets: {
        overload: `sum(${rate("records_overloaded_total")})`,
        "MongoDB denied {{command}}": `sum by (command) (${rate("records_mongodb_denied_commands_total")})`,
        "MongoDB failed {{command}}": `sum by (command) (${rate("records_mongodb_commands_total", 'outcome="failed", SCOPE')})`,
        "identity provider": `sum(${rate("records_identity_provider_failures_total")})`,
      },
    },
    {
      title: "Requests by status",
      description: "The status that REST has for the same outcome, on every wire.",
      unit: "reqps",
      width: 8,
      targets: { "{{status}}": `sum by (status) (${rate("records_requests_total", requested)})` },
    },
    {
      title: "Requests by wire",
      unit: "reqps",
      width: 8,
      targets: { "{{wire}}": `sum by (wire) (${rate("records_requests_total", requested)})` },
    },
    {
      title: "Rejected before work began",
      unit: "reqps",
      width: 8,
      targets: {
        throttled: `sum(${rate("records_throttled_total", requested)})`,
        "too many failed look-ups": `sum(${rate("records_refused_lookups_total")})`,
        "HTTP parser {{status}}": `sum by (status) (${rate("records_refused_messages_total")})`,
      },
    },
  ],
  "How slow is it, and where does the time go?": [
    { title: "Latency", unit: "s", width: 8, targets: { p50: latency(0.5), p95: latency(0.95), p99: latency(0.99) } },
    {
      title: "Latency p99 by route",
      unit: "s",
      width: 8,
      targets: { "{{method}} {{route}}": latency(0.99, "le, method, route") },
    },
    {
      title: "Mean time of a request",
      description: "Commands run beside each other, so MongoDB and Redis may exceed the whole.",
      unit: "s",
      width: 8,
      targets: {
        "whole request": `sum(${rate("records_request_duration_seconds_sum", requested)}) / sum(${rate("records_request_duration_seconds_count", requested)})`,
        MongoDB: perRequest("records_mongodb_command_duration_seconds_sum"),
        Redis: perRequest("records_redis_command_duration_seconds_sum"),
      },
    },
    {
      title: "MongoDB p99 by command",
      unit: "s",
      width: 8,
      targets: { "{{command}}": quantile(0.99, "records_mongodb_command_duration_seconds", "le, command") },
    },
    {
      title: "Redis p99 by command",
      unit: "s",
      width: 8,
      targets: { "{{command}}": quantile(0.99, "records_redis_command_duration_seconds", "le, command") },
    },
    {
      title: "Commands for each request",
      description: "Background work counts too.",
      width: 8,
      targets: {
        MongoDB: perRequest("records_mongodb_commands_total"),
        Redis: perRequest("records_redis_commands_total"),
      },
    },
  ],
  "What is full?": [
    {
      title: "Work in flight",
      description: "Requests that are worked on, and the limit (MAX_IN_FLIGHT).",
      width: 6,
      targets: {
        "{{instance}} {{standing}}": "sum by (instance, standing) (records_work_in_flight{SCOPE})",
        "{{instance}} limit": "max by (instance) (records_work_in_flight_limit{SCOPE})",
      },
    },
    {
      title: "Queue",
      description: "Requests that wait for a place.",
      width: 6,
      targets: { "{{instance}}": "sum by (instance) (records_work_waiting{SCOPE})" },
    },
    {
      title: "MongoDB pool",
      description: "Connections by state.",
      width: 6,
      targets: { "{{instance}} {{state}}": "sum by (instance, state) (records_mongodb_pool_connections{SCOPE})" },
    },
    {
      title: "Waiting for the MongoDB pool",
      description: "Commands that wait for a connection.",
      width: 6,
      targets: { "{{instance}}": "sum by (instance) (records_mongodb_pool_waiting{SCOPE})" },
    },
    {
      title: "Event loop delay",
      unit: "s",
      width: 6,
      targets: {
        "{{instance}} p99": "nodejs_eventloop_lag_p99_seconds{SCOPE}",
        "{{instance}} p50": "nodejs_eventloop_lag_p50_seconds{SCOPE}",
      },
    },
    {
      title: "CPU",
      description: "The share of one core.",
      unit: "percentunit",
      width: 6,
      targets: { "{{instance}}": rate("process_cpu_seconds_total") },
    },
    {
      title: "Memory",
      unit: "bytes",
      width: 6,
      targets: {
        "{{instance}} resident": "process_resident_memory_bytes{SCOPE}",
        "{{instance}} heap": "nodejs_heap_size_used_bytes{SCOPE}",
      },
    },
    {
      title: "Garbage collection",
      description: "The share of the time.",
      unit: "percentunit",
      width: 6,
      targets: { "{{instance}}": `sum by (instance) (${rate("nodejs_gc_duration_seconds_sum")})` },
    },
  ],
  Dependencies: [
    {
      title: "Instances that reach MongoDB",
      width: 6,
      targets: { reachable: "sum(records_mongodb_up{SCOPE})", "with the lease": "sum(records_primary_lease{SCOPE})" },
    },
    {
      title: "MongoDB commands",
      unit: "ops",
      width: 6,
      targets: { "{{command}}": `sum by (command) (${rate("records_mongodb_commands_total")})` },
    },
    {
      title: "Redis commands that fail",
      unit: "ops",
      width: 6,
      targets: {
        "{{command}}": `sum by (command) (${rate("records_redis_commands_total", 'outcome="failed", SCOPE')})`,
      },
    },
    {
      title: "Throttled without Redis",
      description: "Requests that an instance throttled on its own.",
      unit: "reqps",
      width: 6,
      targets: { "{{instance}}": `sum by (instance) (${rate("records_throttle_fallback_total")})` },
    },
  ],
  "Background work": [
    {
      title: "Imports",
      description: "Imports that ended in the last ten minutes.",
      width: 6,
      targets: { "{{outcome}}": "sum by (outcome) (increase(records_imports_total{SCOPE}[10m]))" },
    },
    {
      title: "Imported items",
      unit: "ops",
      width: 6,
      targets: { "{{outcome}}": `sum by (outcome) (${rate("records_import_items_total")})` },
    },
    {
      title: "Erasures",
      description: "Erasures that run, and documents deleted a second.",
      width: 6,
      targets: {
        running: "max(records_erasures_running{SCOPE})",
        "documents a second": `sum(${rate("records_erasure_deleted_documents_total")})`,
      },
    },
    {
      title: "Background failures",
      description: "Failures in the last ten minutes.",
      width: 6,
      targets: { "{{task}}": "sum by (task) (increase(records_background_failures_total{SCOPE}[10m]))" },
    },
  ],
};

const datasource = { type: "prometheus", uid: "${datasource}" };

/** A variable with the values of a label. */
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

/** The panels from left to right; a panel that does not fit begins a new line. */
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
  // One panel a line: a change of one is a change of one line.
  const lines = (all: readonly object[]): string => all.map((one) => `  ${JSON.stringify(one)}`).join(",\n");
  return `${JSON.stringify(head).slice(0, -1)},\n"templating": { "list": [\n${lines(list)}\n] },\n"panels": [\n${lines(layOut())}\n]}\n`;
}

export function generateDashboard(): boolean {
  writeFileSync(dashboardFile, dashboard());
  return true;
}

/** Whether the file is the dashboard as it is described here. */
export function isDashboardGenerated(): boolean {
  return dashboard() === readFileSync(dashboardFile, "utf8");
}
