// Judges a round as a whole: every check on its history, and how long what was broken took to come back.
import type { Committed } from "./oplog.ts";
import type { History, Operation } from "./operation.ts";
import type { Standstill } from "./records-judge.ts";
import { judgeCreates, judgeLateEffects, judgeNotes } from "./records-judge.ts";
import {
  judgeCredentials,
  judgeFailures,
  judgeRecovery,
  judgeSwitches,
  gapBeyond,
  recoveredAfter,
} from "./promises-judge.ts";
import { judgeRegister, judgeSearches } from "./registers-judge.ts";
import type { Register } from "./registers.ts";
import type { Site } from "./site.ts";
import type { Violation } from "./violations.ts";

/** What there is to judge. */
export interface Judged {
  readonly site: Site;
  readonly history: History;
  readonly registers: readonly Register[];
  readonly committed: Committed;
  readonly standstills: readonly Standstill[];
  /** When the last nemesis began. */
  readonly faultAt: number;
  /** From when everything has to recover. */
  readonly healedAt: number;
  readonly failures: readonly string[];
}

/** The violations, and what is measured beside. */
export function judgeRound({ site, history, registers, committed, standstills, faultAt, healedAt, failures }: Judged): {
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
      return [...judgeRegister(contact, initial, all, committed), ...judgeSearches(all), ...judgeNotes(all, committed)];
    }),
    ...judgeCreates(operations, committed),
    ...judgeLateEffects(operations, committed, standstills),
    ...judgeCredentials(operations),
    ...judgeSwitches(operations),
    ...judgeFailures(operations, failures),
    ...judgeRecovery(operations, healedAt, site.plain.served),
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

/** Operations by how they ended, for figures. */
export function outcomesOf(operations: readonly Operation[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of operations) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
}
