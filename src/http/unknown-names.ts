// Bounds the number of unknown names that a response reports, because a request can contain any number of them.
import type { Violation } from "../call/errors.ts";
import { withMore } from "../call/errors.ts";

/** The maximum number of unknown names in a response, which keeps it small for any request. */
const maxNamed = 50;

/** The violations of unknown names. Known names need no bound, because an operation has few. */
export interface UnknownNames {
  /** Adds a violation. Calls `make` only if there is room for it. */
  add(make: () => Violation): void;
  /** Counts further violations without adding them. */
  count(more: number): void;
  /** Appends the number of further violations to the last one. */
  finish(): void;
}

/** Creates a collector that adds the violations of unknown names to `violations`, in order. */
export function collectUnknown(violations: Violation[]): UnknownNames {
  let named = 0;
  let more = 0;
  let last = 0;
  return {
    add(make) {
      if (named === maxNamed) {
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
