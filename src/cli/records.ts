// The `records` command line: hands the program its arguments and environment, and ends with its exit code.
import { CommandError, exitCodes } from "./exit.ts";
import { run, say } from "./program.ts";

const argv = process.argv.slice(2);

// Who reads the output may leave early, as `head` does. What the command does, and how it ends, stays the same.
process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") return;
  process.exit(
    say(
      new CommandError(exitCodes.failed, "output", `Standard output cannot be written (${code}).`),
      argv.includes("--json"),
    ),
  );
});
// An import continues after the reader of its progress has left.
process.stderr.on("error", () => undefined);
process.exitCode = await run(argv, process.env);
