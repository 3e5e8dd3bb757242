// Decides whether a history of one contact is linearizable: the search of Wing and Gong with the memory of Lowe.
import type { Fields } from "./operation.ts";

/** An operation on the contact: it sets some fields, and then shows some. */
export interface Step {
  readonly sent: number;
  /** Infinity where it was never served. */
  readonly completed: number;
  readonly wrote?: Partial<Fields>;
  readonly saw?: Partial<Fields>;
}

/** What came of the search. `at` is the operation that no order explains, as far as the search came. */
export type Verdict =
  | { readonly linearizable: true }
  | { readonly linearizable: false; readonly at: Step }
  | { readonly linearizable: undefined };

/**
 * An end of an operation in the list of all ends by time, from which an operation is lifted while it is in the order.
 */
interface End {
  readonly step: Step;
  readonly index: number;
  /** The other end, where this one is the call. */
  readonly returned?: End;
  before?: End;
  after?: End;
}

const names = ["full_name", "email", "phone"] as const;
const stepsAtMost = 300_000;

/** Searches for an order; gives up, with undefined, after some millions of steps. */
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
    // The end of an operation that is not in the order: whatever was chosen before was wrong.
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

/** The state after the operation, or undefined where the operation shows something else. */
function after(state: Fields, { wrote, saw }: Step): Fields | undefined {
  const next = wrote === undefined ? state : { ...state, ...wrote };
  const fits = saw === undefined || names.every((name) => saw[name] === undefined || saw[name] === next[name]);
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
  // At the same time, calls come first: operations that touch are concurrent.
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

/** In the reverse order of lifting: each end still knows its neighbours. */
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
