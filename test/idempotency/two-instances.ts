// Two instances over one database and one Redis for a test file, and a client of that Redis.
import { Redis } from "ioredis";
import { afterAll, beforeAll } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

/** The instances and the client of a test file. */
export interface TwoInstances {
  service(): TestService;
  other(): TestService;
  redis(): Redis;
}

/** Starts both before the tests of the file and stops them after the tests. */
export function useTwoInstances(): TwoInstances {
  let service: TestService;
  let other: TestService;
  let redis: Redis;
  beforeAll(async () => {
    service = await startService();
    other = await service.another();
    redis = new Redis(service.redis.uri);
  });
  afterAll(async () => {
    redis.disconnect();
    await other.stop();
    await service.stop();
  });
  return { service: () => service, other: () => other, redis: () => redis };
}
