// `records migrate`: prepares the database for this release before its instances start.
import type { Command } from "commander";
import type { Context } from "./context.ts";

const help = `
It reads MONGODB_URI (or MONGODB_URI_FILE) as the service does, and needs no
running service. If AUDIT_RETENTION_DAYS is set, it also changes the retention
of the audit log. A shorter retention deletes older entries. Without it, only
an empty log gets the default. It also rebuilds the search terms of records that
an earlier release has written, while searches work. Instances of that release
find names in some scripts no longer by the new terms, so use --indexes-only
until the last one has ended. The user needs readWrite on the database; with
clusterMonitor it also shows the progress of a build. You can run it again,
several times at once, and while instances run. Ctrl-C stops the command, but
MongoDB continues the build.`;

/** Adds the command. Its code is loaded when it runs. */
export function addMigrate(program: Command, environment: NodeJS.ProcessEnv, context: Context): void {
  program
    .command("migrate")
    .description("build the indexes and search terms that this release needs")
    .option("--indexes-only", "leave the search terms of the previous release, whose instances still run")
    .addHelpText("after", help)
    .action(async ({ indexesOnly = false }: { readonly indexesOnly?: boolean }) => {
      const { migrate } = await import("./migrate-actions.ts");
      await migrate(environment, context.output, indexesOnly);
    });
}
