// Divides long work into pieces, between which other requests run.
import type { Deadline } from "../call/deadline.ts";
import { requireNotPast } from "../call/deadline.ts";
import { pieceBytes, yieldToEventLoop } from "./slots.ts";

/** The maximum duration of a piece, unless a single step takes longer. */
const pieceMs = 5;

/**
 * Returns a function to call before each step. It returns undefined until the piece has lasted long enough. Then it
 * returns a promise to wait for, which lets other requests run and calls `proceed`. That may throw to end the work.
 */
export function createYielder(proceed: () => void): () => Promise<void> | undefined {
  let until = performance.now() + pieceMs;
  const pause = async (): Promise<void> => {
    await yieldToEventLoop();
    proceed();
    until = performance.now() + pieceMs;
  };
  return () => (performance.now() >= until ? pause() : undefined);
}

/** Maps the items in order. Fails with the deadline's reason once the deadline has passed. */
export async function mapInPieces<Item, Mapped>(
  items: readonly Item[],
  deadline: Deadline,
  map: (item: Item, at: number) => Mapped,
): Promise<Mapped[]> {
  const mapped: Mapped[] = [];
  const pauseIfDue = createYielder(() => requireNotPast(deadline));
  for (const [at, item] of items.entries()) {
    const pause = pauseIfDue();
    if (pause !== undefined) await pause;
    mapped.push(map(item, at));
  }
  return mapped;
}

/** Returns the bytes of a text that is made part by part. Lets other requests run after each piece. */
export async function encodeInPieces(parts: Iterable<string>): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let text = "";
  for (const part of parts) {
    text += part;
    if (text.length < pieceBytes) continue;
    pieces.push(Buffer.from(text));
    text = "";
    await yieldToEventLoop();
  }
  pieces.push(Buffer.from(text));
  return pieces;
}
