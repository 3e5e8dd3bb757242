// Fences of one-command writes: their condition in a pipeline, and the failure of a late write.
import type { Document } from "mongodb";
import { MongoServerError } from "mongodb";
import type { Deadline } from "../call/deadline.ts";
import type { ReadCollection } from "./aggregate.ts";
import { countUpTo } from "./aggregate.ts";
import { replaceWithNullCode } from "./error-codes.ts";
import type { Fence } from "./write.ts";
import { TooLate, failTooLate } from "./write.ts";

/**
 * Returns the fence's condition for the pipeline of an upsert, whose filter does not accept `$expr`. Without a fence,
 * the condition always holds.
 */
export function fenceCondition(fence: Fence): unknown {
  return (fence["$expr"] as unknown) ?? true;
}

/**
 * Returns the last stage of an update pipeline. It fails once the fence no longer holds, and `rethrowTooLate` converts
 * its error.
 */
export function fenceStage(fence: Fence): Document {
  return { $replaceWith: { $cond: [fenceCondition(fence), "$$ROOT", null] } };
}

/** Whether a command wrote nothing because a condition in its pipeline did not hold. */
export function isConditionFailed(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === replaceWithNullCode;
}

/** Throws TooLate if the error is that of a pipeline whose fence no longer held, and otherwise the error itself. */
export function rethrowTooLate(error: unknown): never {
  throw isConditionFailed(error) ? new TooLate() : error;
}

/**
 * Checks a write that matched nothing. Fails with the deadline's reason if a document matches the filter without the
 * fence, because then the fence rejected the write.
 */
export async function requireNotFenced(
  collection: ReadCollection,
  filter: Document,
  deadline: Deadline,
): Promise<void> {
  if ((await countUpTo(collection, 1, filter, { deadline })) > 0) failTooLate(deadline);
}
