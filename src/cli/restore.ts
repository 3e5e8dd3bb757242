// `records restore`: restores all accounts of a backup.
import type { Command } from "commander";
import type { Context } from "./context.ts";
import type { SetExitCode } from "./exit.ts";

const help = `
The command verifies the checksum of every file first. It restores nothing if a
file is damaged, or if the database has one of the accounts. An account can be
used only after it is completely restored. Ids, times, API keys and audit log
are those of the backup.

To resume an interrupted restore, run the same command again.`;

/** Adds the command. */
export function addRestore(program: Command, context: Context, endWith: SetExitCode): void {
  program
    .command("restore")
    .description("restores all accounts from a backup made with export --all; run it again to resume")
    .argument("<directory>", "the folder of the backup")
    .option("--dry-run", "verifies the files and asks the service whether it can restore them; restores nothing")
    .addHelpText("after", help)
    .action(async (directory: string, options: { dryRun?: boolean }) => {
      const { runRestore } = await import("./backup/run-restore.ts");
      endWith(await runRestore(context.output, await context.link(), directory, options));
    });
}
