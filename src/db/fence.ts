// Fences of one-command writes: their condition in a pipeline, and how a write fails that comes too late.
import type { Document } from "mongodb";
import { MongoServerError } from "mongodb";
import type { Deadline } from "../deadline.ts";
import type { ReadCollection } from "./aggregate.ts";
import { countUpTo } from "./aggregate.ts";
import { withoutDocument } from "./error-codes.ts";
import type { Fence } from "./write.ts";
import { TooLate, failTooLate } from "./write.ts";

/**
 * A condition that always holds where there is no fence: for the pipeline of an upsert, whose filter takes no `$expr`.
 */
export function isInTime(fence: Fence): unknown {
  return (fence["$expr"] as unknown) ?? true;
}

/** The last stage of an update by a pipeline: fails once the fence no longer holds. `failLate` takes its error. */
export function onlyInTime(fence: Fence): Document {
  return { $replaceWith: { $cond: [isInTime(fence), "$$ROOT", null] } };
}

/** Whether a command wrote nothing because a condition in its pipeline did not hold. */
export function isWithoutDocument(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === withoutDocument;
}

/** Throws TooLate if the error is that of a pipeline whose fence no longer held, and otherwise the error itself. */
export function failLate(error: unknown): never {
  throw isWithoutDocument(error) ? new TooLate() : error;
}

/**
 * For a write that has matched nothing. Fails with the deadline's reason if something matches its filter without the
 * fence: then the fence rejected the write.
 */
export async function requireNone(collection: ReadCollection, filter: Document, deadline: Deadline): Promise<void> {
  if ((await countUpTo(collection, 1, filter, { deadline })) > 0) failTooLate(deadline);
}
