// The alerts on requests: instances, failures, latency, overload and throttling.
import type { Case } from "../case.ts";
import type { Series } from "../series.ts";
import { always, both, counter, gauge, missing, reads, requested, rpcReads, stale, took, writes } from "../series.ts";

const job = "records";
const a = { job, instance: "a" };
const ofA = (metric: string, values: string): Series => ({ [`${metric}{instance="a"}`]: values });
const flood = [
  requested({ ...reads, route: "/v1/health" }, "200", [60_000, always]),
  requested(reads, "401", [60_000, always]),
  requested(reads, "429", [60_000, always]),
  requested(reads, "499", [60_000, always]),
  requested(
    { listener: "internal", wire: "connect", method: "POST", route: "/records.admin.v1.AccountService/ListAccounts" },
    "200",
    [60_000, always],
  ),
  requested({ listener: "public", wire: "other", method: "GET", route: "-" }, "404", [60_000, always]),
];
/** Few requests: 2 a minute together, or as many as said. */
const few = (each: number): Series => ({
  ...requested(reads, "200", [each, always]),
  ...requested(writes, "201", [0, always]),
});
const failing = (...spans: readonly (readonly [number, number])[]): Series => requested(reads, "503", ...spans);
const off = (name: string): Series => both("records_switch_enabled", { switch: name }, gauge([0, always]));
/** p99 of 1.25 s, of 0.75 s, of 2.9 s and of 1.5 s. */
const [slowRead, quickRead, slowWrite, quickWrite] = [
  { "1": 0.988, "2.5": 1 },
  { "0.5": 0.98, "1": 1 },
  { "1": 0.98, "2.5": 0.988, "5": 1 },
  { "1": 0.985, "2.5": 1 },
];

