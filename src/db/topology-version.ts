// Repairs what the driver keeps of a failed raw command: the topology version of the server, which it leaves as bytes.
import type { MongoClient, ServerDescription, TopologyVersion } from "mongodb";
import { BSON } from "mongodb";

/**
 * With `raw: true` the driver does not decode the reply of an error either, but stores its topology version with the
 * server, and throws a TypeError when it compares it with the next one. The description that an event has is the one
 * that the driver keeps.
 */
export function repairTopologyVersions(client: MongoClient): void {
  client.on("serverDescriptionChanged", ({ newDescription }) => repair(newDescription));
}

function repair(description: ServerDescription): void {
  const version: unknown = description.topologyVersion;
  if (version instanceof Uint8Array)
    description.topologyVersion = BSON.deserialize(version, { promoteLongs: false }) as TopologyVersion;
}
