// The interface of a client generator, as `npm run clients:generated` runs it.

/** A generator, with a program that uses its client. */
export interface Generator {
  /** Its name for `--only`. */
  readonly name: string;
  readonly version: string;
  readonly language: "Go" | "Java" | "Python" | "TypeScript";
  /** What it needs that this machine lacks; undefined if nothing is missing. */
  readonly missing: () => string | undefined;
  /** The document that it reads; `openapi` by default. */
  readonly from?: "openapi" | "descriptors";
  /** Generates the client for a document in an empty folder and returns the generator's output. Throws if it fails. */
  readonly generate: (document: string, folder: string) => string;
  /** Compiles the client and the program. Throws if that fails. */
  readonly compile: (folder: string) => void;
  /** The command that runs the program. */
  readonly command: (folder: string) => readonly [program: string, ...args: string[]];
}

/** Warnings that say nothing about the document. */
const harmless = [
  /OpenAPI 3\.1 support is still in beta/,
  // A parameter called `from`, which is a keyword in Python.
  /From \(reserved word\) cannot be used as model name/,
  // The Python generator looks up the name of a schema that is not a reference.
  /Failed to get the schema name: null/,
];
/** A warning, or the note that an unnamed schema was given a name. */
const warning = /\bwarn(ing)?\b|\bInline schema created\b|\bskipping\b/i;

/** The warnings in a generator's output: each one means that the generator cannot handle part of the document. */
export function warningsIn(printed: string): string[] {
  return printed.split("\n").filter((line) => warning.test(line) && !harmless.some((known) => known.test(line)));
}