export const requestCases: readonly Case[] = [
  {
    alert: "RecordsNoReadyInstance",
    fires: [
      {
        title: "both instances are not ready",
        series: both("records_ready", {}, gauge([1, 10], [0, always])),
        pendingAt: 10,
        firesAt: 11,
        labels: {},
      },
      {
        title: "no instance is scraped",
        series: both("records_ready", {}, `${gauge([1, 10])} ${stale}`),
        pendingAt: 10,
        firesAt: 12,
        labels: {},
      },
    ],
    silent: [{ title: "one of two is ready", series: ofA("records_ready", gauge([1, 10], [0, always])), at: 30 }],
  },
  {
    alert: "RecordsInstanceDown",
    fires: [
      {
        title: "one of two does not respond",
        series: ofA("up", gauge([1, 10], [0, always])),
        pendingAt: 14,
        firesAt: 15,
        labels: a,
      },
    ],
    silent: [
      { title: "down for four minutes", series: ofA("up", gauge([1, 10], [0, 4], [1, always])), at: 15 },
      { title: "scaled down", series: ofA("up", `${gauge([1, 10])} ${stale}`), at: 30 },
    ],
  },
  {
    alert: "RecordsInstanceRestarting",
    fires: [
      {
        title: "four restarts",
        series: ofA("process_start_time_seconds", gauge([1, 10], [2, 5], [3, 5], [4, 5], [5, always])),
        pendingAt: 26,
        firesAt: 27,
        labels: a,
      },
    ],
    silent: [
      {
        title: "three restarts",
        series: ofA("process_start_time_seconds", gauge([1, 10], [2, 5], [3, 5], [4, always])),
        at: 27,
      },
    ],
  },
  {
    alert: "RecordsErrorsFast",
    fires: [
      { title: "1.8 % fail", series: failing([13.2, always]), pendingAt: 2, firesAt: 10, labels: { job } },
      {
        title: "writes fail",
        series: requested(writes, "503", [13.2, always]),
        pendingAt: 2,
        firesAt: 10,
        labels: { job },
      },
      {
        title: "12 failures in an hour",
        series: { ...few(5), ...failing([0.1, always]) },
        pendingAt: 2,
        firesAt: 60,
        labels: { job },
      },
      {
        title: "health checks, rejected and internal requests do not hide failures",
        series: Object.assign({}, failing([13.2, always]), ...flood) as Series,
        pendingAt: 2,
        firesAt: 10,
        labels: { job },
      },
      ...["/mcp", rpcReads.route].map((route) => ({
        title: `reads of ${route} fail while writes are off`,
        series: { ...off("writes"), ...requested({ ...rpcReads, route }, "503", [13.2, always]) },
        pendingAt: 2,
        firesAt: 10,
        labels: { job },
      })),
      {
        title: "reads fail while writes are off",
        series: { ...off("writes"), ...failing([13.2, always]) },
        pendingAt: 2,
        firesAt: 10,
        labels: { job },
      },
      {
        title: "requests fail with 500 while the public interface is off",
        series: { ...off("public_interface"), ...requested(writes, "500", [13.2, always]) },
        pendingAt: 2,
        firesAt: 10,
        labels: { job },
      },
    ],
    silent: [
      { title: "1.2 % fail", series: failing([8.7, always]), at: 120 },
      { title: "the failures are over: 1.2 % in five minutes", series: failing([38, 48], [8.7, always]), at: 60 },
      { title: "they have just begun: 1.2 % in the hour", series: failing([5.8, 53], [38, always]), at: 60 },
      { title: "7 failures in an hour", series: { ...few(3), ...failing([0.06, always]) }, at: 60 },
      { title: "callers' own deadlines", series: requested(reads, "504", [100, always]), at: 60 },
      {
        title: "internal requests fail",
        series: requested({ ...reads, listener: "internal" }, "500", [100, always]),
        at: 60,
      },
      {
        title: "probes fail",
        series: {
          ...requested({ ...reads, wire: "probe" }, "503", [100, always]),
          ...requested({ ...writes, wire: "probe" }, "500", [100, always]),
        },
        at: 60,
      },
      {
        title: "what nothing serves fails while writes are off",
        series: { ...off("writes"), ...requested({ ...reads, wire: "other" }, "503", [100, always]) },
        at: 60,
      },
      {
        title: "writes fail while writes are off",
        series: { ...off("writes"), ...requested(writes, "503", [100, always]) },
        at: 60,
      },
      {
        title: "internal reads over gRPC fail while writes are off",
        series: { ...off("writes"), ...requested({ ...rpcReads, listener: "internal" }, "503", [100, always]) },
        at: 60,
      },
      {
        title: "reads over gRPC succeed while writes are off",
        series: { ...off("writes"), ...requested(rpcReads, "200", [100, always]) },
        at: 60,
      },
      {
        title: "writes over gRPC fail while writes are off",
        series: {
          ...off("writes"),
          ...requested({ ...writes, wire: "grpc", route: "/records.v1.ContactService/CreateContact" }, "503", [
            100,
            always,
          ]),
        },
        at: 60,
      },
    ],
  },
  {
    alert: "RecordsErrorsSlow",
    fires: [
      { title: "0.75 % fail", series: failing([5.4, always]), pendingAt: 10, firesAt: 30, labels: { job } },
      {
        title: "13 failures in six hours",
        series: { ...few(1), ...failing([0.018, always]) },
        pendingAt: 10,
        firesAt: 360,
        labels: { job },
      },
    ],
    silent: [
      { title: "0.5 % fail", series: failing([3.6, always]), at: 400 },
      { title: "the failures are over: 0.5 % in 30 minutes", series: failing([38, 60], [3.6, always]), at: 120 },
      { title: "they have just begun: 0.5 % in six hours", series: failing([2.5, 330], [14.4, always]), at: 360 },
      { title: "8 failures in six hours", series: { ...few(1), ...failing([0.0111, always]) }, at: 360 },
    ],
  },
  {
    alert: "RecordsReadsSlow",
    fires: [
      {
        title: "p99 of 1.25 s",
        series: took(reads, "200", 600, slowRead),
        pendingAt: 5,
        firesAt: 12,
        labels: { job, route: reads.route },
      },
      {
        title: "a read over gRPC",
        series: took(rpcReads, "200", 600, slowRead),
        pendingAt: 5,
        firesAt: 12,
        labels: { job, route: rpcReads.route },
      },
      {
        title: "eight requests a minute",
        series: { ...took(reads, "200", 4.2, slowRead), ...took(writes, "201", 0, { "1": 1 }) },
        pendingAt: 5,
        firesAt: 16,
        labels: { job, route: reads.route },
      },
    ],
    silent: [
      { title: "p99 of 0.75 s", series: took(reads, "200", 600, quickRead), at: 30 },
      {
        title: "five requests a minute",
        series: { ...took(reads, "200", 2.4, slowRead), ...took(writes, "201", 0.3, { "1": 1 }) },
        at: 30,
      },
      {
        title: "rejected at their deadline, which counts as a failure",
        series: { ...took(reads, "503", 60_000, slowRead), ...took(rpcReads, "503", 60_000, slowRead) },
        at: 30,
      },
      { title: "slow writes", series: took({ ...writes, route: "/v1/api-key" }, "200", 600, slowWrite), at: 30 },
      {
        title: "internal reads, and streams of assistants",
        series: {
          ...took({ ...reads, listener: "internal", route: "/export" }, "200", 600, slowRead),
          ...took({ ...reads, wire: "mcp", route: "/mcp" }, "200", 600, slowRead),
        },
        at: 30,
      },
    ],
  },
  {
    alert: "RecordsWritesSlow",
    fires: [
      {
        title: "p99 of 2.9 s",
        series: took(writes, "201", 600, slowWrite),
        pendingAt: 5,
        firesAt: 12,
        labels: { job, route: writes.route },
      },
      {
        title: "eight requests a minute",
        series: { ...took(writes, "201", 4.2, slowWrite), ...took(reads, "200", 0, { "1": 1 }) },
        pendingAt: 5,
        firesAt: 16,
        labels: { job, route: writes.route },
      },
    ],
    silent: [
      { title: "p99 of 1.5 s", series: took(writes, "201", 600, quickWrite), at: 30 },
      {
        title: "five requests a minute",
        series: { ...took(writes, "201", 2.4, slowWrite), ...took(reads, "200", 0, { "1": 1 }) },
        at: 30,
      },
      {
        title: "rejected at their deadline, which counts as a failure",
        series: took(writes, "503", 60_000, slowWrite),
        at: 30,
      },
      {
        title: "slow reads over REST and gRPC",
        series: { ...took(reads, "200", 600, slowWrite), ...took(rpcReads, "200", 600, slowWrite) },
        at: 30,
      },
      {
        title: "internal writes, and calls of assistants",
        series: {
          ...took({ ...writes, listener: "internal", route: "/import" }, "200", 600, slowWrite),
          ...took({ ...writes, wire: "mcp", route: "/mcp" }, "200", 600, slowWrite),
        },
        at: 30,
      },
    ],
  },
  {
    alert: "RecordsOverloaded",
    fires: [
      {
        title: "1.3 % are refused",
        series: both("records_overloaded_total", {}, counter([10, always])),
        pendingAt: 3,
        firesAt: 10,
        labels: { job },
      },
      {
        title: "throttled requests do not hide it",
        series: Object.assign(
          {},
          both("records_overloaded_total", {}, counter([10, always])),
          ...flood.slice(1),
        ) as Series,
        pendingAt: 3,
        firesAt: 10,
        labels: { job },
      },
    ],
    silent: [
      { title: "0.8 % are refused", series: both("records_overloaded_total", {}, counter([6, always])), at: 30 },
    ],
  },
  {
    alert: "RecordsWorkNearLimit",
    fires: [
      {
        title: "61 of 64 places",
        series: { 'records_work_in_flight{instance="a", standing="known"}': gauge([60, always]) },
        pendingAt: 5,
        firesAt: 12,
        labels: a,
      },
    ],
    silent: [
      {
        title: "51 of 64 places",
        series: { 'records_work_in_flight{instance="a", standing="known"}': gauge([50, always]) },
        at: 30,
      },
      {
        title: "full for two minutes",
        series: { 'records_work_in_flight{instance="a", standing="known"}': gauge([4, 20], [63, 2], [4, always]) },
        at: 31,
      },
    ],
  },
  {
    alert: "RecordsSwitchOffLong",
    fires: [
      {
        title: "writes are off",
        series: both("records_switch_enabled", { switch: "writes" }, gauge([1, 10], [0, always])),
        pendingAt: 60,
        firesAt: 71,
        labels: { job, switch: "writes" },
      },
    ],
    silent: [
      {
        title: "off for 50 minutes",
        series: both("records_switch_enabled", { switch: "writes" }, gauge([1, 10], [0, 50], [1, always])),
        at: 71,
      },
    ],
  },
  {
    alert: "RecordsManyThrottled",
    fires: [
      {
        title: "35 % are throttled",
        series: {
          ...both("records_throttled_total", { listener: "public", wire: "rest" }, counter([420, always])),
          ...requested(reads, "429", [420, always]),
        },
        pendingAt: 8,
        firesAt: 20,
        labels: { job },
      },
    ],
    silent: [
      {
        title: "25 % are throttled",
        series: {
          ...both("records_throttled_total", { listener: "public", wire: "rest" }, counter([260, always])),
          ...requested(reads, "429", [260, always]),
        },
        at: 40,
      },
      {
        title: "throttled on the internal listener",
        series: both(
          "records_throttled_total",
          { listener: "internal", wire: "connect" },
          `${missing(5)} ${counter([9_000, always])}`,
        ),
        at: 40,
      },
    ],
  },
];
