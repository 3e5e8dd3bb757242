// `records status`: shows whether the service and its dependencies work, and the state of its switches.
import type { Command } from "commander";
import type { Context } from "./context.ts";
import type { SetExitCode } from "./exit.ts";
import { exitCodes } from "./exit.ts";

/** Adds the command. */
export function addStatus(program: Command, context: Context, endWith: SetExitCode): void {
  program
    .command("status")
    .description(
      "show version, health, readiness, switches and number of accounts; the exit code is 1 if there is a problem",
    )
    .action(async () => {
      const { readStatus } = await import("./status-actions.ts");
      const healthy = await readStatus(context.output, await context.link());
      if (!healthy) endWith(exitCodes.failed);
    });
}
