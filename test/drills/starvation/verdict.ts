// Checks one attack: compares the witness's measurements with those of the quiet phase.
import { quantile } from "../load/load.ts";
import type { Form } from "../drill.ts";
import type { Spent } from "./attacker.ts";
import type { Seen } from "./witness.ts";

export interface Attacked {
  /** The measurements without an attack. */
  readonly quiet: Seen;
  readonly seen: Seen;
  readonly spent: Spent;
  readonly seconds: number;
  /** The share of time in which the instance was runnable but not scheduled. */
  readonly waiting: number;
}

/** The minimum share of 200s for requests with a valid key below the limit. */
const minShare = 0.99;
const maxHealthMs = 250;
/** Fewer requests per second are no attack, unless they do harm. */
const minShots = 20;
/** An instance that waits longer is starved by the machine, not by a client. */
const maxWaiting = 0.4;

/** Why no attack can be checked; undefined if all is well without an attack. */
export function unfit(quiet: Seen): string | undefined {
  if (shareOf(quiet) >= minShare && quiet.unhealthy.length === 0) return undefined;
  return `no attack can be checked: requests fail without an attack, too: ${statusesOf(quiet)}`;
}

/**
 * The violations of an attack. If the machine starves the instance, a short run reports nothing and a long run reports
 * that. `always` checks anyway, for a control.
 */
export function faultsOf({ quiet, seen, spent, seconds, waiting }: Attacked, form: Form, always: boolean): string[] {
  if (waiting > maxWaiting && !always)
    return form === "short" ? [] : [`the machine is too busy: the instance waited ${percent(waiting)} of the time`];
  const share = shareOf(seen);
  // A short run has too few requests for more than the median.
  const at = form === "long" ? 0.99 : 0.5;
  const [ms, quietMs] = [quantile(seen.healthMs, at), quantile(quiet.healthMs, at)];
  const maxMs = Math.max(maxHealthMs, 3 * quietMs);
  const faults = [
    ...(share < minShare ? [`another account gets ${percent(share)} of its responses: ${statusesOf(seen)}`] : []),
    ...(seen.unhealthy.length > 0 ? [`health got ${tallied(seen.unhealthy)}`] : []),
    ...(ms > maxMs ? [`health takes ${ms.toFixed(0)} ms, ${quietMs.toFixed(1)} before`] : []),
  ];
  if (faults.length > 0 || form === "short" || shotsOf(spent) >= minShots * seconds) return faults;
  return [`${shotsOf(spent)} requests are no attack`];
}

/** The measurements as one line of text. */
export function summaryOf({ seen, spent, waiting }: Attacked): string {
  return [
    `${percent(shareOf(seen))} of the other account's responses`,
    `health p99 ${quantile(seen.healthMs, 0.99).toFixed(1)} ms`,
    `attacker: ${counts(spent)}`,
    `the instance waited for the CPU ${percent(waiting)} of the time`,
  ].join("; ");
}

function shareOf({ statuses }: Seen): number {
  return statuses.filter((status) => status === 200).length / statuses.length;
}

function shotsOf(spent: Spent): number {
  return spent.reduce((sum, [, count]) => sum + count, 0);
}

function statusesOf({ statuses, unhealthy }: Seen): string {
  return `${tallied(statuses)}${unhealthy.length === 0 ? "" : `; health ${tallied(unhealthy)}`}`;
}

function tallied(statuses: readonly number[]): string {
  const count = new Map<number, number>();
  for (const status of statuses) count.set(status, (count.get(status) ?? 0) + 1);
  return counts([...count]);
}

function counts(all: Spent): string {
  return [...all]
    .sort(([, a], [, b]) => b - a)
    .map(([status, count]) => `${status}: ${count}`)
    .join(", ");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
