// Fences of one-command writes: their condition in a pipeline, and UNAVAILABLE for a write that comes too late.
import type { Document } from "mongodb";
import { MongoServerError } from "mongodb";
import type { Deadline } from "../deadline.ts";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ReadCollection } from "./aggregate.ts";
import { countUpTo } from "./aggregate.ts";
import { withoutDocument } from "./error-codes.ts";
import type { Fence } from "./write.ts";

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

/** Fails with UNAVAILABLE where a pipeline that was too late failed with this error, and else with the error itself. */
export function failLate(error: unknown): never {
  if (isWithoutDocument(error)) failTooLate();
  throw error;
}

/**
 * For a write that has matched nothing. Fails with UNAVAILABLE where something matches its filter without the fence:
 * then it was the fence, and not that there is nothing.
 */
export async function requireNone(collection: ReadCollection, filter: Document, deadline: Deadline): Promise<void> {
  if ((await countUpTo(collection, 1, filter, { deadline })) > 0) failTooLate();
}

function failTooLate(): never {
  return fail(Reason.UNAVAILABLE, { because: "deadline", waitingFor: "mongodb write" });
}
