// Checks notes, creates and late writes against what MongoDB committed.
import type { Committed } from "./oplog.ts";
import type { Operation } from "./operation.ts";
import { fieldNames } from "./operation.ts";
import { between, summaryOf } from "./registers-checker.ts";
import type { Violation } from "./violations.ts";

/** Notes that were acknowledged but lost, shown but never committed, not shown in time, or written twice. */
export function checkNotes(operations: readonly Operation[], { notes }: Committed): Violation[] {
  const appends = operations.filter(({ kind }) => kind === "append");
  const violations: Violation[] = [];
  for (const append of appends.filter(({ outcome }) => outcome === "ok")) {
    if (!notes.has(append.value ?? ""))
      violations.push({
        kind: "lost",
        text: `the note ${append.value}, acknowledged by ${summaryOf(append)}, was never committed`,
      });
  }
  for (const value of new Set(appends.map(({ value }) => value ?? ""))) {
    const times = notes.get(value)?.length ?? 0;
    if (times > 1) violations.push({ kind: "duplicate", text: `the note ${value} was written ${times} times` });
  }
  for (const read of operations.filter(
    ({ kind, outcome, notes: shown }) => kind === "get" && outcome === "ok" && shown !== undefined,
  )) {
    const shown = new Set(read.notes);
    for (const note of shown)
      if (!notes.has(note))
        violations.push({ kind: "dirty", text: `${summaryOf(read)} read the note ${note}, which was never committed` });
    const missing = appends.find(
      ({ contact, outcome, completed, value = "" }) =>
        contact === read.contact && outcome === "ok" && completed < read.sent && !shown.has(value),
    );
    if (missing !== undefined)
      violations.push({
        kind: "stale",
        ms: read.sent - missing.completed,
        text: [
          `${summaryOf(read)} did not show the note ${missing.value},`,
          `${between(read.sent - missing.completed)} after it was acknowledged by ${summaryOf(missing)}`,
        ].join(" "),
      });
  }
  return violations;
}

/** Checks that each acknowledged create with a key made one contact that can be read. */
export function checkCreates(operations: readonly Operation[], { created }: Committed): Violation[] {
  const violations: Violation[] = [];
  const creates = operations.filter(({ kind }) => kind === "create");
  for (const create of creates.filter(({ outcome }) => outcome === "ok")) {
    const ids = created.get(create.value ?? "") ?? [];
    if (!ids.includes(create.id ?? ""))
      violations.push({
        kind: ids.length > 0 ? "duplicate" : "lost",
        text: [
          `${create.value}, acknowledged as ${create.id} by ${summaryOf(create)},`,
          `was committed as ${ids.join(", ") || "nothing"}`,
        ].join(" "),
      });
  }
  for (const value of new Set(creates.map(({ value }) => value ?? ""))) {
    const ids = created.get(value) ?? [];
    if (ids.length > 1)
      violations.push({ kind: "duplicate", text: `the key ${value} made ${ids.length} contacts: ${ids.join(", ")}` });
  }
  for (const read of operations.filter(({ kind, missing }) => kind === "get" && missing === true)) {
    const create = creates.find(
      ({ outcome, id, completed }) => outcome === "ok" && id === read.contact && completed < read.sent,
    );
    if (create !== undefined)
      violations.push({
        kind: "stale",
        ms: read.sent - create.completed,
        text: [
          `${summaryOf(read)} did not find ${create.value},`,
          `${between(read.sent - create.completed)} after it was acknowledged by ${summaryOf(create)}`,
        ].join(" "),
      });
  }
  return violations;
}

/** A time in which a process or a link was paused. Pending operations are applied when it continues. */
export interface Standstill {
  readonly from: number;
  readonly to: number;
}

/** The promise: nothing is applied later than this after its response. */
const lateMs = 1_000;

/**
 * Writes that got 503 and were applied more than a second later, by the primary's clock. Does not blame the service for
 * what a paused member or link had already received.
 */
export function checkLateEffects(
  operations: readonly Operation[],
  committed: Committed,
  standstills: readonly Standstill[],
): Violation[] {
  return operations.flatMap((write): Violation[] => {
    if (write.outcome !== "unknown" || write.status !== "503") return [];
    const at = firstEffect(write, committed);
    if (at === undefined || at - write.completed <= lateMs) return [];
    // A retry with the same key may apply the write while it runs.
    const attempts = operations.filter(
      ({ kind, value }) => value !== undefined && kind === write.kind && value === write.value,
    );
    if (attempts.some(({ sent, completed }) => at >= sent && at <= completed + lateMs)) return [];
    if (
      standstills.some(
        ({ from, to }) => write.sent < to && write.completed > from && at >= Math.floor(to) && at < to + lateMs,
      )
    )
      return [];
    return [
      {
        kind: "late effect",
        ms: at - write.completed,
        text: [
          `${summaryOf(write)} got 503, and ${write.value ?? JSON.stringify(write.wrote)}`,
          `was written ${between(at - write.completed)} later`,
        ].join(" "),
      },
    ];
  });
}

/** When the value of a write was first committed. Creates are not checked: a retry has its own response. */
function firstEffect({ kind, contact = "", wrote, value = "" }: Operation, committed: Committed): number | undefined {
  if (kind === "append") return committed.notes.get(value)?.[0];
  if (kind !== "set") return undefined;
  for (const name of fieldNames) {
    const written = wrote?.[name];
    if (written !== undefined) return committed.values(contact, name).find((one) => one.value === written)?.at;
  }
  return undefined;
}
