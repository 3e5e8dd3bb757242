// The alerts on requests: failures, overload and throttling.
import type { Case } from "../case.ts";
import type { Series } from "../series.ts";
import { always, both, counter, gauge, missing, reads, requested, rpcReads, writes } from "../series.ts";

const job = "records";
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
export const requestCases: readonly Case[] = [
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
        title: "requests for unserved paths fail while writes are off",
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
    alert: "RecordsOverloaded",
    fires: [
      {
        title: "1.3 % are rejected",
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
      { title: "0.8 % are rejected", series: both("records_overloaded_total", {}, counter([6, always])), at: 30 },
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
