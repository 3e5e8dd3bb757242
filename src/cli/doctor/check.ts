// A check of the doctor: its result and its time limit.
import { withTimeout } from "../../call/time-limit.ts";
import { reasonOf } from "./reason.ts";

/** The severity of a result. Only a fault makes the doctor exit with 1. */
export type Status = "ok" | "note" | "warning" | "fault";

/** The result of a check: `message` describes the state, and `fix` the solution, if there is one. */
export interface Verdict {
  readonly status: Status;
  readonly message: string;
  readonly fix: string | null;
}

/** A verdict with the name of its check, `<group>.<check>`. */
export interface Finding extends Verdict {
  readonly check: string;
}

/** The time limit of a check, so that one that hangs does not hide the others. */
const checkLimitMs = 6_000;

export const ok = (message: string): Verdict => ({ status: "ok", message, fix: null });
export const note = (message: string, fix: string | null = null): Verdict => ({ status: "note", message, fix });
export const warning = (message: string, fix: string): Verdict => ({ status: "warning", message, fix });
export const fault = (message: string, fix: string): Verdict => ({ status: "fault", message, fix });

/** Returns the only finding of a group whose checks are not run. */
export function unchecked(name: string, message: string, fix: string | null = null): Finding[] {
  return [{ check: name, ...note(message, fix) }];
}

/** Runs a check. Never rejects: `explain` converts an error of the work, or a timeout, into a verdict. */
export async function check(
  name: string,
  work: () => Verdict | Promise<Verdict>,
  explain: (error: Error) => Verdict = unexplained,
): Promise<Finding> {
  const late = (): never => {
    throw new DOMException("no response arrived in time", "TimeoutError");
  };
  try {
    return { check: name, ...(await withTimeout(checkLimitMs, Promise.resolve().then(work), late)) };
  } catch (error) {
    return { check: name, ...explain(error instanceof Error ? error : new Error(String(error))) };
  }
}

function unexplained(error: Error): Verdict {
  return fault(
    `This check failed: ${reasonOf(error)}.`,
    "See the other lines of this group first. Then run the doctor again.",
  );
}
