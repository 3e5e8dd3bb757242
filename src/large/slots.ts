// Limits on large responses: the event loop serves other requests between their pieces, and few are made at a time.
import { getHeapStatistics } from "node:v8";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Tally } from "../call/tally.ts";
import { setBounded } from "../call/bounded-cache.ts";
import { createFairQueue } from "../call/fair-queue.ts";

/** The size from which a response is made in pieces, in bytes. */
export const largeBytes = 1_000_000;
/** The size of a piece, in bytes or UTF-16 code units. A piece takes about 5 milliseconds. */
export const pieceBytes = 250_000;
/** The size from which a response counts as huge, in bytes of data. It needs several times as much memory. */
export const hugeBytes = 4_000_000;
/**
 * The maximum number of huge responses made and sent at a time. One of 50 MB briefly needs about 250 MB of the heap.
 */
export const maxHuge = Math.max(1, Math.min(8, Math.floor(getHeapStatistics().heap_size_limit / 250_000_000)));
/** The maximum for one account, so that an account that reads slowly leaves slots to the others. */
export const maxPerAccount = Math.max(1, Math.floor(maxHuge / 4));

const wait = createFairQueue(0);
let huge = 0;
/** The requests of each account that have a slot. */
const byAccount = new Map<string, Set<Tally>>();
/** The accounts with a recent huge response, and the time until which another one is expected. */
const expected = new Map<string, number>();
const expectedMs = 60_000;

/** Lets the event loop serve other work. Large responses then resume one at a time. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => wait(resolve));
}

/**
 * Takes a slot before a read if the account recently had a huge response. Returns a function that releases the slot
 * after the read, unless the result has turned out to be huge; undefined if a slot is expected to be needed and none is
 * free.
 */
export function takeSlotIfExpected(tally: Tally | undefined): (() => void) | undefined {
  if (tally?.onEnd === undefined || tally.hugeSlot !== undefined || !expectsHuge(tally)) return () => undefined;
  if (!hasSlot(tally)) return undefined;
  const release = takeSlot(tally, "expected");
  return () => {
    if (tally.hugeSlot === "expected") release();
  };
}

/**
 * Reserves a slot for a huge response until the request has ended. Fails with UNAVAILABLE if all slots, or all of the
 * account, are taken: waiting would use the memory that the slots limit. Fails with CANCELLED if the request has
 * already ended. Requests on the internal listener are not limited.
 */
export function requireSlotForHuge(tally: Tally | undefined): void {
  if (tally?.onEnd === undefined) return;
  setBounded(expected, tally.account ?? "", performance.now() + expectedMs);
  if (tally.hugeSlot === undefined) {
    if (!hasSlot(tally)) rejectLarge();
    takeSlot(tally, "measured");
  }
  tally.hugeSlot = "measured";
}

/** Whether the account had a huge response in the last minute, or still reads one. */
function expectsHuge({ account = "" }: Tally): boolean {
  const isReading = [...(byAccount.get(account) ?? [])].some(({ hugeSlot }) => hugeSlot === "measured");
  return isReading || (expected.get(account) ?? 0) > performance.now();
}

function hasSlot({ account = "" }: Tally): boolean {
  return huge < maxHuge && (byAccount.get(account)?.size ?? 0) < maxPerAccount;
}

/** Returns the function that releases the slot before the end of the request. */
function takeSlot(tally: Tally, size: "expected" | "measured"): () => void {
  const { account = "" } = tally;
  huge += 1;
  const held = byAccount.get(account) ?? new Set();
  byAccount.set(account, held.add(tally));
  tally.hugeSlot = size;
  let isTaken = true;
  const release = (): void => {
    if (!isTaken) return;
    isTaken = false;
    tally.hugeSlot = undefined;
    huge -= 1;
    held.delete(tally);
    if (held.size === 0) byAccount.delete(account);
  };
  releaseAtEnd(tally, release);
  return release;
}

/** Fails with UNAVAILABLE because too many large responses are being sent. */
export function rejectLarge(): never {
  const message = "The service is sending too many large responses at once. Try again.";
  return fail(Reason.UNAVAILABLE, { message, because: "large responses" });
}

/** Calls `release` once the request has ended. Fails with CANCELLED if it has already ended. */
export function releaseAtEnd(tally: Tally, release: () => void): void {
  if (tally.onEnd?.(release) !== false) return;
  release();
  fail(Reason.CANCELLED);
}
