// Regressions: requests that once blocked all others. Every run includes them.
import type { Case } from "./cases.ts";
import { caseOf } from "./cases.ts";
import type { Pump } from "./patterns.ts";
import { filled, pump } from "./patterns.ts";
import type { Slot } from "./slots.ts";

/** A place, the ways to reach it, and the text to send. */
interface Bad {
  readonly slot: string;
  readonly ways: RegExp;
  readonly pump: Pump;
  readonly length: number;
}

/** The place where the control of the email pattern is detected. */
export const emailSlot = "the field email";

const bad: readonly Bad[] = [
  // Spaces that `\s*` matches from each position, and weight digits that two quantifiers share.
  { slot: "accept-encoding", ways: /^HEAD \/docs\/…\/\S* over HTTP\/2/, pump: pump("a", " ", "b"), length: 58_000 },
  {
    slot: "accept-encoding",
    ways: /^GET \S*\/transcript over HTTP\/2/,
    pump: pump("gzip;q=0.", "1", "b"),
    length: 58_000,
  },
  // A library's error message quotes the name, and an expression searched that message.
  {
    slot: "a property's name",
    ways: /^CheckHealth by Connect$/,
    pump: pump("", 'duplicate object key "'),
    length: 200_000,
  },
  // A quadratic expression, which is harmless once the length is limited.
  { slot: emailSlot, ways: /^POST \/v1\/contacts by REST/, pump: pump("a@", "a.", "@"), length: 40_000 },
];

/** Returns the regressions of these places. */
export function onceBad(slots: readonly Slot[], which: (slot: string) => boolean = () => true): Case[] {
  return bad
    .filter(({ slot }) => which(slot))
    .map((one) => {
      const slot = slots.find(({ name }) => name === one.slot);
      const way = slot?.ways.find(({ name }) => one.ways.test(name));
      if (slot === undefined || way === undefined) throw new Error(`no way of ${one.slot} matches ${one.ways.source}`);
      const name = `${JSON.stringify(one.pump.part)} repeated`;
      return caseOf(slot.name, way, { name, make: (length) => filled(one.pump, length) }, one.length);
    });
}
