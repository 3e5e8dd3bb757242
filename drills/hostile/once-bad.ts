// The requests that once kept all others waiting: whatever a run has time for, these are in it.
import type { Case } from "./cases.ts";
import { caseOf } from "./cases.ts";
import { filled, pump } from "./patterns.ts";
import type { Slot } from "./slots.ts";

/** A place by its name, the ways to it that are tried, and what stands there. */
interface Bad {
  readonly slot: string;
  readonly ways: RegExp;
  readonly pump: ReturnType<typeof pump>;
  readonly length: number;
}

/** What the control with an expression for emails is seen by. */
export const emailSlot = "the field email";

const bad: readonly Bad[] = [
  // Blanks that `\s*` takes from each place on, and the digits of a weight that two repetitions share between them.
  { slot: "accept-encoding", ways: /^HEAD \/docs\/…\/\S* over HTTP\/2/, pump: pump("a", " ", "b"), length: 58_000 },
  {
    slot: "accept-encoding",
    ways: /^GET \S*\/transcript over HTTP\/2/,
    pump: pump("gzip;q=0.", "1", "b"),
    length: 58_000,
  },
  // The error of a library, which quotes what it found, and was searched for its own words.
  {
    slot: "a property's name",
    ways: /^CheckHealth by Connect$/,
    pump: pump("", 'duplicate object key "'),
    length: 200_000,
  },
  // An expression that is quadratic where the text is long, and harmless where the length is looked at before.
  { slot: emailSlot, ways: /^POST \/v1\/contacts by REST/, pump: pump("a@", "a.", "@"), length: 40_000 },
];

/** Those of them that stand in these places. */
export function onceBad(slots: readonly Slot[], which: (slot: string) => boolean = () => true): Case[] {
  return bad
    .filter(({ slot }) => which(slot))
    .map((one) => {
      const slot = slots.find(({ name }) => name === one.slot);
      const way = slot?.ways.find(({ name }) => one.ways.test(name));
      if (slot === undefined || way === undefined) throw new Error(`no place ${one.slot} has a way ${one.ways.source}`);
      const name = `${JSON.stringify(one.pump.part)} again and again`;
      return caseOf(slot.name, way, { name, make: (length) => filled(one.pump, length) }, one.length);
    });
}
