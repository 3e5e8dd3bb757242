// Standard output and standard error that cannot be written: the program does not end with a stack.

/**
 * Lets the program continue when whoever reads its output leaves early, as `head` does, or its errors cannot be shown.
 * `onFailure` gets the code of every other failure of standard output.
 */
export function outliveReaders(onFailure: (code: string) => void): void {
  process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") onFailure(code);
  });
  process.stderr.on("error", () => undefined);
}
