// Measurements of an erasure: concurrent reads of another account, deletions of each instance, conflicts and leftovers.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import type { MongoClient, UUID } from "mongodb";
import { termsIndex } from "../../../src/db/search-index.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { rest } from "../../fixtures/service/service.ts";

/** Latencies of requests in milliseconds, and how many were not 200. */
export interface Latencies {
  readonly requests: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
}

/** Reads an account sequentially, alternating between the instances. */
export function readAll(instances: readonly ChildInstance[], key: string) {
  const latencies: number[] = [];
  let [running, failed] = [true, 0];
  const paths = ["/v1/notes?limit=20&query=1a", "/v1/contacts?limit=20&query=ann", "/v1/sessions?limit=20"];
  const work = (async () => {
    for (let at = 0; running; at++) {
      const instance = instances[at % instances.length];
      const startedAt = performance.now();
      const status =
        instance === undefined
          ? 0
          : (await rest(instance.base, paths[at % paths.length] ?? "", { key }).catch(() => ({ status: 0 }))).status;
      latencies.push(performance.now() - startedAt);
      if (status !== 200) failed++;
      await sleep(20);
    }
  })();
  return {
    async stop(): Promise<Latencies> {
      running = false;
      await work;
      const sorted = latencies.sort((one, two) => one - two);
      const at = (share: number): number =>
        Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
      return { requests: sorted.length, failed, p50: at(0.5), p99: at(0.99) };
    },
  };
}

/** How many documents the instance reports as deleted. */
export async function deletedBy({ internalPort }: ChildInstance): Promise<number | undefined> {
  const { text: metrics } = await rest(`http://127.0.0.1:${internalPort}`, "/metrics");
  const [, value] = /^records_erasure_deleted_documents_total (\d+)$/m.exec(metrics) ?? [];
  return value === undefined ? undefined : Number(value);
}

/** Waits for the index, which the instances build in the background once no sweep is running. */
export async function isIndexed(client: MongoClient): Promise<boolean> {
  for (let at = 0; at < 120; at++) {
    if (await client.db().collection("notes").indexExists(termsIndex.name)) return true;
    await sleep(500);
  }
  return false;
}

/** The number of write conflicts since mongod started. */
export async function conflictsIn(client: MongoClient): Promise<number> {
  const { metrics } = await client.db("admin").command({ serverStatus: 1 });
  return Number((metrics as { operation: { writeConflicts: number } }).operation.writeConflicts);
}

/** The number of documents left of the account, except for the record of its erasure. */
export async function leftInMongo(client: MongoClient, accountId: UUID): Promise<number> {
  const db = client.db();
  const names = (await db.listCollections({}, { nameOnly: true }).toArray())
    .map(({ name }) => name)
    .filter((name) => name !== "erasures");
  const left = await Promise.all(
    names.map((name) =>
      db.collection(name).countDocuments({ $or: [{ account_id: accountId }, { _id: accountId as never }] }),
    ),
  );
  return left.reduce((sum, one) => sum + one, 0);
}

export async function leftInRedis(url: string, accountId: UUID): Promise<number> {
  const redis = new Redis(url);
  try {
    return (await redis.keys(`*:${accountId.toHexString()}*`)).length;
  } finally {
    redis.disconnect();
  }
}
