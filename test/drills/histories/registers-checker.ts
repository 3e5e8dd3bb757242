// Checks reads of contact fields against the order in which MongoDB committed their values.
import { check } from "./linearizable.ts";
import type { Committed, Value } from "./oplog.ts";
import type { Fields, Operation } from "./operation.ts";
import { fieldNames } from "./operation.ts";
import { stepsOf } from "./steps.ts";
import type { Violation } from "./violations.ts";

/** Returns all violations in the operations on one contact. `initial` has the fields that it was created with. */
export function checkRegister(
  contact: string,
  initial: Fields,
  operations: readonly Operation[],
  committed: Committed,
): Violation[] {
  const violations = fieldNames.flatMap((field) => checkField(field, operations, committed.values(contact, field)));
  const steps = stepsOf([...operations, finalRead(contact, operations, committed)]);
  const verdict = check(initial, steps);
  if (verdict.linearizable === false) {
    const { sent, wrote, saw } = verdict.at;
    const at = operations.find((operation) => operation.sent === sent && operation.saw === saw);
    violations.push({
      kind: "not linearizable",
      text: [
        `contact ${contact}: no order of ${steps.length} operations explains`,
        at === undefined ? "the final state" : summaryOf(at),
        JSON.stringify({ wrote, saw }),
      ].join(" "),
    });
  }
  return violations;
}

/** The final state, as a read after all operations. */
function finalRead(contact: string, operations: readonly Operation[], committed: Committed): Operation {
  const end = Math.max(0, ...operations.map(({ completed }) => completed)) + 1;
  const saw = Object.fromEntries(fieldNames.map((name) => [name, committed.values(contact, name).at(-1)?.value]));
  return {
    client: "the database",
    instance: "none",
    kind: "get",
    wire: "none",
    outcome: "ok",
    status: "ok",
    sent: end,
    completed: end + 1,
    contact,
    saw,
  };
}

function checkField(field: keyof Fields, operations: readonly Operation[], values: readonly Value[]): Violation[] {
  const first = new Map<string | null, number>();
  const last = new Map<string | null, number>();
  for (const [at, { value }] of values.entries()) {
    if (!first.has(value)) first.set(value, at);
    last.set(value, at);
  }
  const violations: Violation[] = [];
  const acknowledged = operations.filter(({ outcome, wrote }) => outcome === "ok" && wrote?.[field] !== undefined);
  for (const write of acknowledged) {
    const value = write.wrote?.[field] ?? null;
    const at = first.get(value);
    const back =
      at === undefined ? undefined : values.slice(at + 1).find((later) => (first.get(later.value) ?? 0) < at);
    if (at === undefined)
      violations.push({
        kind: "lost",
        text: `${field} ${value}, acknowledged by ${summaryOf(write)}, was never committed`,
      });
    else if (back !== undefined)
      violations.push({
        kind: "lost",
        text: `${field} ${value}, acknowledged by ${summaryOf(write)}, was replaced by ${back.value}, which is older`,
      });
  }
  const newestSeenBy = new Map<string, number>();
  for (const read of [...operations].sort((one, other) => one.sent - other.sent)) {
    const value = read.saw?.[field];
    // The field that a write itself changed proves nothing.
    if (read.outcome !== "ok" || value === undefined || value === null || read.wrote?.[field] !== undefined) continue;
    const at = last.get(value);
    if (at === undefined) {
      violations.push({ kind: "dirty", text: `${summaryOf(read)} read ${field} ${value}, which was never committed` });
      continue;
    }
    const newer = acknowledged
      .filter(({ completed, wrote }) => completed < read.sent && (first.get(wrote?.[field] ?? null) ?? -1) > at)
      .sort((one, other) => one.completed - other.completed)[0];
    if (newer !== undefined)
      violations.push({
        kind: "stale",
        ms: read.sent - newer.completed,
        text: [
          `${summaryOf(read)} read ${field} ${value}, ${between(read.sent - newer.completed)} after`,
          `${newer.wrote?.[field]} was acknowledged by ${summaryOf(newer)}`,
        ].join(" "),
      });
    const seen = newestSeenBy.get(read.client) ?? -1;
    if (at < seen)
      violations.push({
        kind: "non-monotonic",
        text: `${summaryOf(read)} read ${field} ${value}, after it had read ${values[seen]?.value}`,
      });
    newestSeenBy.set(read.client, Math.max(seen, first.get(value) ?? -1));
  }
  return violations;
}

/** Searches that did not find a contact by a name that it had throughout. */
export function checkSearches(operations: readonly Operation[]): Violation[] {
  const sets = operations.filter(({ wrote }) => wrote !== undefined);
  return operations.flatMap((search): Violation[] => {
    if (search.kind !== "search" || search.outcome !== "ok" || search.missing !== true) return [];
    const named = sets.find(
      ({ outcome, wrote, completed }) =>
        outcome === "ok" && wrote?.full_name === search.searched && completed < search.sent,
    );
    if (named === undefined) return [];
    // Another change since then, or at the same time, explains it.
    const explained = sets.some(
      (other) =>
        other !== named &&
        other.outcome !== "failed" &&
        other.sent < search.completed &&
        !(other.outcome === "ok" && other.completed < named.sent),
    );
    if (explained) return [];
    const ms = search.sent - named.completed;
    return [
      {
        kind: "stale",
        ms,
        text: [
          `${summaryOf(search)} did not find a contact by its name ${search.searched},`,
          `${between(ms)} after it was acknowledged by ${summaryOf(named)}`,
        ].join(" "),
      },
    ];
  });
}

/** Formats a duration. */
export function between(ms: number): string {
  return `${Math.round(ms)} ms`;
}

export function summaryOf({ client, instance, kind, wire, sent }: Operation): string {
  return `${client} (${kind} by ${wire} on ${instance} at ${new Date(sent).toISOString().slice(11, 23)})`;
}
