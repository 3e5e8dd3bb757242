// Optimistic concurrency: document revisions, and retries on conflict.
import { randomInt } from "node:crypto";
import { isPast, requireNotPast } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import { confirmGrant } from "../call/scope.ts";

/** The maximum number of attempts: enough for a record with many concurrent writers. */
const attemptLimit = 50;

/**
 * Retries a read-then-write on conflict: `attempt` reads, writes, and returns undefined if another write came between.
 * Fails with UNAVAILABLE if every attempt conflicts, and with the deadline's reason once that has passed.
 */
export async function retryOnConflict<T>(scope: WriteScope, attempt: () => Promise<T | undefined>): Promise<T> {
  await confirmGrant(scope);
  for (let attempts = 0; attempts < attemptLimit && !isPast(scope.deadline); attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await pause(Math.min(attempts, 3));
  }
  requireNotPast(scope.deadline);
  return fail(Reason.UNAVAILABLE, {
    message: "Too many requests change this record at once. Try again.",
    because: "contention",
  });
}

/**
 * Returns a random revision for a document. No other write of the document gets the same number, not even on another
 * branch of history, so a write that names the revision it read never matches another state.
 */
export function newRevision(): number {
  return randomInt(maxRevision);
}

/**
 * The largest range that `randomInt` accepts. Doubles represent it exactly, and the previous release can still
 * increment it.
 */
const maxRevision = 2 ** 48 - 1;

/**
 * Waits a random time of at most 102 ms, on average longer with every attempt, so that conflicting writes do not
 * conflict again.
 */
export function pause(attempt: number): Promise<void> {
  const limit = Math.min(100, 4 * 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * limit));
}
