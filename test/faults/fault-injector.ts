// Dependencies for fault injection: a mongod and a Redis of the test's own, and instances in this process.
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startInstance } from "../fixtures/service/service.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

/** Dependencies with fault injection, and instances on them. */
export interface FaultInjector {
  readonly mongod: OwnMongod;
  readonly redis: EmbeddedServer;
  /** Starts an instance in this process. `uri` is another address of the same database. */
  instance(environment?: Record<string, string>, uri?: string): Promise<TestService>;
  stop(): Promise<void>;
}

export async function startFaultInjector(startMongod: () => Promise<OwnMongod>): Promise<FaultInjector> {
  const redis = await startOwnRedis();
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
    },
  };
}
