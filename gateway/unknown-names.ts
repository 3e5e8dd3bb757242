// Bounds what a response says of names that an operation does not know: a request can have any number of them.
import type { Violation } from "../src/errors.ts";
import { withMore } from "../src/errors.ts";

/** How many of them a response names, so that it stays small whatever the request. */
const mostNamed = 50;

/** The violations of unknown names. Those of known names need no bound: an operation has few. */
export interface UnknownNames {
  /** Adds a violation, which is made only if there is room for it. */
  add(make: () => Violation): void;
  /** Counts further violations without adding them. */
  count(more: number): void;
  /** Adds to the last violation how many more there are. */
  finish(): void;
}

/** Collects the violations of unknown names among these, in order. */
export function collectUnknown(violations: Violation[]): UnknownNames {
  let named = 0;
  let more = 0;
  let last = 0;
  return {
    add(make) {
      if (named === mostNamed) {
        more += 1;
        return;
      }
      named += 1;
      last = violations.push(make()) - 1;
    },
    count(further) {
      more += further;
    },
    finish() {
      const violation = violations[last];
      if (named === 0 || more === 0 || violation === undefined) return;
      violations[last] = { ...violation, message: withMore(violation.message, more) };
    },
  };
}
