// The connection to MongoDB.
import { MongoClient, MongoServerError, UUID } from "mongodb";
import type { Db, IndexDescription } from "mongodb";

/** Commands give up on their own a little before a request's deadline of 5 seconds. */
export const commandLimitMs = 4_500;

/** An index that a store needs. */
export interface IndexSpec {
  readonly collection: string;
  readonly indexes: readonly IndexDescription[];
}

/**
 * Connects. Writes are acknowledged by a majority, so that no failover loses them. A server that hangs is found by the
 * monitor within about 4 seconds, and what waits for it is ended then. Throws when no primary is found within `waitMs`.
 */
export async function connectMongo(uri: string, waitMs: number): Promise<MongoClient> {
  const client = new MongoClient(uri, {
    appName: "records",
    writeConcern: { w: "majority" },
    serverSelectionTimeoutMS: commandLimitMs,
    waitQueueTimeoutMS: commandLimitMs,
    connectTimeoutMS: 2_000,
    heartbeatFrequencyMS: 2_000,
    monitorCommands: true,
  });
  const until = Date.now() + waitMs;
  for (;;) {
    try {
      return await client.connect();
    } catch (error) {
      if (Date.now() >= until) throw error;
    }
  }
}

/** Creates the indexes that are missing. Safe on several instances at once. */
export async function ensureIndexes(db: Db, specs: readonly IndexSpec[]): Promise<void> {
  for (const { collection, indexes } of specs) await db.collection(collection).createIndexes([...indexes]);
}

/** The UUID that a text in canonical form names, in upper or lower case. Throws a RangeError for any other text. */
export function uuid(text: string): UUID {
  return UUID.createFromHexString(text.toLowerCase());
}

/** The name of the unique index that a write ran into, or undefined where the error is another. */
export function duplicateIndex(error: unknown): string | undefined {
  if (!(error instanceof MongoServerError) || error.code !== 11000) return undefined;
  return /index: (\S+)/.exec(error.message)?.[1] ?? "";
}
