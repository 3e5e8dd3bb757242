// Maps the items of a large request in pieces, between which other requests run.
import type { Deadline } from "../deadline.ts";
import { requireTime } from "../deadline.ts";
import { yieldToEventLoop } from "./places.ts";

/** The maximum duration of a piece, unless a single item takes longer. */
const pieceMs = 5;

/** Maps the items in order. Fails with the deadline's reason once the deadline has passed. */
export async function mapInPieces<Item, Mapped>(
  items: readonly Item[],
  deadline: Deadline,
  map: (item: Item, at: number) => Mapped,
): Promise<Mapped[]> {
  const mapped: Mapped[] = [];
  let until = performance.now() + pieceMs;
  for (const [at, item] of items.entries()) {
    if (performance.now() >= until) {
      await yieldToEventLoop();
      requireTime(deadline);
      until = performance.now() + pieceMs;
    }
    mapped.push(map(item, at));
  }
  return mapped;
}
