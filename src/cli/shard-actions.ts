// The mongosh commands that shard the collections, made from the table of their places.
import { placements } from "../db/sharding.ts";

/** What they are for. */
export interface ShardPlan {
  readonly database: string;
  /** The shards that share the accounts equally; none where MongoDB places them by size. */
  readonly shards: readonly string[];
  /** Whether there are records already. */
  readonly existing: boolean;
}

/** One statement or comment a line. */
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
    // Every other key begins an index that the service needs anyway.
    ...split
      .filter(({ key }) => key.includes("."))
      .map(
        ({ name, key }) => `db.getSiblingDB("${database}").${name}.createIndex({ "${key}": 1 }, { name: "shard_key" })`,
      ),
    ...zones,
    // An empty collection is split at the borders of its zones; one with records is moved in the background.
    ...(existing ? [...shard, ...ranges, "sh.startBalancer()"] : [...ranges, ...shard]),
    "// Once on the primary of each shard, not on the mongos: locks of a killed instance end after 30 seconds.",
    "db.adminCommand({ setParameter: 1, transactionLifetimeLimitSeconds: 30 })",
    "// Then run `records doctor`, which compares the result.",
  ];
}

const zoneOf = (at: number): string => `records-${at}`;

/** The lower bound of a part of all ids, which are random. */
function bound(at: number, parts: number): string {
  if (at === 0) return "MinKey()";
  if (at === parts) return "MaxKey()";
  const first = Math.floor((2 ** 32 / parts) * at);
  return `UUID("${first.toString(16).padStart(8, "0")}-0000-0000-0000-000000000000")`;
}
