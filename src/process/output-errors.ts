// Handles write errors of standard output and standard error, which would end the program with a stack trace.

/**
 * Lets the program continue if the reader of its output leaves early, as `head` does, or stderr fails. Passes the code
 * of every other failure of standard output to `onFailure`.
 */
export function ignoreClosedReaders(onFailure: (code: string) => void): void {
  process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") onFailure(code);
  });
  process.stderr.on("error", () => undefined);
}
