// Decides whether the history of a contact is linearizable: Wing and Gong's search with Lowe's memoization.
import type { Fields } from "./operation.ts";
import { fieldNames } from "./operation.ts";

/** An operation on the contact: sets some fields, then returns some. */
export interface Step {
  readonly sent: number;
  /** Infinity if there was no response. */
  readonly completed: number;
  readonly wrote?: Partial<Fields>;
  readonly saw?: Partial<Fields>;
}

/** The result of the search. `at` is the operation that the longest order found does not explain. */
export type Verdict =
  | { readonly linearizable: true }
  | { readonly linearizable: false; readonly at: Step }
  | { readonly linearizable: undefined };

/**
 * The call or return of an operation, in a list sorted by time. An operation is unlinked while it is part of the order.
 */
interface End {
  readonly step: Step;
  readonly index: number;
  /** The return, if this is the call. */
  readonly returned?: End;
  before?: End;
  after?: End;
}

const stepsAtMost = 300_000;

/** Searches for an order. Gives up with undefined after too many steps. */
export function check(initial: Fields, steps: readonly Step[]): Verdict {
  const head = listOf(steps);
  const seen = new Set<string>();
  const order: { readonly call: End; readonly before: Fields }[] = [];
  let state = initial;
  let taken = 0n;
  let longest = -1;
  let stuck = steps[0];
  let current = head.after;
  for (let count = 0; head.after !== undefined; count++) {
    if (count > stepsAtMost) return { linearizable: undefined };
    const returned = current?.returned;
    if (current !== undefined && returned !== undefined) {
      const next = after(state, current.step);
      const bit = 1n << BigInt(current.index);
      const key = next === undefined ? "" : `${(taken | bit).toString(36)} ${JSON.stringify(next)}`;
      if (next !== undefined && !seen.has(key)) {
        seen.add(key);
        order.push({ call: current, before: state });
        [state, taken] = [next, taken | bit];
        lift(current, returned);
        current = head.after;
      } else current = current.after;
      continue;
    }
    // Reached the return of an operation that is not in the order, so backtracks.
    if (current !== undefined && order.length > longest) [longest, stuck] = [order.length, current.step];
    const last = order.pop();
    if (last === undefined) return stuck === undefined ? { linearizable: true } : { linearizable: false, at: stuck };
    state = last.before;
    taken &= ~(1n << BigInt(last.call.index));
    putBack(last.call);
    current = last.call.after;
  }
  return { linearizable: true };
}

/** The state after the operation, or undefined if the operation returned something else. */
function after(state: Fields, { wrote, saw }: Step): Fields | undefined {
  const next = wrote === undefined ? state : { ...state, ...wrote };
  const fits = saw === undefined || fieldNames.every((name) => saw[name] === undefined || saw[name] === next[name]);
  return fits ? next : undefined;
}

function listOf(steps: readonly Step[]): End {
  const ends = steps.flatMap((step, index): { at: number; order: number; end: End }[] => {
    const returned: End = { step, index };
    return [
      { at: step.sent, order: 0, end: { step, index, returned } },
      { at: step.completed, order: 1, end: returned },
    ];
  });
  // Calls sort before returns of the same time, so adjacent operations count as concurrent.
  ends.sort((one, other) => (one.at === other.at ? one.order - other.order : one.at - other.at));
  const head: End = { step: { sent: 0, completed: 0 }, index: -1 };
  let last = head;
  for (const { end } of ends) {
    last.after = end;
    end.before = last;
    last = end;
  }
  return head;
}

function lift(...ends: readonly End[]): void {
  for (const { before, after } of ends) if (before !== undefined) link(before, after);
}

/** Relinks in reverse order, when each entry still knows its neighbors. */
function putBack(call: End): void {
  for (const end of [call.returned, call]) {
    if (end?.before !== undefined) end.before.after = end;
    if (end?.after !== undefined) end.after.before = end;
  }
}

function link(before: End, after: End | undefined): void {
  if (after === undefined) delete before.after;
  else [before.after, after.before] = [after, before];
}
