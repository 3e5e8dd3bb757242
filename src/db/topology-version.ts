// Works around a driver bug: the driver keeps the topology version of a failed raw command as bytes.
import type { MongoClient, ServerDescription, TopologyVersion } from "mongodb";
import { BSON } from "mongodb";

/**
 * Decodes the topology version of every server description of a client. With `raw: true`, the driver does not decode
 * error replies, keeps the raw version, and throws a TypeError when it compares it with the next one. The event's
 * description is the object that the driver keeps.
 */
export function repairTopologyVersions(client: MongoClient): void {
  client.on("serverDescriptionChanged", ({ newDescription }) => repair(newDescription));
}

function repair(description: ServerDescription): void {
  const version: unknown = description.topologyVersion;
  if (version instanceof Uint8Array)
    description.topologyVersion = BSON.deserialize(version, { promoteLongs: false }) as TopologyVersion;
}
