// A successful operation, for tests of the history checks.
import type { Operation } from "./histories/operation.ts";

/** An operation from 0 to 1 with these properties: a read, or a write if `wrote` is given. */
export function operation(of: Partial<Operation>): Operation {
  return {
    client: "c",
    instance: "i0",
    kind: of.wrote === undefined ? "get" : "set",
    wire: "rest",
    outcome: "ok",
    status: "200",
    sent: 0,
    completed: 1,
    ...of,
  };
}
