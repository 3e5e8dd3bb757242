// Large responses: the event loop serves others between their pieces, and only a few of them are made at a time.
import { getHeapStatistics } from "node:v8";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Tally } from "../tally.ts";
import { keep } from "../remembered.ts";
import { createTurns } from "../turns.ts";

/** From so many bytes of data on a response is made in pieces of this size: one takes some 5 milliseconds. */
export const largeBytes = 1_000_000;
/** From so many on it counts as huge. In memory it takes several times as much. */
export const hugeBytes = 4_000_000;
/** How many huge responses are made and sent at a time: one of 50 MB needs some 250 MB of the heap for a moment. */
export const mostHuge = Math.max(1, Math.min(8, Math.floor(getHeapStatistics().heap_size_limit / 250_000_000)));
/** Of one account: the others are left places, however slowly it reads. */
export const mostOfAccount = Math.max(1, Math.floor(mostHuge / 4));

const wait = createTurns(0);
let huge = 0;
const byAccount = new Map<string, number>();
/** The accounts that had a huge response, and until when they are expected to have another. */
const expected = new Map<string, number>();
const expectedMs = 60_000;

/** Lets the event loop serve everything else; of all large responses it then resumes one. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => wait(resolve));
}

/**
 * The same before a read that can have a huge result, for an account that had one lately: MongoDB does not read what
 * would be rejected.
 */
export function requirePlaceIfExpected(tally: Tally | undefined): void {
  if ((expected.get(tally?.account ?? "") ?? 0) > performance.now()) requirePlaceForHuge(tally);
}

/**
 * Takes a place for a huge response until the request has ended. Fails with UNAVAILABLE where all are taken, or too
 * many by one account: waiting in memory is what a place is to prevent. Fails with CANCELLED where the request has
 * ended already. The requests of the services inside are not bounded.
 */
export function requirePlaceForHuge(tally: Tally | undefined): void {
  if (tally?.onEnd === undefined || tally.isHuge) return;
  const account = tally.account ?? "";
  const ofAccount = byAccount.get(account) ?? 0;
  if (huge >= mostHuge || ofAccount >= mostOfAccount) rejectLarge();
  huge += 1;
  byAccount.set(account, ofAccount + 1);
  keep(expected, account, performance.now() + expectedMs);
  tally.isHuge = true;
  const release = (): void => {
    huge -= 1;
    const left = (byAccount.get(account) ?? 1) - 1;
    if (left === 0) byAccount.delete(account);
    else byAccount.set(account, left);
  };
  requireOpen(tally, release);
}

/** Rejects a response that is one too many. */
export function rejectLarge(): never {
  const message = "The service is sending too many large responses at once. Try again.";
  return fail(Reason.UNAVAILABLE, { message, because: "large responses" });
}

/** Has `release` called once the request has ended. Fails with CANCELLED where it has ended already. */
export function requireOpen(tally: Tally, release: () => void): void {
  if (tally.onEnd?.(release) !== false) return;
  release();
  fail(Reason.CANCELLED);
}
