// A service over a database of its own in which a test injects faults: instances in this process, Redis, and an account.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis } from "../../src/embedded/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { testCacheDir } from "../../fixtures/databases/cache-dir.ts";
import type { OwnMongod } from "../../fixtures/databases/own-mongod.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startInstance } from "../../fixtures/service/service.ts";

/** Dependencies in which faults can be injected, and instances over them. */
export interface FaultInjector {
  readonly mongod: OwnMongod;
  readonly redis: EmbeddedServer;
  /** An instance in this process; `uri` is another way to the same database. */
  instance(environment?: Record<string, string>, uri?: string): Promise<TestService>;
  stop(): Promise<void>;
}

/** Starts the dependencies. */
export async function startFaultInjector(startMongod: () => Promise<OwnMongod>): Promise<FaultInjector> {
  const folder = mkdtempSync(join(tmpdir(), "records-injector-"));
  const redis = await startRedis({
    dataDir: folder,
    cacheDir: testCacheDir(),
    env: process.env,
    progress: () => undefined,
  });
  if (redis === undefined) throw new Error("no redis-server for the tests");
  const mongod = await startMongod();
  const instances: TestService[] = [];
  return {
    mongod,
    redis,
    async instance(environment = {}, uri = mongod.uri) {
      const instance = await startInstance({ ...mongod, uri }, redis, environment);
      instances.push(instance);
      return instance;
    },
    async stop() {
      await Promise.all(instances.map((instance) => instance.stop()));
      await Promise.all([redis.stop(), mongod.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
