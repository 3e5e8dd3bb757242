// What `npm run clients:generated` needs of a generator of clients.

/** A generator, with a program of ours that uses its client. */
export interface Generator {
  /** What `--only` calls it. */
  readonly name: string;
  readonly version: string;
  readonly language: "Go" | "Java" | "Python" | "TypeScript";
  /** What it needs and this machine lacks; undefined where all is here. */
  readonly missing: () => string | undefined;
  /** What it reads: `openapi` unless it is stated. */
  readonly from?: "openapi" | "descriptors";
  /** Makes the client of a document in an empty folder, and returns what it printed. Throws where it fails. */
  readonly generate: (document: string, folder: string) => string;
  /** Compiles the client and the program. Throws where it fails. */
  readonly compile: (folder: string) => void;
  /** The command that runs the program. */
  readonly command: (folder: string) => readonly [program: string, ...args: string[]];
}

/** Warnings that say nothing about the document. */
const harmless = [
  /OpenAPI 3\.1 support is still in beta/,
  // A parameter called `from`, which is a keyword of Python.
  /From \(reserved word\) cannot be used as model name/,
  // The Python generator requests the name of a schema that is no reference.
  /Failed to get the schema name: null/,
];
/** A warning, or the note that a schema without a name got one. */
const warning = /\bwarn(ing)?\b|\bInline schema created\b|\bskipping\b/i;

/** The warnings in what a generator printed: any of them shows a document that the generator does not digest. */
export function warningsIn(printed: string): string[] {
  return printed.split("\n").filter((line) => warning.test(line) && !harmless.some((known) => known.test(line)));
}
