// The dashboard's rows about what clients see: whether the service is up, what fails, and how slow it is.
import type { Rows } from "./panel.ts";
import { failed, latency, perRequest, quantile, rate, requested } from "./panel.ts";

export const requestRows: Rows = {
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
      description: "503: a switch, a dependency or overload. 500: a defect in the service.",
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
      title: "Causes reported by instances",
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
      description: "Commands run concurrently, so MongoDB and Redis may exceed the whole.",
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
};
