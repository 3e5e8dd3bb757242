// What each alert is tested with, and the promtool tests that follow from it.
import type { Alert } from "./rules.ts";
import type { Series } from "./series.ts";
import {
  always,
  both,
  counter,
  gauge,
  healthy,
  named,
  reads,
  rpcReads,
  requested,
  stale,
  took,
  writes,
} from "./series.ts";
import type { UnitTest } from "./promtool.ts";

/** A condition that makes an alert fire. */
interface Firing {
  readonly series: Series;
  readonly pendingAt: number;
  readonly firesAt: number;
  readonly labels: Readonly<Record<string, string>>;
}
/** A condition that looks similar, or is just below a threshold. */
interface Silent {
  readonly at: number;
  readonly series: Series;
  readonly interval: string | undefined;
}
/** The conditions of an alert, by their titles. */
export interface Case {
  readonly alert: string;
  readonly fires: Readonly<Record<string, Firing>>;
  readonly silent: Readonly<Record<string, Silent>>;
}

/**
 * `series` differ from those of a healthy installation. At the minute `pendingAt` the condition holds, but not yet for
 * long enough. `labels` are those of what fires, without those of the rule.
 */
export const firing = (
  pendingAt: number,
  firesAt: number,
  series: Series,
  labels: Firing["labels"] = { job: "records" },
): Firing => ({ series, pendingAt, firesAt, labels });

export const silent = (at: number, series: Series, interval?: string): Silent => ({ at, series, interval });

/** Series of the job, as promtool reads them. */
function ofJob(series: Series): UnitTest["input_series"] {
  return Object.entries(series).map(([name, values]) => ({ series: name.replace("{", '{job="records", '), values }));
}

type Expectation = UnitTest["promql_expr_test"][number];

/** Whether the alert fires at a minute, with which labels. */
function expects(
  { alert, labels: { severity } }: Alert,
  at: number,
  labels: readonly Readonly<Record<string, string>>[],
): Expectation {
  const all = { alertname: alert, alertstate: "firing", severity };
  return {
    expr: named("ALERTS", { alertname: alert, alertstate: "firing" }),
    eval_time: `${at}m`,
    exp_samples: labels.map((own) => ({ labels: named("ALERTS", { ...all, ...own }), value: 1 })),
  };
}

function unit(
  name: string,
  series: UnitTest["input_series"],
  expected: readonly Expectation[],
  interval = "1m",
): UnitTest {
  return { name, interval, input_series: series, promql_expr_test: expected };
}

/** The promtool tests of an alert: it fires, it is silent below, and it survives a planned switch-off and release. */
export function testsOf(rule: Alert, { fires, silent }: Case): readonly UnitTest[] {
  return [
    ...Object.entries(fires).map(([title, { series, pendingAt, firesAt, labels }]) =>
      unit(`fires: ${title}`, ofJob({ ...healthy, ...series }), [
        expects(rule, pendingAt, []),
        expects(rule, firesAt, [labels]),
      ]),
    ),
    ...Object.entries(silent).map(([title, { series, at, interval }]) =>
      unit(`is silent: ${title}`, ofJob({ ...healthy, ...series }), [expects(rule, at, [])], interval),
    ),
    unit("survives a planned switch-off and a release", ofJob({ ...healthy, ...planned }), [
      {
        ...expects(rule, planEnds, []),
        expr: `count_over_time(ALERTS{alertname="${rule.alert}", alertstate="firing"}[${planEnds}m])`,
      },
    ]),
  ];
}

/**
 * A planned day: the public interface is off for 30 minutes, writes are off for 30 minutes, instance b is scaled down,
 * and a release replaces instance a by c.
 */
const planEnds = 230;
const [interfaceOff, interfaceOn, writesOff, writesOn, scaledDown, released] = [30, 60, 100, 130, 170, 200];
const planned: Series = endingAs({
  ...healthy,
  ...both(
    "records_switch_enabled",
    { switch: "public_interface" },
    gauge([1, interfaceOff], [0, interfaceOn - interfaceOff], [1, always]),
  ),
  ...both(
    "records_switch_enabled",
    { switch: "writes" },
    gauge([1, writesOff], [0, writesOn - writesOff], [1, always]),
  ),
  ...requested(reads, "200", [600, interfaceOff], [0, interfaceOn - interfaceOff], [600, always]),
  ...requested(reads, "503", [0, interfaceOff], [600, interfaceOn - interfaceOff], [0, always]),
  ...requested(rpcReads, "200", [60, interfaceOff], [0, interfaceOn - interfaceOff], [60, always]),
  ...requested(rpcReads, "503", [0, interfaceOff], [60, interfaceOn - interfaceOff], [0, always]),
  ...requested(
    writes,
    "201",
    [120, interfaceOff],
    [0, interfaceOn - interfaceOff],
    [120, writesOff - interfaceOn],
    [0, writesOn - writesOff],
    [120, always],
  ),
  ...requested(
    writes,
    "503",
    [0, interfaceOff],
    [120, interfaceOn - interfaceOff],
    [0, writesOff - interfaceOn],
    [120, writesOn - writesOff],
    [0, always],
  ),
  ...took(writes, "503", 120, { "0.1": 1 }),
  ...both("records_identity_provider_failures_total", {}, counter([0, always])),
});

/** Ends the series of b when it is scaled down, and those of a when the release replaces it by c. */
function endingAs(series: Series): Series {
  const end = (values: string, minute: number): string => [...expand(values).slice(0, minute), stale].join(" ");
  return Object.fromEntries(
    Object.entries(series).flatMap(([name, values]) => {
      if (name.includes('instance="b"')) return [[name, end(values, scaledDown)]];
      const successor = expand(healthy[name] ?? "").slice(0, planEnds - released);
      const began = name.startsWith("process_start_time") ? successor.map(() => String(released * 60)) : successor;
      return [
        [name, end(values, released)],
        [name.replace('instance="a"', 'instance="c"'), [`_x${released}`, ...began].join(" ")],
      ];
    }),
  );
}

/** The samples behind promtool's short notation. */
function expand(values: string): string[] {
  return values.split(" ").flatMap((span) => {
    const [, from = "", , step = "0", times = "0"] =
      /^(-?[\d.e]+)(\+([\d.e]+))?x(\d+)$/.exec(span)?.map((part) => part ?? "0") ?? [];
    return Array.from({ length: Math.min(Number(times), planEnds) + 1 }, (_, index) =>
      String(Number(from) + Number(step) * index),
    );
  });
}
