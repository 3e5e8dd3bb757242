// The ground of a drill: a replica set, Redis and instances of the service, each a process of its own on a free port.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import type { MongoClient } from "mongodb";
import { connectMongo } from "../../src/db/mongo.ts";
import { primaryOf } from "../../src/db/primary.ts";
import { startRedis } from "../../src/embedded/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { Services } from "../../src/services.ts";
import { createServices } from "../../src/services.ts";
import type { ChildInstance } from "../../test/faults/child.ts";
import { startChild } from "../../test/faults/child.ts";
import { testCacheDir } from "../../test/support/global-setup.ts";
import type { OwnMongod } from "../../test/support/own-mongod.ts";
import { startOwnMongod, startThreeMongods } from "../../test/support/own-mongod.ts";

/** What the ground is to be made of. */
export interface GroundOptions {
  /** Members of the replica set. */
  readonly members: 1 | 3;
  /** Starts the replica set, where it is another than that of the tests. */
  readonly mongods?: () => Promise<OwnMongod>;
  /** Instances to begin with. */
  readonly instances: number;
  /** Settings of every instance, beside the addresses of its parts. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Another way to the parts, through proxies for one. */
  readonly through?: (parts: Parts) => Promise<Parts> | Parts;
  /** Gets every line of every instance's log; without it they are printed. */
  readonly hear?: (line: string) => void;
}

/** Where an instance finds its parts. */
export interface Parts {
  readonly mongodbUri: string;
  readonly redisUrl: string;
}

/** An account and a key to it. */
export interface Account {
  readonly id: string;
  readonly key: string;
}

/** Everything that runs for a drill. */
export interface Ground {
  readonly mongod: OwnMongod;
  readonly redis: EmbeddedServer;
  /** Straight to the database, past all proxies, for an administrator. */
  readonly client: MongoClient;
  /** The stores and services over that database, without a process: to prepare and to judge. */
  readonly services: Services;
  /** As they are now: who is replaced is another process. */
  readonly instances: ChildInstance[];
  account(access?: "read_write" | "read_only"): Promise<Account>;
  /** Starts one more instance; it is not yet among `instances`. */
  start(environment?: Readonly<Record<string, string>>): Promise<ChildInstance>;
  /** The process that is primary now; waits for one. */
  primaryPid(): Promise<number>;
  /** Ends every process and removes their data. */
  stop(): Promise<void>;
}

/** Lays the ground, runs the work on it, and clears everything away, whatever came of it. */
export async function onGround<T>(options: GroundOptions, work: (ground: Ground) => Promise<T>): Promise<T> {
  const ground = await layGround(options);
  try {
    return await work(ground);
  } finally {
    await ground.stop();
  }
}

async function layGround({
  members,
  mongods = members === 3 ? () => startThreeMongods() : startOwnMongod,
  instances: count,
  environment = {},
  through = (parts) => parts,
  hear,
}: GroundOptions): Promise<Ground> {
  const endings: (() => unknown)[] = [];
  // Last in, first out: instances before their parts, and programs before their folders.
  const stop = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), "records-drill-"));
    endings.push(() => rmSync(folder, { recursive: true, force: true }));
    const redis = await startRedis({
      dataDir: folder,
      cacheDir: testCacheDir(),
      env: process.env,
      progress: () => undefined,
    });
    if (redis === undefined) throw new Error("no redis-server for the drill");
    endings.push(() => redis.stop());
    const mongod = await mongods();
    endings.push(() => mongod.stop());
    const client = await connectMongo(mongod.administratorUri, 30_000);
    await primaryOf(client).held(30_000);
    endings.push(() => client.close());
    const services = createServices(client);
    const parts = await through({ mongodbUri: mongod.uri, redisUrl: redis.uri });
    const instances: ChildInstance[] = [];
    endings.push(() => Promise.all(instances.map((instance) => instance.kill())));
    const start = (more: Readonly<Record<string, string>> = {}): Promise<ChildInstance> =>
      startChild(parts.mongodbUri, parts.redisUrl, { ...environment, ...more }, hear);
    for (let at = 0; at < count; at++) instances.push(await start());
    return {
      ...{ mongod, redis, client, services, instances, start, stop },
      async account(access = "read_write") {
        const { _id } = await services.accounts.create(`${randomUUID()}@example.com`, true);
        const { secret } = await services.apiKeys.create(_id, access);
        return { id: _id.toHexString(), key: secret };
      },
      async primaryPid() {
        for (;;) {
          const hello = await client
            .db("admin")
            .command({ hello: 1 })
            .catch(() => undefined);
          const member = mongod.members.find(
            ({ uri }) => hello?.["isWritablePrimary"] === true && uri.includes(String(hello["me"])),
          );
          if (member !== undefined) return member.pid;
          await sleep(100);
        }
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
