// Optimistic writes: the revision that a write rests on, and retries on conflict.
import { randomInt } from "node:crypto";
import { isPast, requireTime } from "../deadline.ts";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";

/** More than a record that is changed by many at once needs, and few enough that nobody repeats for ever. */
const attemptLimit = 50;

/**
 * For a write that rests on what was read before: `attempt` reads, writes, and gives undefined when something came
 * between; then it is done again. Fails with UNAVAILABLE when something comes between every time, and at the deadline.
 */
export async function retryOnConflict<T>(scope: WriteScope, attempt: () => Promise<T | undefined>): Promise<T> {
  requireGrant(scope);
  for (let attempts = 0; attempts < attemptLimit && !isPast(scope.deadline); attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await pause(Math.min(attempts, 3));
  }
  requireTime(scope.deadline);
  return fail(Reason.UNAVAILABLE, {
    message: "Too many requests change this record at once. Try again.",
    because: "contention",
  });
}

/**
 * A new revision for a document that is written: a number that no other write of it gets, on whichever branch of
 * history, so that a write which names the revision that it rests on never matches another state.
 */
export function newRevision(): number {
  return randomInt(maxRevision);
}

/** As many as a call may request; a double represents them exactly, and an instance of before can still add to them. */
const maxRevision = 2 ** 48 - 1;

/** Waits 2 to 100 ms, at random, longer with every attempt, so that writes which collided do not collide again. */
export function pause(attempt: number): Promise<void> {
  const limit = Math.min(100, 4 * 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * limit));
}
