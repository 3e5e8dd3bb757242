// The alerts on instances: whether they run and are ready, what of them is full, and switches that stay off.
import type { Case } from "../case.ts";
import { firing, silent } from "../case.ts";
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
    fires: {
      "both instances are not ready": firing(10, 11, both("records_ready", {}, gauge([1, 10], [0, always])), {}),
      "no instance is scraped": firing(10, 12, both("records_ready", {}, `${gauge([1, 10])} ${stale}`), {}),
    },
    silent: {
      "one of two is ready": silent(30, ofA("records_ready", gauge([1, 10], [0, always]))),
    },
  },
  {
    alert: "RecordsInstanceDown",
    fires: {
      "one of two does not respond": firing(14, 15, ofA("up", gauge([1, 10], [0, always])), a),
    },
    silent: {
      "down for four minutes": silent(15, ofA("up", gauge([1, 10], [0, 4], [1, always]))),
      "scaled down": silent(30, ofA("up", `${gauge([1, 10])} ${stale}`)),
    },
  },
  {
    alert: "RecordsInstanceRestarting",
    fires: {
      "four restarts": firing(
        26,
        27,
        ofA("process_start_time_seconds", gauge([1, 10], [2, 5], [3, 5], [4, 5], [5, always])),
        a,
      ),
    },
    silent: {
      "three restarts": silent(27, ofA("process_start_time_seconds", gauge([1, 10], [2, 5], [3, 5], [4, always]))),
    },
  },
  {
    alert: "RecordsWorkNearLimit",
    fires: {
      "47 of 64 places, as known callers can have 48": firing(
        5,
        12,
        { 'records_work_in_flight{instance="a", credential="verified"}': gauge([46, always]) },
        a,
      ),
    },
    silent: {
      "41 of 64 places": silent(30, {
        'records_work_in_flight{instance="a", credential="verified"}': gauge([40, always]),
      }),
      "full for two minutes": silent(31, {
        'records_work_in_flight{instance="a", credential="verified"}': gauge([4, 20], [63, 2], [4, always]),
      }),
    },
  },
  {
    alert: "RecordsSwitchOffLong",
    fires: {
      "writes are off": firing(
        60,
        71,
        both("records_switch_enabled", { switch: "writes" }, gauge([1, 10], [0, always])),
        {
          job,
          switch: "writes",
        },
      ),
    },
    silent: {
      "off for 50 minutes": silent(
        71,
        both("records_switch_enabled", { switch: "writes" }, gauge([1, 10], [0, 50], [1, always])),
      ),
    },
  },
  {
    alert: "RecordsEventLoopLate",
    fires: {
      "0.25 s": firing(3, 6, ofA("nodejs_eventloop_lag_p99_seconds", gauge([0.25, always])), a),
    },
    silent: {
      "0.18 s": silent(30, ofA("nodejs_eventloop_lag_p99_seconds", gauge([0.18, always]))),
    },
  },
  {
    alert: "RecordsMemoryNearLimit",
    fires: {
      "95 %": firing(5, 12, ofA("process_resident_memory_bytes", gauge([0.95 * limit, always])), a),
      "78 %, and full within two hours": firing(45, 55, ofA("process_resident_memory_bytes", growing(0.68, 0.002)), a),
    },
    silent: {
      "85 %, and steady": silent(90, ofA("process_resident_memory_bytes", gauge([0.85 * limit, always]))),
      "64 %, as after a start": silent(60, ofA("process_resident_memory_bytes", growing(0.4, 0.004))),
    },
  },
];
