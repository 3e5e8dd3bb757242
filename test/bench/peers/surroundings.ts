// The environment of every peer: its port and the databases.
import { MongoClient } from "mongodb";

export const port = Number(process.env["PORT"]);
export const redisUrl = setting("REDIS_URL");

// Node only writes a profile if the program exits by itself.
process.once("SIGTERM", () => process.exit());

export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is required`);
  return value;
}

/** Connects to MongoDB with plain options. */
export function connectMongo(): Promise<MongoClient> {
  return MongoClient.connect(setting("MONGODB_URI"), { writeConcern: { w: "majority", journal: true } });
}
