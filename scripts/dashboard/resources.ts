// The dashboard's rows about saturation, the dependencies and background work.
import type { Rows } from "./panel.ts";
import { rate } from "./panel.ts";

export const resourceRows: Rows = {
  "What is full?": [
    {
      title: "Work in flight",
      description: "Requests in progress, and the limit (MAX_IN_FLIGHT).",
      width: 6,
      targets: {
        "{{instance}} {{credential}}": "sum by (instance, credential) (records_work_in_flight{SCOPE})",
        "{{instance}} limit": "max by (instance) (records_work_in_flight_limit{SCOPE})",
      },
    },
    {
      title: "Queue",
      description: "Requests that wait for a slot.",
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
      description: "The average number of commands that wait for a connection.",
      width: 6,
      targets: { "{{instance}}": rate("records_mongodb_pool_wait_seconds_total") },
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
      description: "The share of time spent in garbage collection.",
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
