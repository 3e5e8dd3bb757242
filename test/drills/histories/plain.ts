// A plain MongoDB client for comparison: records when majority writes and linearizable reads succeed without the
// service.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { now } from "./operation.ts";

export interface Plain {
  /** When each pair of a write and a read was acknowledged, in ascending order. */
  readonly served: readonly number[];
  stop(): Promise<void>;
}

const everyMs = 50;

/** Writes and reads continuously. */
export function startPlain(uri: string): Plain {
  const client = new MongoClient(uri, {
    serverSelectionTimeoutMS: 2_000,
    connectTimeoutMS: 1_000,
    heartbeatFrequencyMS: 500,
    retryWrites: false,
    retryReads: false,
  });
  const collection = client.db("plain").collection<{ _id: string; at: number }>("plain");
  const served: number[] = [];
  let stopped = false;
  async function once(): Promise<void> {
    await collection.updateOne(
      { _id: "one" },
      { $set: { at: now() } },
      { upsert: true, writeConcern: { w: "majority", wtimeoutMS: 1_000 }, maxTimeMS: 1_000 },
    );
    // The driver would reconnect.
    if (stopped) return;
    await collection.findOne({ _id: "one" }, { readConcern: { level: "linearizable" }, maxTimeMS: 1_000 });
    served.push(now());
  }
  const running = (async () => {
    while (!stopped) {
      // A stopped member never responds. The next attempt finds another.
      await Promise.race([once().catch(() => undefined), sleep(2_500, undefined, { ref: false })]);
      await sleep(everyMs);
    }
  })();
  return {
    served,
    async stop() {
      stopped = true;
      await running;
      await client.close();
    },
  };
}
