// A service over a database of its own in which a test injects faults: instances in this process, Redis, and an
// account.
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startInstance } from "../fixtures/service/service.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";

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
