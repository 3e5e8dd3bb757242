// Maps the items of a large request in pieces: the event loop serves others between them.
import type { Deadline } from "../deadline.ts";
import { requireTime } from "../deadline.ts";
import { yieldToEventLoop } from "./places.ts";

/** How long one piece takes at most, if none of its items takes longer. */
const pieceMs = 5;

/** Maps every item, in order. Fails with the deadline's reason once it has passed. */
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
