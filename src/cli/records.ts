// The `records` command line: hands the program its arguments and environment, and ends with its exit code.
import { CommandError, exitCodes } from "./exit.ts";
import { run, say } from "./program.ts";

const argv = process.argv.slice(2);

// Who reads the output may leave early: `records export - … | head`.
process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(exitCodes.ok);
  process.exit(
    say(
      new CommandError(exitCodes.failed, "output", `Standard output cannot be written (${code}).`),
      argv.includes("--json"),
    ),
  );
});
process.exitCode = await run(argv, process.env);
