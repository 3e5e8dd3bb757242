// `records shard`: prints the commands that shard the collections of a cluster.
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { rejectUsage } from "./exit.ts";

const help = `
It connects to nothing. Run the output in mongosh at a mongos, as a user with
clusterAdmin and readWrite on the database, after \`records migrate\`.

With --shards each shard gets an equal range of the accounts, the same in every
collection: so all records of an account are on one shard. Without it MongoDB
places the ranges of each collection by their size.`;

interface ShardOptions {
  readonly print?: true;
  readonly database: string;
  readonly shards?: string;
  readonly existing?: true;
}

/** A MongoDB name that never needs quoting. */
const plainName = /^[A-Za-z0-9_-]{1,60}$/;

/** Adds the command. Its code is loaded when it runs. */
export function addShard(program: Command, context: Context): void {
  program
    .command("shard")
    .description("print the mongosh commands that shard a cluster by account")
    .option("--print", "required: print the commands and run nothing")
    .option("--database <name>", "the database of MONGODB_URI", "records")
    .option("--shards <names>", "names of the shards, separated by commas; each gets an equal range of the accounts")
    .option("--existing", "for a database that has records")
    .addHelpText("after", help)
    .action(async ({ print, database, shards: list, existing }: ShardOptions) => {
      if (print !== true) rejectUsage("The command only prints: add --print, and run the output in mongosh.");
      const shards = list === undefined ? [] : list.split(",");
      for (const name of [database, ...shards])
        if (!plainName.test(name)) rejectUsage(`"${name}" is not a name: use letters, digits, "_" and "-".`);
      if (new Set(shards).size < shards.length) rejectUsage("--shards: each shard can be named once.");
      const { shardCommands } = await import("./shard-actions.ts");
      const commands = shardCommands({ database, shards, existing: existing === true });
      context.output.result({ commands: commands.filter((line) => !line.startsWith("//")) }, commands);
    });
}
