// The alerts on MongoDB, Redis, the identity provider and background work.
import type { Case } from "../case.ts";
import { firing, silent } from "../case.ts";
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
    fires: {
      "no instance reaches MongoDB": firing(10, 11, both("records_mongodb_up", {}, gauge([1, 10], [0, always]))),
    },
    silent: {
      "one of two reaches MongoDB": silent(30, ofA("records_mongodb_up", gauge([1, 10], [0, always]))),
    },
  },
  {
    alert: "RecordsMongoDBUnreachable",
    fires: {
      "one of two does not reach MongoDB": firing(11, 12, ofA("records_mongodb_up", gauge([1, 10], [0, always])), a),
    },
    silent: {
      "down for one minute": silent(12, ofA("records_mongodb_up", gauge([1, 10], [0, 1], [1, always]))),
    },
  },
  {
    alert: "RecordsLeaseLost",
    fires: {
      "the lease is lost": firing(12, 13, ofA("records_primary_lease", gauge([1, 10], [0, always])), a),
      "the lease is lost and regained repeatedly": firing(6, 30, ofA("records_primary_lease", flapping), a),
    },
    silent: {
      "the lease is lost for 30 seconds": silent(
        29,
        ofA("records_primary_lease", gauge([1, 100], [0, 2], [1, always])),
        "15s",
      ),
      "MongoDB is unavailable, which is another alert": silent(30, {
        ...ofA("records_primary_lease", gauge([0, always])),
        ...ofA("records_mongodb_up", gauge([0, always])),
      }),
    },
  },
  {
    alert: "RecordsMongoDBCommandsFail",
    fires: {
      "23 % of one command fail": firing(3, 10, commands("failed", 180), { ...a, command: "aggregate" }),
      "a command fails at few requests": firing(
        3,
        10,
        { ...commands("ok", 12), ...commands("failed", 3.6) },
        {
          ...a,
          command: "aggregate",
        },
      ),
      "background commands do not hide it": firing(
        3,
        10,
        {
          ...commands("failed", 180),
          ...both("records_mongodb_commands_total", { command: "hello", outcome: "ok" }, counter([60_000, always])),
        },
        { ...a, command: "aggregate" },
      ),
    },
    silent: {
      "17 % of one command fail": silent(30, commands("failed", 120)),
      "fewer than three a minute": silent(30, { ...commands("ok", 4), ...commands("failed", 2.4) }),
    },
  },
  {
    alert: "RecordsCommandsDenied",
    fires: {
      "a command is denied for the first time": firing(11, 14, denied(`${missing(10)} ${gauge([1, always])}`), {
        job,
        command: "delete",
      }),
      "a command is denied again": firing(42, 50, denied(counter([0, 40], [1, always])), { job, command: "delete" }),
    },
    silent: {
      "denied half an hour ago": silent(45, denied(`${missing(10)} ${gauge([1, always])}`)),
    },
  },
  {
    alert: "RecordsMongoDBPoolExhausted",
    fires: {
      "1.4 commands wait": firing(
        17,
        20,
        ofA("records_mongodb_pool_wait_seconds_total", counter([0, 10], [84, always])),
        a,
      ),
    },
    silent: {
      "0.8 commands wait": silent(30, ofA("records_mongodb_pool_wait_seconds_total", counter([48, always]))),
    },
  },
  {
    alert: "RecordsRedisAway",
    fires: {
      "one instance runs without Redis": firing(11, 12, ofA("records_redis_up", gauge([1, 10], [0, always])), a),
    },
    silent: {
      "down for one minute": silent(12, ofA("records_redis_up", gauge([1, 10], [0, 1], [1, always]))),
    },
  },
  {
    alert: "RecordsRedisSlow",
    fires: {
      "6.4 % are throttled without Redis": firing(
        5,
        15,
        ofA("records_throttle_fallback_total", counter([50, always])),
        a,
      ),
    },
    silent: {
      "3.8 % are throttled without Redis": silent(30, ofA("records_throttle_fallback_total", counter([30, always]))),
      "Redis is unavailable, which is another alert": silent(30, {
        ...ofA("records_throttle_fallback_total", counter([500, always])),
        ...ofA("records_redis_up", gauge([0, always])),
      }),
    },
  },
  {
    alert: "RecordsBackgroundFailures",
    fires: {
      "a task fails 4 times": firing(83, 90, task(counter([0, 60], [0.145, always])), { job, task: "erasure" }),
      "a task fails 4 times, and never before": firing(62, 68, task(`${missing(60)} ${gauge([4, always])}`), {
        job,
        task: "erasure",
      }),
    },
    silent: {
      "a task fails 2 or 3 times": silent(100, task(counter([0, 60], [0.08, always]))),
      "an outage that is over": silent(80, task(counter([0, 60], [6, 2], [0, always]))),
    },
  },
  {
    alert: "RecordsErasureStuck",
    fires: {
      "nothing is deleted": firing(20, 26, ofA("records_erasures_running", gauge([0, 10], [1, always]))),
    },
    silent: {
      "another instance deletes": silent(60, {
        ...ofA("records_erasures_running", gauge([1, always])),
        'records_erasure_deleted_documents_total{instance="b"}': counter([5, always]),
      }),
      "done after ten minutes": silent(26, ofA("records_erasures_running", gauge([0, 10], [1, 10], [0, always]))),
    },
  },
  {
    alert: "RecordsImportsFail",
    fires: {
      "nearly 3 imports fail": firing(84, 95, imports(counter([0, 60], [0.09, always]))),
      "3 imports fail, and never before": firing(61, 70, imports(`${missing(60)} ${gauge([3, always])}`)),
    },
    silent: {
      "one or two imports fail": silent(100, imports(counter([0, 60], [0.05, always]))),
      "the first imports succeed": silent(
        70,
        ofA("records_imports_total", `${missing(60)} ${gauge([9, always])}`, ', outcome="ok"'),
      ),
      "imports succeed": silent(100, both("records_imports_total", { outcome: "ok" }, counter([9, always]))),
    },
  },
  {
    alert: "RecordsIdentityProviderAway",
    fires: {
      "6 failures in ten minutes": firing(
        31,
        40,
        ofA("records_identity_provider_failures_total", counter([0, 20], [0.65, always])),
      ),
    },
    silent: {
      "4 failures in ten minutes": silent(
        60,
        ofA("records_identity_provider_failures_total", counter([0, 20], [0.4, always])),
      ),
    },
  },
];
