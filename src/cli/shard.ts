// `records shard`: prints the mongosh commands that shard the collections, from the table of their placements.
import type { Command } from "commander";
import { placements } from "../db/sharding.ts";
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

/** Adds the command. */
export function addShard(program: Command, context: Context): void {
  program
    .command("shard")
    .description("print the mongosh commands that shard a cluster by account")
    .option("--print", "required: print the commands and run nothing")
    .option("--database <name>", "the database of MONGODB_URI", "records")
    .option("--shards <names>", "names of the shards, separated by commas; each gets an equal range of the accounts")
    .option("--existing", "for a database that has records")
    .addHelpText("after", help)
    .action(({ print, database, shards: list, existing }: ShardOptions) => {
      if (print !== true) rejectUsage("The command only prints: add --print, and run the output in mongosh.");
      const shards = list === undefined ? [] : list.split(",");
      for (const name of [database, ...shards])
        if (!plainName.test(name)) rejectUsage(`"${name}" is not a name: use letters, digits, "_" and "-".`);
      if (new Set(shards).size < shards.length) rejectUsage("--shards: each shard can be named once.");
      const commands = shardCommands({ database, shards, existing: existing === true });
      context.output.result({ commands: commands.filter((line) => !line.startsWith("//")) }, commands);
    });
}

/** The cluster to shard. */
interface ShardPlan {
  readonly database: string;
  /** The shards that share the accounts equally. Empty if MongoDB places the accounts by size. */
  readonly shards: readonly string[];
  /** Whether the database already has records. */
  readonly existing: boolean;
}

/** Returns the commands, one statement or comment per line. */
export function shardCommands({ database, shards, existing }: ShardPlan): readonly string[] {
  const split = Object.entries(placements).flatMap(([name, placement]) =>
    "shardKey" in placement ? [{ name, ns: `${database}.${name}`, key: placement.shardKey }] : [],
  );
  const shard = split.map(({ ns, key }) => `sh.shardCollection("${ns}", { "${key}": 1 })`);
  const zones = shards.map((name, at) => `sh.addShardToZone("${name}", "${zoneOf(at)}")`);
  const ranges = split.flatMap(({ ns, key }) =>
    shards.map((_, at) => {
      const [from, to] = [bound(at, shards.length), bound(at + 1, shards.length)];
      return `sh.updateZoneKeyRange("${ns}", { "${key}": ${from} }, { "${key}": ${to} }, "${zoneOf(at)}")`;
    }),
  );
  return [
    ...(existing
      ? ["// The replica set is the first shard already: sh.addShard() was run. Take a backup, and stop imports."]
      : ["// Run `records migrate` first: it creates the collections and their indexes."]),
    `sh.enableSharding("${database}")`,
    // Every other shard key is the prefix of an index that the service needs anyway.
    ...split
      .filter(({ key }) => key.includes("."))
      .map(
        ({ name, key }) => `db.getSiblingDB("${database}").${name}.createIndex({ "${key}": 1 }, { name: "shard_key" })`,
      ),
    ...zones,
    // MongoDB splits an empty collection at the borders of its zones, and moves existing records in the background.
    ...(existing ? [...shard, ...ranges, "sh.startBalancer()"] : [...ranges, ...shard]),
    "// Once on the primary of each shard, not on the mongos: locks of a killed instance end after 30 seconds.",
    "db.adminCommand({ setParameter: 1, transactionLifetimeLimitSeconds: 30 })",
    "// Then run `records doctor`, which compares the result.",
  ];
}

const zoneOf = (at: number): string => `records-${at}`;

/** Returns the lower bound of one of several equal ranges of ids. Ids are random. */
function bound(at: number, parts: number): string {
  if (at === 0) return "MinKey()";
  if (at === parts) return "MaxKey()";
  const first = Math.floor((2 ** 32 / parts) * at);
  return `UUID("${first.toString(16).padStart(8, "0")}-0000-0000-0000-000000000000")`;
}
