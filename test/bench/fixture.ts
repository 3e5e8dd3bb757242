// The fixture of the bench: a mongod whose data is kept between runs, and a Redis.
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

/** An account of the data set, with an API key created for this run. */
export interface BenchAccount {
  readonly id: UUID;
  readonly key: string;
}

export interface Fixture {
  /** A client with an administrator's rights. */
  readonly client: MongoClient;
  /** The URI with the service's user. */
  readonly mongodbUri: string;
  readonly redisUrl: string;
  readonly cacheDir: string;
  readonly databases: DatabasePids;
  /** The account with this name in the data set, or a new, empty one. */
  account(name: string): Promise<BenchAccount>;
  stop(): Promise<void>;
}

/** The folder that keeps programs and data between runs. */
export function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "records");
}

/** Starts mongod, with a cache of `cacheGigabytes`, and Redis on the folder, and loads the data if it is missing. */
export async function startFixture(
  dataDir: string,
  plan: DataPlan,
  cacheGigabytes: number,
  say: (line: string) => void,
): Promise<Fixture> {
  const cleanups: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of cleanups.splice(0).reverse()) await end();
  };
  try {
    const lock = await lockDataDir(dataDir);
    cleanups.push(() => lock.release());
    const cacheDir = cacheFolder();
    const options = { dataDir, cacheDir, env: process.env, progress: say };
    const redis = await startRedis(options);
    if (redis === undefined) throw new Error("The bench needs redis-server.");
    cleanups.push(() => redis.stop());
    // The cache holds all data.
    const kind = withCache(await mongodOn(dataDir), cacheGigabytes);
    const server = await startServer(kind, await findMongod(options), options);
    cleanups.push(() => server.stop());
    // Dropping the database and raising the memory for index builds need an administrator.
    const { uri: mongodbUri, administratorUri } = await bothUris(server.uri, dataDir);
    const client = await connectMongo(administratorUri, 30_000);
    cleanups.push(() => client.close());
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
