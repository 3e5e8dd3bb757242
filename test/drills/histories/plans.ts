// The rounds of the drill: every nemesis once and twice in a row, with both election timeouts. The short form has the
// two most important.
import type { Form } from "../drill.ts";
import type { NemesisName } from "./nemeses.ts";
import { nemeses } from "./nemeses.ts";
import type { RoundPlan } from "./round.ts";

const all = Object.keys(nemeses) as NemesisName[];

/** Alternates, so that each switch meets each nemesis with two primaries. */
const switchOf = (at: number): Partial<RoundPlan> =>
  at % 3 === 0 ? {} : { switch: at % 3 === 1 ? "publicInterface" : "writes" };

export const plans: Record<Form, readonly RoundPlan[]> = {
  long: [10_000, 2_000].flatMap((electionMs) =>
    all.flatMap((nemesis, at): RoundPlan[] => {
      const made = { nemesis, electionMs: electionMs as RoundPlan["electionMs"] };
      return [
        { ...made, ...switchOf(at + 1) },
        { ...made, twice: true, onPrimarySide: 2, ...switchOf(at) },
      ];
    }),
  ),
  short: [
    // On a busy machine, a forced election takes seconds, and the old primary must lead long enough after it.
    { nemesis: "side cut, forced election", electionMs: 10_000, switch: "publicInterface" },
    { nemesis: "stall and wake", electionMs: 5_000 },
  ],
};
