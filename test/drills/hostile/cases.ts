// Generates test cases: every place of a request filled with every pattern, always in the same order.
import { mulberry32 } from "../../fixtures/random.ts";
import type { Pattern } from "./patterns.ts";
import type { Slot } from "./slots.ts";
import type { Status } from "./wire.ts";

/** A request that may be expensive for the instance, at full length and shorter. */
export interface Case {
  readonly name: string;
  /** True for a body of many small chunks. The network decides how many are read at once. */
  readonly inParts?: boolean;
  /** True for a request of fixed length. Its growth is not checked. */
  readonly isFixed?: boolean;
  /** Sends it at a share of its length, between 0 and 1. Undefined if the text cannot be sent there. */
  send(share: number): Promise<Status | undefined>;
}

/** All pairs of a place and a pattern, repeated forever. Each round picks new ways to send them. */
export function* casesOf(slots: readonly Slot[], patterns: readonly Pattern[], seed: number): Generator<Case> {
  const random = mulberry32(seed);
  const pick = <T>(among: readonly T[]): T | undefined => among[Math.floor(random() * among.length)];
  const pairs = slots.flatMap((_, slot) => patterns.map((_, pattern) => [slot, pattern] as const));
  // Fisher-Yates shuffle: a run that ends early still covers all places and patterns evenly.
  for (let at = pairs.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [pairs[at], pairs[other]] = [pairs[other] as (typeof pairs)[number], pairs[at] as (typeof pairs)[number]];
  }
  for (;;) {
    for (const [slotAt, patternAt] of pairs) {
      const [slot, pattern] = [slots[slotAt], patterns[patternAt]];
      const way = pick(slot?.ways ?? []);
      if (slot === undefined || pattern === undefined || way === undefined) continue;
      const most = pick(way.maxBytes) ?? 0;
      const bytes = way.bytesOf(pattern.make(64));
      if (bytes !== undefined) yield caseOf(slot.name, way, pattern, Math.floor(most / Math.max(1, bytes / 64)));
    }
  }
}

/** One place filled with one pattern of `length` code units. */
export function caseOf(slot: string, way: Slot["ways"][number], pattern: Pattern, length: number): Case {
  return {
    name: `${slot} of ${way.name}: ${pattern.name}, ${length}`,
    send: (share) => way.send(pattern.make(Math.max(16, Math.floor(length * share)))),
  };
}
