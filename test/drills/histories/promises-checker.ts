// Checks credentials, switches, failures and recovery: what holds from the instant of an acknowledgement, or of a
// repair.
import type { Operation } from "./operation.ts";
import { between, summaryOf } from "./registers-checker.ts";
import type { Violation, ViolationKind } from "./violations.ts";

/**
 * Credentials that were served after their end was acknowledged, and new ones that were rejected after they were
 * issued.
 */
export function checkCredentials(operations: readonly Operation[]): Violation[] {
  const ends = operations.filter(({ kind }) => kind === "end");
  return operations
    .filter(({ kind }) => kind === "use")
    .flatMap((use): Violation[] => {
      const end = ends.find(
        ({ outcome, credential, completed }) =>
          outcome === "ok" && credential === use.credential && completed < use.sent,
      );
      if (use.outcome === "ok" && end !== undefined) {
        const ms = use.sent - end.completed;
        return [
          {
            kind: `served after ${end.value}` as ViolationKind,
            ms,
            text: `${use.credential} was served to ${summaryOf(use)}, ${Math.round(ms)} ms after ${summaryOf(end)}`,
          },
        ];
      }
      const issued = ends.find(
        ({ outcome, id, completed }) => outcome === "ok" && id === use.credential && completed < use.sent,
      );
      const ended = ends.some(({ credential, sent }) => credential === use.credential && sent < use.completed);
      if (use.status !== "401" || issued === undefined || ended) return [];
      return [
        {
          kind: "stale",
          ms: use.sent - issued.completed,
          text: [
            `${use.credential} was rejected for ${summaryOf(use)},`,
            `${between(use.sent - issued.completed)} after it was issued to ${summaryOf(issued)}`,
          ].join(" "),
        },
      ];
    });
}

/** As promised: a switch is in force on every instance within this time. */
const switchMs = 1_500;

/** Requests that were served where a switch that is off had to keep them from it. */
export function checkSwitches(operations: readonly Operation[]): Violation[] {
  const settings = operations
    .filter(({ kind, outcome }) => kind === "switch" && outcome !== "failed")
    .sort((one, other) => one.sent - other.sent);
  return settings.flatMap((off, at): Violation[] => {
    const [name = "", way] = off.value?.split(" ") ?? [];
    if (way !== "off" || off.outcome !== "ok") return [];
    const on = settings.slice(at + 1).find(({ value }) => value === `${name} on`)?.sent ?? Infinity;
    // The switch of the public interface does not concern the internal listener.
    const concerns = ({ records, wire }: Operation): boolean =>
      name === "writes" ? records === "write" : records !== undefined && wire !== "internal";
    const wrong = operations.filter(
      (operation) =>
        concerns(operation) &&
        operation.outcome === "ok" &&
        operation.sent > off.completed + switchMs &&
        operation.completed < on,
    );
    return wrong.map((operation) => ({
      kind: "switch not in force",
      ms: operation.sent - off.completed,
      text: [
        `${summaryOf(operation)} was served,`,
        `${between(operation.sent - off.completed)} after ${summaryOf(off)} set ${off.value}`,
      ].join(" "),
    }));
  });
}

/** Responses of 500, and what the instances' logs say of them. */
export function checkFailures(operations: readonly Operation[], lines: readonly string[]): Violation[] {
  const failed = operations.filter(({ status }) => status === "500" || status === "internal");
  return [
    ...lines.map((line): Violation => ({ kind: "500", text: `an instance failed: ${line}` })),
    ...failed.map(
      (operation): Violation => ({
        kind: "500",
        text: `${summaryOf(operation)} got ${operation.status}`,
      }),
    ),
  ];
}

/** As promised: so long after the last fault every request is served as it should be. */
const recoveryMs = 5_000;

/** A database that serves a plain client less often than that is slow by itself. */
const plainMs = 500;

/**
 * Requests that were not served although all had to work since `from`, and although MongoDB served its plain client all
 * the while that they ran: `served` says when.
 */
export function checkRecovery(operations: readonly Operation[], from: number, served: readonly number[]): Violation[] {
  return operations.flatMap((operation): Violation[] => {
    const { outcome, sent, completed, status } = operation;
    if (outcome !== "unknown" || sent < from + recoveryMs || longestGap(served, sent, completed) > plainMs) return [];
    return [
      {
        kind: "unavailable",
        ms: completed - from,
        text: `${summaryOf(operation)} got ${status}, ${Math.round(sent - from)} ms after everything was whole`,
      },
    ];
  });
}

/**
 * The longest of the times between two of these that lie in that time, or reach into it; Infinity where there is none.
 */
function longestGap(times: readonly number[], from: number, to: number): number {
  return Math.max(0, ...gapsIn(times, from, to).map(([begin, end]) => end - begin));
}

/**
 * For how much longer nothing was acknowledged than MongoDB served its plain client nothing. Where two faults follow
 * each other, a gap may span both: each gap of the plain client within it is taken off.
 */
export function gapBeyond(
  acknowledged: readonly number[],
  served: readonly number[],
  from: number,
  to: number,
): number {
  const watchedUntil = Math.max(to, served.at(-1) ?? to);
  const beyond = gapsIn(acknowledged, from, to).map(([begin, next]) => {
    const end = Math.min(next, watchedUntil);
    const away = gapsIn(served, begin, end).filter(([left, back]) => back - left > plainMs);
    return away.reduce((ms, [left, back]) => ms - (Math.min(back, end) - Math.max(left, begin)), end - begin);
  });
  return Math.max(0, ...beyond);
}

/** The times between two of these that lie in that time, or reach into it. */
function gapsIn(times: readonly number[], from: number, to: number): [begin: number, end: number][] {
  const sorted = [...times].sort((one, other) => one - other);
  const before = sorted.findLast((at) => at <= from);
  const after = sorted.find((at) => at >= to);
  const ends = [before ?? -Infinity, ...sorted.filter((at) => at > from && at < to), after ?? Infinity];
  return ends.slice(1).map((end, index) => [ends[index] ?? end, end]);
}

/** How long after it the last request of an instance was not served, in milliseconds; 0 where none was. */
export function recoveredAfter(operations: readonly Operation[], from: number): number {
  return Math.max(
    0,
    ...operations
      .filter(({ outcome, completed }) => outcome === "unknown" && completed > from)
      .map(({ completed }) => completed - from),
  );
}
