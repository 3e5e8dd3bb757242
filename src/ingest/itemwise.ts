// A batch whose items are each right or wrong by themselves: the right ones are written, the wrong ones are answered why.
import type { Violation } from "../errors.ts";
import { Failure } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Outcome } from "./batch.ts";

/** Writes what nothing is wrong with, and answers for all items in their order. */
export async function itemwise<Item, T>(items: readonly Item[], check: (item: Item) => readonly Violation[], write: (items: readonly Item[]) => Promise<Outcome<T>[]>): Promise<Outcome<T>[]> {
  const wrong = items.map(check);
  const right = items.filter((_, at) => wrong[at]?.length === 0);
  const written = right.length === 0 ? [] : await write(right);
  let next = 0;
  return wrong.map((violations) => (violations.length === 0 ? (written[next++] as Outcome<T>) : { failure: invalid(violations) }));
}

function invalid(violations: readonly Violation[]): Failure {
  const message = violations.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
  return new Failure(Reason.INVALID_REQUEST, { message, violations });
}
