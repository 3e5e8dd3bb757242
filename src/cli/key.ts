// `records key`: revokes an API key of any account.
import type { Command } from "commander";
import type { Context } from "./context.ts";

/** Adds the commands. */
export function addKey(program: Command, context: Context): void {
  program
    .command("key")
    .description("revoke API keys of any account; owners create and rotate theirs on the dashboard")
    .command("revoke")
    .description("revoke an API key at once, on every instance")
    .argument("<key>", "its id or its first 8 characters; never the whole key")
    .requiredOption("--reason <text>", "the reason, for the account's audit log (required)")
    .action(async (key: string, { reason }: { reason: string }) => {
      const { accountActions } = await import("./account-actions.ts");
      await accountActions(context.output, await context.link()).revokeKey(key, reason);
    });
}
