// Runs every check on the history of a round, and measures the recovery.
import type { Committed } from "./oplog.ts";
import type { History, Operation } from "./operation.ts";
import type { Standstill } from "./records-checker.ts";
import { checkCreates, checkLateEffects, checkNotes } from "./records-checker.ts";
import {
  checkCredentials,
  checkFailures,
  checkRecovery,
  checkSwitches,
  gapBeyond,
  recoveredAfter,
} from "./promises-checker.ts";
import { checkRegister, checkSearches } from "./registers-checker.ts";
import type { Register } from "./registers.ts";
import type { Site } from "./site.ts";
import type { Violation } from "./violations.ts";

/** A completed round, and what MongoDB committed during it. */
export interface FinishedRound {
  readonly site: Site;
  readonly history: History;
  readonly registers: readonly Register[];
  readonly committed: Committed;
  readonly standstills: readonly Standstill[];
  /** When the last nemesis began. */
  readonly faultAt: number;
  readonly healedAt: number;
  readonly failures: readonly string[];
}

/** Returns the violations and the measurements. */
export function checkRound({
  site,
  history,
  registers,
  committed,
  standstills,
  faultAt,
  healedAt,
  failures,
}: FinishedRound): {
  violations: Violation[];
  recoveryMs: number;
  beyondMs: number;
} {
  const { operations } = history;
  const ofContact = new Map<string, Operation[]>();
  for (const operation of operations)
    if (operation.contact !== undefined)
      ofContact.set(operation.contact, [...(ofContact.get(operation.contact) ?? []), operation]);
  const violations = [
    ...registers.flatMap(({ contact, initial }) => {
      const all = ofContact.get(contact) ?? [];
      return [...checkRegister(contact, initial, all, committed), ...checkSearches(all), ...checkNotes(all, committed)];
    }),
    ...checkCreates(operations, committed),
    ...checkLateEffects(operations, committed, standstills),
    ...checkCredentials(operations),
    ...checkSwitches(operations),
    ...checkFailures(operations, failures),
    ...checkRecovery(operations, healedAt, site.plain.served),
  ];
  const acknowledged = operations
    .filter(({ kind, outcome }) => kind === "set" && outcome === "ok")
    .map(({ completed }) => completed);
  return {
    violations,
    recoveryMs: recoveredAfter(operations, healedAt),
    beyondMs: gapBeyond(acknowledged, site.plain.served, faultAt, healedAt),
  };
}

/** Counts operations by outcome, for the figures. */
export function outcomesOf(operations: readonly Operation[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of operations) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
}
