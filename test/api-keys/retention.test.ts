// How long revoked API keys are kept, and that a key whose document is deleted stays rejected.
import { randomUUID } from "node:crypto";
import { Binary, MongoClient, UUID } from "mongodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";
import { apiKeyCollection } from "../../src/api-keys/store.ts";
import { hashSecret } from "../../src/api-keys/secret.ts";
import { compareIndexes } from "../../src/cli/doctor/indexes.ts";
import { ensureIndexes } from "../../src/db/indexes.ts";
import { allCollections } from "../../src/app/services.ts";
import { useService } from "../support/client.ts";
import { newUser } from "../support/user.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const service = useService();
const dayMs = 86_400_000;
let mongod: OwnMongod;
/** With the rights of the service. */
let client: MongoClient;

beforeAll(async () => {
  mongod = await startOwnMongod();
  client = await MongoClient.connect(mongod.uri);
});
afterAll(async () => {
  await client.close();
  await mongod.stop();
});

interface StoredKey {
  _id: Binary;
  key_id: UUID;
  account_id: UUID;
  prefix: string;
  created_at: Date;
  active?: true;
  revoked_at?: Date;
}

/** As every release so far stores it. */
function keyOf(prefix: string, state: { active: true } | { revoked_at: Date }): StoredKey {
  const created_at = new Date(Date.now() - 1_000 * dayMs);
  const _id = new Binary(Buffer.from(randomUUID()));
  return { _id, key_id: new UUID(), account_id: new UUID(), prefix, created_at, ...state };
}

const revoked = (days: number) => ({ revoked_at: new Date(Date.now() - days * dayMs) });

test("deletes a key 30 days after its revocation, also in a database of an older release, and keeps younger and active ones [RET-03]", async () => {
  const older = { ...apiKeyCollection, indexes: apiKeyCollection.indexes.filter(({ name }) => name !== "expiry") };
  await ensureIndexes(client.db(), [older]);
  const keys = client.db().collection<StoredKey>("api_keys");
  await keys.insertMany([
    keyOf("rec_old1", revoked(31)),
    keyOf("rec_old2", revoked(900)),
    keyOf("rec_young", revoked(29)),
    keyOf("rec_now", revoked(0)),
    keyOf("rec_used", { active: true }),
  ]);
  await ensureIndexes(client.db(), allCollections);
  // The TTL monitor of this mongod runs every second.
  await expect
    .poll(async () => (await keys.distinct("prefix")).sort(), { timeout: 30_000, interval: 200 })
    .toEqual(["rec_now", "rec_used", "rec_young"]);
  const expiry = (await keys.indexes()).find(({ name }) => name === "expiry");
  expect([expiry?.key, expiry?.["expireAfterSeconds"]]).toEqual([{ revoked_at: 1 }, 2_592_000]);
  expect((await compareIndexes(client.db(), allCollections)).status).toBe("ok");
});

test("every way to revoke a key stores the time of the revocation, from which the expiry of its document is counted [RET-03]", async () => {
  const user = await newUser(service());
  const issue = async (path: string): Promise<string> =>
    (await user.call(path, { method: "POST" })).body.data.key as string;
  const rotated = await issue("/v1/api-key");
  const ended = await issue("/v1/api-key/rotate");
  await user.call("/v1/api-key", { method: "DELETE" });
  const byOperator = await issue("/v1/api-key");
  const message = { key: byOperator.slice(0, 8), reason: "a test" };
  await service().internalCall("records.admin.v1.AccountService/RevokeApiKey", message);
  const keys = service().app.client.db().collection<StoredKey>("api_keys");
  for (const key of [rotated, ended, byOperator]) {
    const document = await keys.findOne({ _id: hashSecret(key) });
    expect(document).not.toHaveProperty("active");
    expect(document).toHaveProperty("revoked_at", expect.any(Date));
  }
});

test("a revoked key gets the same 401 before and after its document is deleted [RET-03, KEY-10]", async () => {
  const user = await newUser(service());
  const { key, id } = (await user.call("/v1/api-key", { method: "POST" })).body.data as { key: string; id: string };
  await user.call("/v1/api-key", { method: "DELETE" });
  const read = async () => {
    const { status, body } = await service().rest("/v1/sessions?limit=1", { key });
    return [status, body];
  };
  const write = async () =>
    (await service().rest("/v1/contacts", { key, body: { full_name: "Ann" }, headers: { "Idempotency-Key": id } }))
      .status;
  const before = await read();
  expect([before[0], await write()]).toEqual([401, 401]);
  await service()
    .app.client.db()
    .collection<StoredKey>("api_keys")
    .deleteOne({ _id: hashSecret(key) });
  expect([await read(), await write()]).toEqual([before, 401]);
  const revocation = { key: id, reason: "again" };
  const again = await service().internalCall("records.admin.v1.AccountService/RevokeApiKey", revocation);
  expect(again.status).toBe(404);
  expect((await user.call("/v1/api-key", { method: "POST" })).status).toBe(201);
});
