// Exit codes of the command line, and the error that carries one.

/** The exit codes, which `--help` explains. */
export const exitCodes = {
  ok: 0,
  /** The service rejected the request, or a check failed. */
  failed: 1,
  /** The command was invalid or not confirmed. Nothing was done. */
  usage: 2,
  /** The service cannot be reached, or cannot respond. */
  unreachable: 3,
  /** An import ended, and some of its records were rejected. */
  rejected: 4,
  /** The command was ended by Ctrl-C. */
  interrupted: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Sets an exit code other than 0 for a command that ends without an error. */
export type SetExitCode = (code: ExitCode) => void;

/**
 * The error that ends a command. Its message is for the user: the problem and the solution, in one or two sentences.
 */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;
  /** A word for programs, as in the output of `--json`. */
  readonly code: string;

  constructor(exitCode: ExitCode, code: string, message: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** Fails with a usage error: the command is invalid or not confirmed. */
export function rejectUsage(message: string): never {
  throw new CommandError(exitCodes.usage, "usage", message);
}
