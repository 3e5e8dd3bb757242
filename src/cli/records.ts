// Entry point of the `records` command line: runs the program and exits with its exit code.
import { ignoreClosedReaders } from "../process/output-errors.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { run, say } from "./program.ts";

const argv = process.argv.slice(2);

// A command has the same effect and exit code even if the reader of its output or its progress leaves.
ignoreClosedReaders((code) =>
  process.exit(
    say(
      new CommandError(exitCodes.failed, "output", `Standard output cannot be written (${code}).`),
      argv.includes("--json"),
    ),
  ),
);
process.exitCode = await run(argv, process.env);
