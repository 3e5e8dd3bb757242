// `records status`: whether the service works, what it is made of, and the state of its switches.
import type { Command } from "commander";
import type { Context } from "./context.ts";
import type { EndWith } from "./exit.ts";
import { exitCodes } from "./exit.ts";

/** Adds the command. */
export function addStatus(program: Command, context: Context, endWith: EndWith): void {
  program
    .command("status")
    .description("version, health, readiness and parts, switches, number of accounts; ends with 1 unless all is well")
    .action(async () => {
      const { readStatus } = await import("./status-actions.ts");
      const healthy = await readStatus(context.output, await context.link());
      if (!healthy) endWith(exitCodes.failed);
    });
}
