// Reproducible randomness: a seeded generator, draws from it, and stable ids.
import { createHash } from "node:crypto";

/** Returns the next number, at least 0 and less than 1. */
export type Random = () => number;

/** Creates a generator that returns the same sequence for the same text. */
export function createRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return mulberry32(state);
}

/** Creates a generator that returns the same sequence for the same integer. */
export function mulberry32(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns an integer from `from` to `to`, both inclusive. */
export function between(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/** Returns true with the given probability. */
export function chance(random: Random, probability: number): boolean {
  return random() < probability;
}

/** Returns an item of the list, which must not be empty. */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/**
 * Draws from the list as from a deck of cards: the first round returns each item once. Later rounds leave out the item
 * drawn last, so that none of several items comes twice in a row.
 */
export function deck<T>(random: Random, list: readonly T[]): () => T {
  let rest: T[] = [];
  let last: T | undefined;
  return () => {
    if (rest.length === 0) rest = list.length > 1 ? list.filter((card) => card !== last) : [...list];
    last = rest.splice(Math.floor(random() * rest.length), 1)[0] as T;
    return last;
  };
}

/** Returns a UUID in the form of version 4, always the same for the same name. */
export function stableId(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4] as string;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
