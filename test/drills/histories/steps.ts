// Turns the operations on a contact into steps for the linearizability check.
import type { Step } from "./linearizable.ts";
import type { Fields, Operation } from "./operation.ts";
import { fieldNames } from "./operation.ts";

/**
 * The steps of one contact, whose values are unique. A write with an unknown outcome may have happened at any later
 * time or never. If nobody read its value, it is omitted, because no read can tell. If somebody did, it happened before
 * the first such read completed.
 */
export function stepsOf(operations: readonly Operation[]): Step[] {
  const shown = operations.filter(({ saw, outcome }) => outcome === "ok" && saw !== undefined);
  return operations.flatMap((operation): Step[] => {
    const { wrote, saw, outcome, sent, completed } = operation;
    if (outcome === "ok")
      return wrote === undefined && saw === undefined
        ? []
        : [{ sent, completed, ...(wrote && { wrote }), ...(saw && { saw }) }];
    if (outcome === "failed" || wrote === undefined) return [];
    const read = Math.min(
      ...shown.filter((other) => other !== operation && shows(other, wrote)).map((other) => other.completed),
    );
    return read === Infinity ? [] : [{ sent, completed: read, wrote }];
  });
}

/** Whether an operation returned one of the written values. */
function shows({ saw }: Operation, wrote: Partial<Fields>): boolean {
  return fieldNames.some((name) => wrote[name] !== undefined && wrote[name] !== null && saw?.[name] === wrote[name]);
}
