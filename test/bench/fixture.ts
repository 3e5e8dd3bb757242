// Where the bench runs: a mongod with the data, kept in a folder of its own, and a Redis.
import { homedir } from "node:os";
import { join } from "node:path";
import type { UUID } from "mongodb";
import type { MongoClient } from "mongodb";
import { lockDataDir } from "../../src/embedded/data-dir.ts";
import { findMongod } from "../../src/embedded/find-mongod.ts";
import { mongodOn } from "../../src/embedded/mongod.ts";
import { startRedis } from "../../src/embedded/redis.ts";
import { startServer } from "../../src/embedded/server.ts";
import { connectMongo } from "../../src/db/mongo.ts";
import { createServices } from "../../src/app/services.ts";
import { bothUris } from "../fixtures/databases/administrator.ts";
import { withCache } from "../fixtures/databases/own-mongod.ts";
import type { DataPlan } from "./dataset/accounts.ts";
import { emailOf, loadData } from "./dataset/load.ts";
import type { DatabasePids } from "./measure.ts";

/** An account of the data, and a key to it that was made for this run. */
export interface BenchAccount {
  readonly id: UUID;
  readonly key: string;
}

/** Everything that peers share. */
export interface Fixture {
  /** For an administrator. */
  readonly client: MongoClient;
  /** For the service's user. */
  readonly mongodbUri: string;
  readonly redisUrl: string;
  readonly cacheDir: string;
  readonly databases: DatabasePids;
  /** The account with this name in the data, or a new and empty one. */
  account(name: string): Promise<BenchAccount>;
  stop(): Promise<void>;
}

/** Where programs and the data are kept between runs. */
export function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "records");
}

/** Starts mongod and Redis on the folder, with `cacheGigabytes` for mongod, and loads what of the data is missing. */
export async function layGround(
  dataDir: string,
  plan: DataPlan,
  cacheGigabytes: number,
  say: (line: string) => void,
): Promise<Fixture> {
  const endings: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const lock = await lockDataDir(dataDir);
    endings.push(() => lock.release());
    const cacheDir = cacheFolder();
    const options = { dataDir, cacheDir, env: process.env, progress: say };
    const redis = await startRedis(options);
    if (redis === undefined) throw new Error("the bench needs a redis-server");
    endings.push(() => redis.stop());
    // All of the data fits into the cache.
    const kind = withCache(await mongodOn(dataDir), cacheGigabytes);
    const server = await startServer(kind, await findMongod(options), options);
    endings.push(() => server.stop());
    // The data is dropped and its indexes are built with more memory: the service's own user may do neither.
    const { uri: mongodbUri, administratorUri } = await bothUris(server.uri, dataDir);
    const client = await connectMongo(administratorUri, 30_000);
    endings.push(() => client.close());
    await loadData(client, plan, say);
    const { accounts, apiKeys } = createServices(client);
    return {
      ...{
        client,
        mongodbUri,
        redisUrl: redis.uri,
        cacheDir,
        databases: { mongod: [server.pid], redis: [redis.pid] },
        stop,
      },
      async account(name) {
        const [known] = await accounts.ofEmail(emailOf(name), undefined);
        const { _id } = known ?? (await accounts.create(emailOf(name), true));
        await apiKeys.revoke(_id);
        return { id: _id, key: (await apiKeys.create(_id, "read_write")).secret };
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
