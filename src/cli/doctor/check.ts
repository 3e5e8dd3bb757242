// One check of the doctor: what it finds, and how long it may take.
import { orAfter } from "../../time-limit.ts";
import { reasonOf } from "./reason.ts";

/** How serious it is. Only a fault makes the doctor end with 1. */
export type Status = "ok" | "note" | "warning" | "fault";

/** What a check says: a sentence on what is so, and for whatever is not ok one on what to do. */
export interface Verdict {
  readonly status: Status;
  readonly message: string;
  readonly mend: string | null;
}

/** A verdict under the name of its check: `<group>.<what>`. */
export interface Finding extends Verdict {
  readonly check: string;
}

/** No check takes longer, so that one that hangs hides no other. */
const checkLimitMs = 6_000;

export const ok = (message: string): Verdict => ({ status: "ok", message, mend: null });
export const note = (message: string, mend: string | null = null): Verdict => ({ status: "note", message, mend });
export const warning = (message: string, mend: string): Verdict => ({ status: "warning", message, mend });
export const fault = (message: string, mend: string): Verdict => ({ status: "fault", message, mend });

/** Runs a check. Never rejects: what it throws is put into words by `explain`, and time that is up is a fault. */
export async function check(
  name: string,
  work: () => Verdict | Promise<Verdict>,
  explain: (error: Error) => Verdict = unexplained,
): Promise<Finding> {
  const late = (): never => {
    throw new DOMException("no response arrived in time", "TimeoutError");
  };
  try {
    return { check: name, ...(await orAfter(checkLimitMs, Promise.resolve().then(work), late)) };
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
