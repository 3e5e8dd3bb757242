// `records migrate`: prepares the database for this release before its instances start.
import type { Command } from "commander";
import type { Context } from "./context.ts";

const help = `
It reads MONGODB_URI (or MONGODB_URI_FILE) as the service does, and needs no
running service. If AUDIT_RETENTION_DAYS is set, it also changes the retention
of the audit log. A shorter retention deletes older entries. Without it, only
an empty log gets the default. It also rebuilds the search terms of records that
an earlier release has written: run it again after the last instance of that
release has ended. Searches work meanwhile. The user needs readWrite on the database; with
clusterMonitor it also shows the progress of a build. You can run it again,
several times at once, and while instances run. Ctrl-C stops the command, but
MongoDB continues the build.`;

/** Adds the command. Its code is loaded when it runs. */
export function addMigrate(program: Command, environment: NodeJS.ProcessEnv, context: Context): void {
  program
    .command("migrate")
    .description("builds the indexes and search terms that this release needs")
    .addHelpText("after", help)
    .action(async () => {
      const { migrate } = await import("./migrate-actions.ts");
      await migrate(environment, context.output);
    });
}
