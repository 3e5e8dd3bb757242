// The alerts on MongoDB, Redis, the identity provider and background work.
import type { Case } from "../case.ts";
import type { Series } from "../series.ts";
import { always, both, counter, gauge, missing } from "../series.ts";

const job = "records";
const a = { job, instance: "a" };
const ofA = (metric: string, values: string, labels = ""): Series => ({ [`${metric}{instance="a"${labels}}`]: values });
const commands = (outcome: string, each: number): Series =>
  ofA("records_mongodb_commands_total", counter([each, always]), `, command="aggregate", outcome="${outcome}"`);
/** The lease is lost for one minute in five. */
const flapping = Array.from({ length: 40 }, () => gauge([1, 4], [0, 1])).join(" ");
const denied = (values: string): Series => ofA("records_mongodb_denied_commands_total", values, ', command="delete"');
const task = (values: string): Series => ofA("records_background_failures_total", values, ', task="erasure"');
const imports = (values: string): Series => ofA("records_imports_total", values, ', outcome="failed"');

export const dependencyCases: readonly Case[] = [
  {
    alert: "RecordsMongoDBAway",
    fires: [
      {
        title: "no instance reaches MongoDB",
        series: both("records_mongodb_up", {}, gauge([1, 10], [0, always])),
        pendingAt: 10,
        firesAt: 11,
        labels: { job },
      },
    ],
    silent: [
      { title: "one of two reaches MongoDB", series: ofA("records_mongodb_up", gauge([1, 10], [0, always])), at: 30 },
    ],
  },
  {
    alert: "RecordsMongoDBUnreachable",
    fires: [
      {
        title: "one of two does not reach MongoDB",
        series: ofA("records_mongodb_up", gauge([1, 10], [0, always])),
        pendingAt: 11,
        firesAt: 12,
        labels: a,
      },
    ],
    silent: [
      { title: "down for one minute", series: ofA("records_mongodb_up", gauge([1, 10], [0, 1], [1, always])), at: 12 },
    ],
  },
  {
    alert: "RecordsLeaseLost",
    fires: [
      {
        title: "the lease is lost",
        series: ofA("records_primary_lease", gauge([1, 10], [0, always])),
        pendingAt: 12,
        firesAt: 13,
        labels: a,
      },
      {
        title: "the lease is lost and regained repeatedly",
        series: ofA("records_primary_lease", flapping),
        pendingAt: 6,
        firesAt: 30,
        labels: a,
      },
    ],
    silent: [
      {
        title: "the lease is lost for 30 seconds",
        series: ofA("records_primary_lease", gauge([1, 100], [0, 2], [1, always])),
        at: 29,
        interval: "15s",
      },
      {
        title: "MongoDB is unavailable, which is another alert",
        series: {
          ...ofA("records_primary_lease", gauge([0, always])),
          ...ofA("records_mongodb_up", gauge([0, always])),
        },
        at: 30,
      },
    ],
  },
  {
    alert: "RecordsMongoDBCommandsFail",
    fires: [
      {
        title: "23 % of one command fail",
        series: commands("failed", 180),
        pendingAt: 3,
        firesAt: 10,
        labels: { ...a, command: "aggregate" },
      },
      {
        title: "a command fails at few requests",
        series: { ...commands("ok", 12), ...commands("failed", 3.6) },
        pendingAt: 3,
        firesAt: 10,
        labels: { ...a, command: "aggregate" },
      },
      {
        title: "background commands do not hide it",
        series: {
          ...commands("failed", 180),
          ...both("records_mongodb_commands_total", { command: "hello", outcome: "ok" }, counter([60_000, always])),
        },
        pendingAt: 3,
        firesAt: 10,
        labels: { ...a, command: "aggregate" },
      },
    ],
    silent: [
      { title: "17 % of one command fail", series: commands("failed", 120), at: 30 },
      { title: "fewer than three a minute", series: { ...commands("ok", 4), ...commands("failed", 2.4) }, at: 30 },
    ],
  },
  {
    alert: "RecordsCommandsDenied",
    fires: [
      {
        title: "a command is denied for the first time",
        series: denied(`${missing(10)} ${gauge([1, always])}`),
        pendingAt: 11,
        firesAt: 14,
        labels: { job, command: "delete" },
      },
      {
        title: "a command is denied again",
        series: denied(counter([0, 40], [1, always])),
        pendingAt: 42,
        firesAt: 50,
        labels: { job, command: "delete" },
      },
    ],
    silent: [{ title: "denied half an hour ago", series: denied(`${missing(10)} ${gauge([1, always])}`), at: 45 }],
  },
  {
    alert: "RecordsMongoDBPoolExhausted",
    fires: [
      {
        title: "1.4 commands wait",
        series: ofA("records_mongodb_pool_wait_seconds_total", counter([0, 10], [84, always])),
        pendingAt: 17,
        firesAt: 20,
        labels: a,
      },
    ],
    silent: [
      {
        title: "0.8 commands wait",
        series: ofA("records_mongodb_pool_wait_seconds_total", counter([48, always])),
        at: 30,
      },
    ],
  },
  {
    alert: "RecordsRedisAway",
    fires: [
      {
        title: "one instance runs without Redis",
        series: ofA("records_redis_up", gauge([1, 10], [0, always])),
        pendingAt: 11,
        firesAt: 12,
        labels: a,
      },
    ],
    silent: [
      { title: "down for one minute", series: ofA("records_redis_up", gauge([1, 10], [0, 1], [1, always])), at: 12 },
    ],
  },
  {
    alert: "RecordsRedisSlow",
    fires: [
      {
        title: "6.4 % are throttled without Redis",
        series: ofA("records_throttle_fallback_total", counter([50, always])),
        pendingAt: 5,
        firesAt: 15,
        labels: a,
      },
    ],
    silent: [
      {
        title: "3.8 % are throttled without Redis",
        series: ofA("records_throttle_fallback_total", counter([30, always])),
        at: 30,
      },
      {
        title: "Redis is unavailable, which is another alert",
        series: {
          ...ofA("records_throttle_fallback_total", counter([500, always])),
          ...ofA("records_redis_up", gauge([0, always])),
        },
        at: 30,
      },
    ],
  },
  {
    alert: "RecordsBackgroundFailures",
    fires: [
      {
        title: "a task fails 4 times",
        series: task(counter([0, 60], [0.145, always])),
        pendingAt: 83,
        firesAt: 90,
        labels: { job, task: "erasure" },
      },
      {
        title: "a task fails 4 times, and never before",
        series: task(`${missing(60)} ${gauge([4, always])}`),
        pendingAt: 62,
        firesAt: 68,
        labels: { job, task: "erasure" },
      },
    ],
    silent: [
      { title: "a task fails 2 or 3 times", series: task(counter([0, 60], [0.08, always])), at: 100 },
      { title: "an outage that is over", series: task(counter([0, 60], [6, 2], [0, always])), at: 80 },
    ],
  },
  {
    alert: "RecordsErasureStuck",
    fires: [
      {
        title: "nothing is deleted",
        series: ofA("records_erasures_running", gauge([0, 10], [1, always])),
        pendingAt: 20,
        firesAt: 26,
        labels: { job },
      },
    ],
    silent: [
      {
        title: "another instance deletes",
        series: {
          ...ofA("records_erasures_running", gauge([1, always])),
          'records_erasure_deleted_documents_total{instance="b"}': counter([5, always]),
        },
        at: 60,
      },
      {
        title: "done after ten minutes",
        series: ofA("records_erasures_running", gauge([0, 10], [1, 10], [0, always])),
        at: 26,
      },
    ],
  },
  {
    alert: "RecordsImportsFail",
    fires: [
      {
        title: "nearly 3 imports fail",
        series: imports(counter([0, 60], [0.09, always])),
        pendingAt: 84,
        firesAt: 95,
        labels: { job },
      },
      {
        title: "3 imports fail, and never before",
        series: imports(`${missing(60)} ${gauge([3, always])}`),
        pendingAt: 61,
        firesAt: 70,
        labels: { job },
      },
    ],
    silent: [
      { title: "one or two imports fail", series: imports(counter([0, 60], [0.05, always])), at: 100 },
      {
        title: "the first imports succeed",
        series: ofA("records_imports_total", `${missing(60)} ${gauge([9, always])}`, ', outcome="ok"'),
        at: 70,
      },
      {
        title: "imports succeed",
        series: both("records_imports_total", { outcome: "ok" }, counter([9, always])),
        at: 100,
      },
    ],
  },
  {
    alert: "RecordsIdentityProviderAway",
    fires: [
      {
        title: "6 failures in ten minutes",
        series: ofA("records_identity_provider_failures_total", counter([0, 20], [0.65, always])),
        pendingAt: 31,
        firesAt: 40,
        labels: { job },
      },
    ],
    silent: [
      {
        title: "4 failures in ten minutes",
        series: ofA("records_identity_provider_failures_total", counter([0, 20], [0.4, always])),
        at: 60,
      },
    ],
  },
];
