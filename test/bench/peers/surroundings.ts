// What every peer in TypeScript is given by its environment: where to listen, and the databases that are there.
import { MongoClient } from "mongodb";

/** The port to listen on, on 127.0.0.1. */
export const port = Number(process.env["PORT"]);
export const redisUrl = setting("REDIS_URL");

// Node writes a profile only where the program ends by itself.
process.once("SIGTERM", () => process.exit());

/** A setting that has to be there. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is required`);
  return value;
}

/** Connects to MongoDB as one does without a second thought. */
export function connectMongo(): Promise<MongoClient> {
  return MongoClient.connect(setting("MONGODB_URI"), { writeConcern: { w: "majority", journal: true } });
}
