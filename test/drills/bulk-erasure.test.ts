// The short form of the erasure drill. `npm run drill:erasure` runs the long one.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";
import { drillErasure, sweepWithoutLease } from "./bulk/erasure.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";
let mongod: OwnMongod;
let redis: EmbeddedServer;

beforeAll(async () => {
  mongod = await startOwnMongod();
  redis = await startOwnRedis();
});
afterAll(async () => {
  await Promise.all([mongod.stop(), redis.stop()]);
});
const fixture = (notes: number, kill: boolean) => ({
  mongod,
  redisUrl: redis.uri,
  instances: 3,
  notes,
  kill,
  say: () => undefined,
});

test("of three instances, one erases all 6,000 notes without write conflicts and leaves nothing, while another account is served [OPS-30, OPS-31, OPS-32]", {
  timeout: 600_000,
}, async () => {
  const { deletedBy, conflicts, left, last, meanwhile, isIndexed } = await drillErasure(fixture(6_000, false));
  // The extra document is the contact of the notes.
  expect([...deletedBy].sort()).toEqual([0, 0, 6_001]);
  expect([conflicts, left, meanwhile.failed, isIndexed]).toEqual([0, 0, 0, true]);
  expect(last).toMatchObject({
    erased: true,
    reason: "The owner asked.",
    token: expect.stringMatching(/^[0-9a-f]{8}$/),
  });
});

test("if the sweeping instance is killed, another one takes over and leaves nothing [OPS-30, OPS-31]", {
  timeout: 600_000,
}, async () => {
  const { deletedBy, conflicts, left } = await drillErasure(fixture(4_000, true));
  expect(deletedBy).toHaveLength(2);
  expect(deletedBy.filter((deleted) => deleted === 0)).toHaveLength(1);
  expect([conflicts, left]).toEqual([0, 0]);
});

test("control: three sweepers without a lease cause write conflicts [OPS-30]", { timeout: 600_000 }, async () => {
  expect(await sweepWithoutLease(mongod, redis.uri, 3, 3_000)).toBeGreaterThan(0);
});
