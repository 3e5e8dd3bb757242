// Large responses: made piece by piece, each in a turn of its own, and only so many at a time.
import { getHeapStatistics } from "node:v8";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Tally } from "../tally.ts";
import { createTurns } from "../turns.ts";

/** From so many bytes of data on a response is made in pieces of this size: one takes some 5 milliseconds. */
export const largeBytes = 1_000_000;
/** From so many on it counts as huge. In memory it takes several times as much. */
export const hugeBytes = 4_000_000;
/** How many huge responses are made and sent at a time: one of 50 MB needs some 250 MB of the heap for a moment. */
export const mostHuge = Math.max(1, Math.min(8, Math.floor(getHeapStatistics().heap_size_limit / 250_000_000)));

const wait = createTurns(0);
let huge = 0;

/** Settles in the next turn of the event loop in which no other large response has had its turn. */
export function largeTurn(): Promise<void> {
  return new Promise((resolve) => wait(resolve));
}

/**
 * Takes a place for a huge response until the request has ended. Fails with UNAVAILABLE where all are taken: waiting in
 * memory is what a place is to prevent. The requests of the services inside are not bounded.
 */
export function requirePlaceForHuge(tally: Tally | undefined): void {
  if (tally?.onEnd === undefined || tally.isHuge) return;
  if (huge >= mostHuge) {
    const message = "The service is sending too many large responses at once; try again.";
    fail(Reason.UNAVAILABLE, { message, because: "large responses" });
  }
  huge += 1;
  tally.isHuge = true;
  tally.onEnd(() => {
    huge -= 1;
  });
}
