// Checks the placement of each collection on a sharded cluster: sharded by account, or on one shard.
import type { Document, MongoClient } from "mongodb";
import { placements } from "../../db/sharding.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, note, ok } from "./check.ts";
import { unread } from "./rights.ts";

/** Compares the placements with the cluster's own list of sharded collections. */
export function checkSharding(client: MongoClient): Promise<Finding> {
  const { databaseName } = client.db();
  return check(
    "mongodb.sharding",
    async () => {
      const names = Object.keys(placements).map((name) => `${databaseName}.${name}`);
      const { cursor } = await client.db("config").command({ find: "collections", filter: { _id: { $in: names } } });
      return compareSharding(databaseName, (cursor as { firstBatch: Document[] }).firstBatch);
    },
    unread(
      note(
        "The user may not see how the collections are sharded.",
        "Grant it clusterMonitor, so that the doctor can check them. The service itself does not need it.",
      ),
      "How the collections are sharded cannot be read",
      "Make sure that a mongos runs there.",
    ),
  );
}

/** Returns the verdict on the placements. `sharded` has the documents of `config.collections` for our collections. */
export function compareSharding(databaseName: string, sharded: readonly Document[]): Verdict {
  const keys = new Map(sharded.map(({ _id, key }) => [String(_id), Object.keys(key as Document).join(", ")]));
  const wrong = Object.entries(placements).flatMap(([name, placement]) => {
    const key = keys.get(`${databaseName}.${name}`);
    if ("whole" in placement) return key === undefined ? [] : [`${name} is sharded by ${key}`];
    if (key === undefined) return [`${name} is not sharded`];
    return key === placement.shardKey ? [] : [`${name} is sharded by ${key}, not by ${placement.shardKey}`];
  });
  if (wrong.length === 0) return ok("Each collection is sharded as the service needs it.");
  return fault(
    `The collections are not sharded as they should be: ${wrong.join("; ")}.`,
    "Run the commands that records shard --print prints. To change a wrong shard key, use reshardCollection or unshardCollection.",
  );
}
