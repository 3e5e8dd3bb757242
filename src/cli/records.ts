// The `records` command line: hands the program its arguments and environment, and ends with its exit code.
import { run } from "./program.ts";

// Who reads the output may leave early: `records export - … | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
process.exitCode = await run(process.argv.slice(2), process.env);
