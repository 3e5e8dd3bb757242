// A drill breaks something on purpose and checks that a promise still holds.
import type { Break } from "./fixture/broken.ts";

/** Long: many faults for minutes, run by hand. Short: a few faults for seconds, run as a test. */
export type Form = "long" | "short";

/** The findings of a drill. */
export interface Report {
  /** Counts and measurements, with the unit in the name. For people only: never asserted. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** Descriptions of what went wrong; empty if the promise holds. */
  readonly violations: readonly string[];
  /**
   * Descriptions of faults that could not be provoked. Such a run proves nothing, neither for a promise nor for a
   * control.
   */
  readonly unprovoked?: readonly string[];
}

export type Say = (line: string) => void;

/** Command-line options that only some drills use. */
export interface RunOptions {
  /** The commit of the older release to run alongside. The drill chooses one by default. */
  readonly from?: string | undefined;
}

/** Runs a drill. Every process that it starts has ended when it resolves or rejects. */
export type Run = (form: Form, say: Say, options?: RunOptions) => Promise<Report>;

/** One promise, put to the test. */
export interface Drill {
  /** The name for `npm run drill -- NAME`. */
  readonly name: string;
  /** The promise that it checks, in one sentence. */
  readonly promise: string;
  readonly run: Run;
  /** Source replacements for its own runs. */
  readonly breaks?: readonly Break[];
  /** Runs with a bug built in. A drill that does not detect it proves nothing. */
  readonly controls: readonly Control[];
}

/** A run that must end with violations. */
export interface Control {
  readonly broken: string;
  /** Its source replacements; absent if something other than the source is broken. */
  readonly breaks?: readonly Break[];
  readonly run: Run;
}
