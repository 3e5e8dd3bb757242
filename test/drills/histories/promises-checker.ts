// Checks credentials, switches, failures and recovery: what must hold from an acknowledgment or a repair on.
import type { Operation } from "./operation.ts";
import { between, summaryOf } from "./registers-checker.ts";
import type { Violation, ViolationKind } from "./violations.ts";

/** Credentials that worked after their end was acknowledged, and new ones that were rejected after they were issued. */
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

/** The promise: a switch takes effect on every instance within this time. */
const switchMs = 1_500;

/** Requests that were served although a switch was off. */
export function checkSwitches(operations: readonly Operation[]): Violation[] {
  const settings = operations
    .filter(({ kind, outcome }) => kind === "switch" && outcome !== "failed")
    .sort((one, other) => one.sent - other.sent);
  return settings.flatMap((off, at): Violation[] => {
    const [name = "", way] = off.value?.split(" ") ?? [];
    if (way !== "off" || off.outcome !== "ok") return [];
    const on = settings.slice(at + 1).find(({ value }) => value === `${name} on`)?.sent ?? Infinity;
    // The public-interface switch does not apply to the internal listener.
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

/** Responses of 500, and the log lines about them. */
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

/** The promise: every request gets the right response this long after the last fault. */
const recoveryMs = 5_000;

/** If the plain client's requests succeed less often, the database itself is slow. */
const plainMs = 500;

/**
 * Requests that failed although everything should have recovered since `from` and MongoDB kept serving its plain
 * client, at the times in `served`.
 */
export function checkRecovery(operations: readonly Operation[], from: number, served: readonly number[]): Violation[] {
  return operations.flatMap((operation): Violation[] => {
    const { outcome, sent, completed, status } = operation;
    if (outcome !== "unknown" || sent < from + recoveryMs || longestGap(served, sent, completed) > plainMs) return [];
    return [
      {
        kind: "unavailable",
        ms: completed - from,
        text: `${summaryOf(operation)} got ${status}, ${Math.round(sent - from)} ms after everything was repaired`,
      },
    ];
  });
}

/** The longest interval between successive times that overlaps the given period; Infinity without any times. */
function longestGap(times: readonly number[], from: number, to: number): number {
  return Math.max(0, ...gapsIn(times, from, to).map(([begin, end]) => end - begin));
}

/**
 * How much longer than its plain client MongoDB acknowledged no write. A gap may span two successive faults, so every
 * gap of the plain client within it is subtracted.
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

/** The intervals between successive times that overlap the given period. */
function gapsIn(times: readonly number[], from: number, to: number): [begin: number, end: number][] {
  const sorted = [...times].sort((one, other) => one - other);
  const before = sorted.findLast((at) => at <= from);
  const after = sorted.find((at) => at >= to);
  const ends = [before ?? -Infinity, ...sorted.filter((at) => at > from && at < to), after ?? Infinity];
  return ends.slice(1).map((end, index) => [ends[index] ?? end, end]);
}

/** Milliseconds until the last request with an unknown outcome; 0 if there is none. */
export function recoveredAfter(operations: readonly Operation[], from: number): number {
  return Math.max(
    0,
    ...operations
      .filter(({ outcome, completed }) => outcome === "unknown" && completed > from)
      .map(({ completed }) => completed - from),
  );
}
