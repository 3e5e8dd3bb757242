// A successful operation of a client, for tests of the checks on histories.
import type { Operation } from "./histories/operation.ts";

/** An operation from 0 to 1, with these members: a read, or a change if it wrote something. */
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
