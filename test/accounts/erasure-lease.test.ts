// The lease on an erasure: one sweeper at a time, taken over when it expires, and nothing is deleted without it.
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AcquireErasureLease } from "../../src/accounts/erasure-lease.ts";
import { createErasureLeases, isAnyErasing } from "../../src/accounts/erasure-lease.ts";
import { createPlaces } from "../../src/accounts/places.ts";
import { allCollections } from "../../src/app/services.ts";
import { ensureIndexes } from "../../src/db/indexes.ts";
import { connectMongo } from "../../src/db/mongo.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { noteCollection } from "../../src/notes/store.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";

let mongod: OwnMongod;
let client: Awaited<ReturnType<typeof connectMongo>>;
let take: AcquireErasureLease;
const goOn = () => false;
const erasures = () => client.db().collection<{ _id: UUID } & Record<string, unknown>>("erasures");
const notes = () => client.db().collection<{ _id: UUID; account_id: UUID }>("notes");

beforeAll(async () => {
  mongod = await startOwnMongod();
  client = await connectMongo(mongod.uri, 30_000);
  await ensureIndexes(client.db(), [noteCollection]);
  take = createErasureLeases(client);
});
afterAll(async () => {
  await client.close();
  await mongod.stop();
});

async function newErasure(count = 0): Promise<UUID> {
  const id = new UUID();
  await erasures().insertOne({ _id: id, begun_at: new Date() });
  if (count > 0) await notes().insertMany(Array.from({ length: count }, () => ({ _id: new UUID(), account_id: id })));
  return id;
}

const setExpiry = (id: UUID, at: Date) => erasures().updateOne({ _id: id }, { $set: { "lease.expires_at": at } });
const left = (id: UUID) => notes().countDocuments({ account_id: id });

test("one of several sweepers gets the lease; the next one gets it after a release, or after expiry by the database's clock [OPS-30]", async () => {
  const id = await newErasure();
  const holds = await Promise.all(Array.from({ length: 8 }, () => take(id, goOn)));
  const [held] = holds.filter((hold) => hold !== undefined);
  expect(holds.filter((hold) => hold !== undefined)).toHaveLength(1);
  expect(await isAnyErasing(client)).toBe(true);
  await held?.release(false);
  expect(await isAnyErasing(client)).toBe(false);
  const second = await take(id, goOn);
  expect(second).toBeDefined();
  expect(await take(id, goOn)).toBeUndefined();
  await setExpiry(id, new Date(Date.now() - 1));
  const third = await take(id, goOn);
  expect(third).toBeDefined();
  await third?.release(true);
  expect(await take(id, goOn)).toBeUndefined();
  expect(Object.keys((await erasures().findOne({ _id: id })) ?? {}).sort()).toEqual(["_id", "begun_at", "finished_at"]);
});

test("a sweeper whose lease was taken over stops at its next renewal, and cannot renew, release or finish [OPS-30]", async () => {
  const id = await newErasure();
  const first = await take(id, goOn);
  expect(await first?.permit()).toBeDefined();
  await setExpiry(id, new Date(0));
  const second = await take(id, goOn);
  await expect.poll(() => first?.permit(), { timeout: 5_000 }).toBeUndefined();
  await first?.release(true);
  expect(await second?.permit()).toBeDefined();
  expect((await erasures().findOne({ _id: id }))?.["finished_at"]).toBeUndefined();
});

test("a stopped sweeper gets no permit and deletes nothing [OPS-30]", async () => {
  const id = await newErasure(10);
  const hold = await take(id, () => true);
  expect(
    await createPlaces(client.db(), allCollections, () => undefined).sweep(
      { id, identities: [], begunAt: new Date() },
      hold ?? never(),
    ),
  ).toBe(false);
  expect(await left(id)).toBe(10);
});

test("a delete that reaches the database after the end of its lease matches nothing [OPS-30]", async () => {
  const id = await newErasure(10);
  const places = createPlaces(client.db(), allCollections, () => undefined);
  const sweep = (ms: number) => {
    let permits = 0;
    const right = {
      permit: () => Promise.resolve(permits++ === 0 ? deadlineIn(ms) : undefined),
      count: () => undefined,
    };
    return places.sweep({ id, identities: [], begunAt: new Date() }, right).catch(() => false);
  };
  // The command waits in mongod for longer than the lease lasts.
  await withFault(
    mongod,
    { times: 1 },
    { failCommands: ["delete"], blockConnection: true, blockTimeMS: 1_500, appName: "records" },
    () => sweep(500),
  );
  await new Promise((later) => setTimeout(later, 1_500));
  expect(await left(id)).toBe(10);
  await sweep(5_000);
  expect(await left(id)).toBe(0);
});

test("the erasure counts the deleted documents by collection, at each renewal and at the end [OPS-31]", async () => {
  const id = await newErasure(1_300);
  const hold = (await take(id, goOn)) ?? never();
  expect(
    await createPlaces(client.db(), allCollections, () => undefined).sweep(
      { id, identities: [], begunAt: new Date() },
      hold,
    ),
  ).toBe(true);
  await hold.release(false);
  expect((await erasures().findOne({ _id: id }))?.["deleted"]).toEqual({ notes: 1_300 });
});

function never(): never {
  throw new Error("there is no lease");
}
