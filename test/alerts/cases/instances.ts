// The alerts on instances: whether they run and are ready, what of them is full, and switches that stay off.
import type { Case } from "../case.ts";
import type { Series } from "../series.ts";
import { always, both, gauge, stale } from "../series.ts";

const job = "records";
const a = { job, instance: "a" };
const ofA = (metric: string, values: string): Series => ({ [`${metric}{instance="a"}`]: values });
const limit = 768 * 2 ** 20;
/** A share of the memory limit that grows by another share each minute. */
const growing = (from: number, each: number): string => `${from * limit}+${each * limit}x${always}`;

export const instanceCases: readonly Case[] = [
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
    alert: "RecordsWorkNearLimit",
    fires: [
      {
        title: "61 of 64 places",
        series: { 'records_work_in_flight{instance="a", credential="verified"}': gauge([60, always]) },
        pendingAt: 5,
        firesAt: 12,
        labels: a,
      },
    ],
    silent: [
      {
        title: "51 of 64 places",
        series: { 'records_work_in_flight{instance="a", credential="verified"}': gauge([50, always]) },
        at: 30,
      },
      {
        title: "full for two minutes",
        series: { 'records_work_in_flight{instance="a", credential="verified"}': gauge([4, 20], [63, 2], [4, always]) },
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
    alert: "RecordsEventLoopLate",
    fires: [
      {
        title: "0.25 s",
        series: ofA("nodejs_eventloop_lag_p99_seconds", gauge([0.25, always])),
        pendingAt: 3,
        firesAt: 6,
        labels: a,
      },
    ],
    silent: [{ title: "0.18 s", series: ofA("nodejs_eventloop_lag_p99_seconds", gauge([0.18, always])), at: 30 }],
  },
  {
    alert: "RecordsMemoryNearLimit",
    fires: [
      {
        title: "95 %",
        series: ofA("process_resident_memory_bytes", gauge([0.95 * limit, always])),
        pendingAt: 5,
        firesAt: 12,
        labels: a,
      },
      {
        title: "78 %, and full within two hours",
        series: ofA("process_resident_memory_bytes", growing(0.68, 0.002)),
        pendingAt: 45,
        firesAt: 55,
        labels: a,
      },
    ],
    silent: [
      {
        title: "85 %, and steady",
        series: ofA("process_resident_memory_bytes", gauge([0.85 * limit, always])),
        at: 90,
      },
      { title: "64 %, as after a start", series: ofA("process_resident_memory_bytes", growing(0.4, 0.004)), at: 60 },
    ],
  },
];
