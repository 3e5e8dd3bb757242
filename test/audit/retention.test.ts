// How long the audit log keeps entries: for the time of the setting, from the next start on.
import type { IndexDescriptionInfo } from "mongodb";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { compareIndexes } from "../../src/cli/doctor/indexes.ts";
import { ensureIndexes } from "../../src/db/indexes.ts";
import { indexesFor } from "../../src/app/services.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startService } from "../fixtures/service/service.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const dayMs = 86_400_000;
let mongod: OwnMongod;
/** With the rights of the service, which may not change an index in place. */
let client: MongoClient;

beforeAll(async () => {
  mongod = await startOwnMongod();
  client = await MongoClient.connect(mongod.uri);
});
afterAll(async () => {
  await client.close();
  await mongod.stop();
});

async function expiry(of: MongoClient): Promise<IndexDescriptionInfo | undefined> {
  return (await of.db().collection("audit_log").indexes()).find(({ name }) => name === "expiry");
}

test("each start sets how long entries are kept, with the rights of the production guide; 0 keeps them forever [RET-01]", async () => {
  for (const days of [400, 30, 30, 0, 0, 7, 400]) {
    await ensureIndexes(client.db(), indexesFor({ auditRetentionDays: days }));
    const found = await expiry(client);
    expect([days, found?.["expireAfterSeconds"]]).toEqual([days, days === 0 ? undefined : days * 86_400]);
    if (days > 0) expect(found?.key).toEqual({ created_at: 1 });
    expect((await compareIndexes(client.db(), indexesFor({ auditRetentionDays: days }))).status).toBe("ok");
  }
});

test("the doctor reports a database whose retention differs from the setting [RET-01]", async () => {
  await ensureIndexes(client.db(), indexesFor({ auditRetentionDays: 400 }));
  const { status, message } = await compareIndexes(client.db(), indexesFor({ auditRetentionDays: 7 }));
  expect([status, message]).toEqual(["fault", expect.stringContaining("audit_log.expiry")]);
});

test("deletes an entry that is older than the setting, and no newer one [RET-02]", async () => {
  await ensureIndexes(client.db(), indexesFor({ auditRetentionDays: 30 }));
  const log = client.db().collection<{ _id: string; created_at: Date }>("audit_log");
  const ages = { old: 31, young: 29, now: 0 };
  const madeBefore = (days: number): Date => new Date(Date.now() - days * dayMs);
  await log.insertMany(Object.entries(ages).map(([_id, days]) => ({ _id, created_at: madeBefore(days) })));
  // The TTL monitor of this mongod runs every second.
  await expect.poll(() => log.distinct("_id"), { timeout: 30_000, interval: 200 }).toEqual(["now", "young"]);
});

test("an instance keeps entries for 400 days, or for the days of AUDIT_RETENTION_DAYS [RET-01]", async () => {
  const service = await startService();
  try {
    expect((await expiry(service.app.client))?.["expireAfterSeconds"]).toBe(34_560_000);
    const other = await service.another({ AUDIT_RETENTION_DAYS: "90" });
    expect((await expiry(service.app.client))?.["expireAfterSeconds"]).toBe(7_776_000);
    await other.stop();
  } finally {
    await service.stop();
  }
});
