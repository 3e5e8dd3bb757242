// Every place with every pattern, each by another way: as many as there is time for, always in the same order.
import type { Pattern } from "./patterns.ts";
import type { Slot } from "./slots.ts";
import type { Status } from "./wire.ts";

/** A request that may be hard on the instance, and the same with less of what is hard in it. */
export interface Case {
  readonly name: string;
  /** True where it comes in so many parts that the network decides how much of it is read at a stretch. */
  readonly inParts?: boolean;
  /** Sends it with this share of its length: 1 for the whole, 0 for next to nothing. Undefined where it has no form. */
  send(share: number): Promise<Status | undefined>;
}

/** The numbers from 0 to 1 of mulberry32, always the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** All pairs of a place and a pattern, without end: in the next round by other ways. */
export function* casesOf(slots: readonly Slot[], patterns: readonly Pattern[], seed: number): Generator<Case> {
  const random = randomFrom(seed);
  const pick = <T>(among: readonly T[]): T | undefined => among[Math.floor(random() * among.length)];
  const pairs = slots.flatMap((_, slot) => patterns.map((_, pattern) => [slot, pattern] as const));
  // Fisher and Yates: whenever it ends, every place and every pattern has had its share.
  for (let at = pairs.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [pairs[at], pairs[other]] = [pairs[other] as (typeof pairs)[number], pairs[at] as (typeof pairs)[number]];
  }
  for (;;) {
    for (const [slotAt, patternAt] of pairs) {
      const [slot, pattern] = [slots[slotAt], patterns[patternAt]];
      const way = pick(slot?.ways ?? []);
      if (slot === undefined || pattern === undefined || way === undefined) continue;
      const most = pick(way.mostBytes) ?? 0;
      const bytes = way.bytesOf(pattern.make(64));
      if (bytes !== undefined) yield caseOf(slot.name, way, pattern, Math.floor(most / Math.max(1, bytes / 64)));
    }
  }
}

/** One place filled by one way with one pattern of so many code units. */
export function caseOf(slot: string, way: Slot["ways"][number], pattern: Pattern, length: number): Case {
  return {
    name: `${slot} of ${way.name}: ${pattern.name}, ${length}`,
    send: (share) => way.send(pattern.make(Math.max(16, Math.floor(length * share)))),
  };
}
