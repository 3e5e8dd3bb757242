// Connections of a whole instance under load, as mongod counts them, against its budget.
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectMongo } from "../../src/db/mongo.ts";
import type { Fixture } from "../fixtures/service/fixture.ts";
import { withFixture } from "../fixtures/service/fixture.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { rest } from "../fixtures/service/service.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** What an instance may open besides its pool, as docs/production.md says. */
const outsidePool = 10;
/** Requests at once: more than the small budget. */
const crowd = 32;

let mongod: OwnMongod;
let counter: MongoClient;
beforeAll(async () => {
  mongod = await startOwnMongod();
  counter = await MongoClient.connect(mongod.administratorUri, { appName: "counter" });
});
afterAll(async () => {
  await counter.close();
  await mongod.stop();
});

/** Connections of instances: those of the fixture's own client are known by when they are. */
async function connections(): Promise<number> {
  const pipeline = [
    { $currentOp: { allUsers: true, idleConnections: true } },
    { $match: { "clientMetadata.application.name": "records" } },
    { $count: "connections" },
  ];
  const [counted] = await counter
    .db("admin")
    .aggregate(pipeline, { readConcern: { level: "local" } })
    .toArray();
  return Number(counted?.["connections"] ?? 0);
}

/** The most connections that one instance had while many requests were sent at once. */
async function maxUnderLoad(
  environment: Record<string, string>,
): Promise<readonly [most: number, statuses: (number | string)[]]> {
  return withFixture(
    { members: 1, mongods: async () => ({ ...mongod, stop: () => Promise.resolve() }), instances: 0, environment },
    async (fixture: Fixture) => {
      const { key } = await fixture.account();
      await sleep(500);
      const before = await connections();
      const instance = await fixture.start();
      fixture.instances.push(instance);
      let most = 0;
      let loading = true;
      const watching = (async () => {
        while (loading) {
          most = Math.max(most, (await connections()) - before);
          await sleep(20);
        }
      })();
      const statuses = new Set<number | string>();
      for (let round = 0; round < 3; round++) {
        const requests = Array.from({ length: crowd }, async (_, at) => {
          const call = at % 3 === 0 ? { key, body: { full_name: `Ann ${at}` } } : { key };
          const path = at % 3 === 0 ? "/v1/contacts" : "/v1/contacts?query=ann";
          const { status, text } = await rest(instance.base, path, call);
          statuses.add(status < 300 ? status : text);
        });
        await Promise.all(requests);
      }
      loading = false;
      await watching;
      return [most, [...statuses].sort()];
    },
  );
}

test("an instance under load never has more than MONGODB_MAX_POOL and 10 connections, and serves every request", async () => {
  const [most, statuses] = await maxUnderLoad({ MONGODB_MAX_POOL: "5" });
  expect(statuses).toEqual([200, 201]);
  expect(most).toBeGreaterThan(5);
  expect(most).toBeLessThanOrEqual(5 + outsidePool);
});

test("MONGODB_MAX_POOL overrides the sizes in the URI, and a minimum in the URI does not stop the start", async () => {
  for (const [options, maxPool, size] of [
    ["maxPoolSize=50&minPoolSize=20", 7, 7],
    ["maxPoolSize=50&minPoolSize=20", undefined, 50],
    ["", undefined, 100],
  ] as const) {
    const client = await connectMongo(`${mongod.uri}&${options}`, 10_000, maxPool);
    expect(client.options.maxPoolSize).toBe(size);
    await client.close();
  }
});
