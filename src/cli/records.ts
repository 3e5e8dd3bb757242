// The `records` command line: hands the program its arguments and environment, and ends with its exit code.
import { outliveReaders } from "../output-errors.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { run, say } from "./program.ts";

const argv = process.argv.slice(2);

// What the command does, and how it ends, stays the same when the reader of its output or its progress leaves.
outliveReaders((code) =>
  process.exit(
    say(
      new CommandError(exitCodes.failed, "output", `Standard output cannot be written (${code}).`),
      argv.includes("--json"),
    ),
  ),
);
process.exitCode = await run(argv, process.env);
