// What a drill is: something is broken on purpose, and a promise of the README holds all the same, or is seen not to.
import type { Break } from "./fixture/broken.ts";

/**
 * How long a drill may take: minutes with many faults by an operator's command, or seconds with a few among the tests.
 */
export type Form = "long" | "short";

/** What a drill has seen. */
export interface Report {
  /** What was counted and measured, with its unit in the name: for people to read, never to be asserted. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** What should not have happened, in words; nothing where the promise holds. */
  readonly violations: readonly string[];
  /** Faults that the run could not bring about, in words: it proves neither a promise nor that a control is seen. */
  readonly unprovoked?: readonly string[];
}

/** Reports what a run does while it does it. */
export type Say = (line: string) => void;

/** Options of the command line that only some drills use. */
export interface RunOptions {
  /** The commit of the older code that runs in parallel; the drill's own choice by default. */
  readonly from?: string | undefined;
}

/** A run of a drill. Leaves nothing behind: every process that it starts has ended when it resolves or rejects. */
export type Run = (form: Form, say: Say, options?: RunOptions) => Promise<Report>;

/** One promise, put to the test. */
export interface Drill {
  /** By this name it is called: `npm run drill -- NAME`. */
  readonly name: string;
  /** The promise that it stands for, as one sentence. */
  readonly promise: string;
  readonly run: Run;
  /** Replacements in the sources for its own runs. */
  readonly breaks?: readonly Break[];
  /** The same with a fault of ours built in: a drill that does not see it proves nothing. */
  readonly controls: readonly Control[];
}

/** A run that has to end with violations. */
export interface Control {
  /** What is broken in it. */
  readonly broken: string;
  /** Its replacements in the sources; absent where something else is broken. */
  readonly breaks?: readonly Break[];
  readonly run: Run;
}
