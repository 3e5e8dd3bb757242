// Builds the mongosh commands that shard the collections, from the table of their placements.
import { placements } from "../db/sharding.ts";

/** The cluster to shard. */
export interface ShardPlan {
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
