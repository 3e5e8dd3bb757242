// The alerts on requests: failures, overload and throttling.
import type { Case } from "../case.ts";
import { firing, silent } from "../case.ts";
import type { Series } from "../series.ts";
import { always, both, counter, gauge, missing, reads, requested, rpcReads, writes } from "../series.ts";

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
    fires: {
      "1.8 % fail": firing(2, 10, failing([13.2, always])),
      "writes fail": firing(2, 10, requested(writes, "503", [13.2, always])),
      "12 failures in an hour": firing(2, 60, { ...few(5), ...failing([0.1, always]) }),
      "health checks, rejected and internal requests do not hide failures": firing(
        2,
        10,
        Object.assign({}, failing([13.2, always]), ...flood) as Series,
      ),
      ...Object.fromEntries(
        ["/mcp", rpcReads.route].map((route) => [
          `reads of ${route} fail while writes are off`,
          firing(2, 10, { ...off("writes"), ...requested({ ...rpcReads, route }, "503", [13.2, always]) }),
        ]),
      ),
      "reads fail while writes are off": firing(2, 10, { ...off("writes"), ...failing([13.2, always]) }),
      "requests fail with 500 while the public interface is off": firing(2, 10, {
        ...off("public_interface"),
        ...requested(writes, "500", [13.2, always]),
      }),
    },
    silent: {
      "1.2 % fail": silent(120, failing([8.7, always])),
      "the failures are over: 1.2 % in five minutes": silent(60, failing([38, 48], [8.7, always])),
      "they have just begun: 1.2 % in the hour": silent(60, failing([5.8, 53], [38, always])),
      "7 failures in an hour": silent(60, { ...few(3), ...failing([0.06, always]) }),
      "callers' own deadlines": silent(60, requested(reads, "504", [100, always])),
      "internal requests fail": silent(60, requested({ ...reads, listener: "internal" }, "500", [100, always])),
      "probes fail": silent(60, {
        ...requested({ ...reads, wire: "probe" }, "503", [100, always]),
        ...requested({ ...writes, wire: "probe" }, "500", [100, always]),
      }),
      "requests for unserved paths fail while writes are off": silent(60, {
        ...off("writes"),
        ...requested({ ...reads, wire: "other" }, "503", [100, always]),
      }),
      "writes fail while writes are off": silent(60, { ...off("writes"), ...requested(writes, "503", [100, always]) }),
      "internal reads over gRPC fail while writes are off": silent(60, {
        ...off("writes"),
        ...requested({ ...rpcReads, listener: "internal" }, "503", [100, always]),
      }),
      "reads over gRPC succeed while writes are off": silent(60, {
        ...off("writes"),
        ...requested(rpcReads, "200", [100, always]),
      }),
      "writes over gRPC fail while writes are off": silent(60, {
        ...off("writes"),
        ...requested({ ...writes, wire: "grpc", route: "/records.v1.ContactService/CreateContact" }, "503", [
          100,
          always,
        ]),
      }),
    },
  },
  {
    alert: "RecordsErrorsSlow",
    fires: {
      "0.75 % fail": firing(10, 30, failing([5.4, always])),
      "13 failures in six hours": firing(10, 360, { ...few(1), ...failing([0.018, always]) }),
    },
    silent: {
      "0.5 % fail": silent(400, failing([3.6, always])),
      "the failures are over: 0.5 % in 30 minutes": silent(120, failing([38, 60], [3.6, always])),
      "they have just begun: 0.5 % in six hours": silent(360, failing([2.5, 330], [14.4, always])),
      "8 failures in six hours": silent(360, { ...few(1), ...failing([0.0111, always]) }),
    },
  },
  {
    alert: "RecordsOverloaded",
    fires: {
      "1.3 % are rejected": firing(3, 10, both("records_overloaded_total", {}, counter([10, always]))),
      "throttled requests do not hide it": firing(
        3,
        10,
        Object.assign({}, both("records_overloaded_total", {}, counter([10, always])), ...flood.slice(1)) as Series,
      ),
    },
    silent: {
      "0.8 % are rejected": silent(30, both("records_overloaded_total", {}, counter([6, always]))),
    },
  },
  {
    alert: "RecordsManyThrottled",
    fires: {
      "35 % are throttled": firing(8, 20, {
        ...both("records_throttled_total", { listener: "public", wire: "rest" }, counter([420, always])),
        ...requested(reads, "429", [420, always]),
      }),
    },
    silent: {
      "25 % are throttled": silent(40, {
        ...both("records_throttled_total", { listener: "public", wire: "rest" }, counter([260, always])),
        ...requested(reads, "429", [260, always]),
      }),
      "throttled on the internal listener": silent(
        40,
        both(
          "records_throttled_total",
          { listener: "internal", wire: "connect" },
          `${missing(5)} ${counter([9_000, always])}`,
        ),
      ),
    },
  },
];
