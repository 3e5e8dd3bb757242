// `records restore`: restores all accounts of a backup, or one of them.
import type { Command } from "commander";
import type { Context } from "./context.ts";
import type { SetExitCode } from "./exit.ts";

const help = `
The command first verifies the checksum of every file, and every line in it. It
restores nothing if a file is damaged, if a line can't be restored, or if the
database has one of the accounts. An account can be used only after it is
completely restored. Ids, times, API keys and audit log are those of the backup.

With --account, it restores one account and the sign-outs of its owners, into a
service that can have other accounts. Damage to other accounts' files does not
matter.

To resume an interrupted restore, run the same command again.`;

/** Adds the command. */
export function addRestore(program: Command, context: Context, endWith: SetExitCode): void {
  program
    .command("restore")
    .description("restore accounts from a backup made with export --all; run it again to resume")
    .argument("<directory>", "the folder of the backup")
    .option("--account <account>", "restore only this account, by its id or email")
    .option("--dry-run", "check everything that a restore checks; restore nothing")
    .addHelpText("after", help)
    .action(async (directory: string, options: { account?: string; dryRun?: boolean }) => {
      const { runRestore } = await import("./backup/run-restore.ts");
      endWith(await runRestore(context.output, await context.link(), directory, options));
    });
}
