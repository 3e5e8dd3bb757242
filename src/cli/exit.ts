// How the command line ends: its exit codes, and the one error that carries one.

/** What the exit codes mean; `--help` reports the same. */
export const exitCodes = {
  ok: 0,
  /** The service rejected the request, or something is not as it should be. */
  failed: 1,
  /** The command was not understood, or not confirmed; nothing was done. */
  usage: 2,
  /** The service cannot be reached, or cannot respond. */
  unreachable: 3,
  /** An import went through to its end, and some of its records were rejected. */
  rejected: 4,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Says how the run ends, where it ends neither with 0 nor with an error. */
export type EndWith = (code: ExitCode) => void;

/** Ends a command; the message is for the user, one sentence or two on what was wrong and what would be right. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;
  /** A word for programs, as `--json` reports it. */
  readonly code: string;

  constructor(exitCode: ExitCode, code: string, message: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** Ends the command as one that was not understood or not confirmed. */
export function rejectUsage(message: string): never {
  throw new CommandError(exitCodes.usage, "usage", message);
}
