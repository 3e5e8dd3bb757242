// A sharded cluster on paper: keys and indexes that agree, commands that name one account, and a watch that sees
// others.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandStartedEvent, Db, Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { collections } from "../../src/db/collections.ts";
import { requireServer } from "../../src/db/mongo.ts";
import { primaryOf, watchPrimary } from "../../src/db/primary.ts";
import { placements } from "../../src/db/sharding.ts";
import { createBulkLoading } from "../../src/ingest/bulk.ts";
import { allCollections } from "../../src/app/services.ts";
import { createShardWatch, onPurpose, routingOf, shardKeyOf } from "../fixtures/databases/shards.ts";
import { startService } from "../fixtures/service/service.ts";
import { takeScattered } from "../support/one-shard.ts";

const splitCollections = allCollections.filter(({ collection }) => shardKeyOf(collection) !== undefined);

test("every collection of the service has a placement, and no other collection does [OPS-17]", () => {
  expect(Object.keys(placements).sort()).toEqual(Object.values(collections).sort());
  expect(splitCollections.map(({ collection }) => collection).sort()).toEqual(
    ["contacts", "idempotency", "notes", "sessions", "transcripts"].sort(),
  );
});

/** What MongoDB rejects: a unique index has to begin with the shard key. */
function incompatible(specs: readonly { collection: string; indexes: readonly Document[] }[]): string[] {
  return specs.flatMap(({ collection, indexes }) =>
    indexes
      .filter(({ unique, key }) => unique === true && Object.keys(key as Document)[0] !== shardKeyOf(collection))
      .map(({ name }) => `${collection}.${String(name)}`),
  );
}

test("every unique index of a split collection begins with its shard key [OPS-17]", () => {
  const unique = splitCollections.flatMap(({ indexes }) => indexes).filter((index) => index.unique === true);
  expect(unique.length).toBe(4);
  expect(incompatible(splitCollections)).toEqual([]);
  expect(
    incompatible([{ collection: "notes", indexes: [{ key: { external_id: 1 }, name: "x", unique: true }] }]),
  ).toEqual(["notes.x"]);
});

test("each shard key is the prefix of an index without arrays, or `records shard` creates one [OPS-17]", () => {
  const arrays = ["g", "records"];
  const without = splitCollections.filter(({ collection, indexes }) =>
    indexes.every(({ key }) => {
      const fields = Object.keys(key);
      return fields[0] !== shardKeyOf(collection) || fields.some((field) => arrays.includes(field));
    }),
  );
  // Its index has an array; the shard key names a part of `_id`.
  expect(without.map(({ collection }) => collection)).toEqual(["idempotency"]);
});

test("the guide has every command that goes to all shards by design [OPS-17]", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/sharding.md"), "utf8");
  for (const { why } of onPurpose.filter((one) => !one.why.includes("never on a mongos"))) expect(page).toContain(why);
});

const [account, other] = [new UUID(), new UUID()];

test.each<[string, Document]>([
  ["find", { find: "notes", filter: { account_id: { $in: [account, other] } } }],
  ["find", { find: "notes", filter: { $or: [{ account_id: account }, { _id: 1 }] } }],
  ["find", { find: "idempotency", filter: { _id: { $gte: { account_id: account } } } }],
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: { rank: 1 } }] }],
  ["delete", { delete: "sessions", deletes: [{ q: {} }] }],
  ["insert", { insert: "notes", documents: [{ _id: 1 }] }],
  ["findAndModify", { findAndModify: "contacts", query: { _id: 1 } }],
  ["aggregate", { aggregate: "contacts", pipeline: [{ $sort: { rank: 1 } }, { $match: { account_id: account } }] }],
  [
    "aggregate",
    { aggregate: "accounts", pipeline: [{ $lookup: { from: "notes", pipeline: [{ $match: { x: 1 } }] } }] },
  ],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $unionWith: { coll: "notes", pipeline: [] } }] }],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $merge: { into: "contacts" } }] }],
])("control: the watch over all tests sees that a %s names no account: %j [OPS-17]", (name, command) => {
  expect(routingOf(name, command).scattered).toHaveLength(1);
});

test("detects a transaction that touches two accounts, and accepts two transactions [OPS-17]", () => {
  const { onCommandStarted, take } = createShardWatch();
  const send = (txnNumber: number, id: UUID, isOfTest = false): void => {
    const command = { update: "notes", updates: [{ q: { account_id: id }, u: {} }], lsid: { id: 1 }, txnNumber };
    const event = { commandName: "update", command: { ...command, autocommit: false } };
    onCommandStarted(event as unknown as CommandStartedEvent, () => isOfTest);
  };
  send(1, account);
  send(1, account);
  send(2, other);
  send(2, account, true);
  expect(take()).toEqual([]);
  send(1, other);
  expect(take()).toEqual([expect.stringContaining("several accounts")]);
});

test("the watch over all tests detects a command of the service without an account, and ignores those of the tests [OPS-17]", async () => {
  const service = await startService();
  try {
    const { client } = service.app;
    await client.db().collection("notes").findOne({ rank: 1 });
    expect(takeScattered()).toEqual([]);
    // The service's own code, which is given a filter without an account.
    const { countUpTo } = await import("../../src/db/aggregate.ts");
    await countUpTo(client.db().collection("notes"), 1, { rank: 1 }, { deadline: undefined });
    expect(takeScattered()).toEqual(['aggregate notes {"rank":1}']);
  } finally {
    await service.stop();
  }
});

test("rejects a mongos older than 6.0 and a single server at the start, and accepts others [OPS-17]", () => {
  const mongos = { msg: "isdbgrid", maxWireVersion: 17 };
  expect(() => requireServer({ ...mongos, maxWireVersion: 13 })).toThrow(
    "MONGODB_URI: a sharded cluster must run MongoDB 6.0 or later",
  );
  expect(() => requireServer({ maxWireVersion: 17 })).toThrow("a single server does not support transactions");
  requireServer(mongos);
  requireServer({ setName: "rs0", maxWireVersion: 13 });
});

test("behind a mongos no account has nearly all notes, so the search index is never dropped [OPS-17]", async () => {
  const client = new EventEmitter() as unknown as MongoClient;
  const command = () => Promise.reject(new Error("asked"));
  const notes = { db: { client, command }, estimatedDocumentCount: () => Promise.resolve(0) };
  const db = { client, collection: () => notes };
  watchPrimary(client, { close: () => Promise.resolve() } as unknown as MongoClient);
  const see = (type: string): boolean => {
    const servers = new Map([["a", { type: "RSPrimary", address: "a", hosts: ["a"], passives: [], arbiters: [] }]]);
    client.emit("topologyDescriptionChanged", { newDescription: { type, servers } } as never);
    return primaryOf(client).sharded();
  };
  const bulk = createBulkLoading(db as unknown as Db, {} as never, () => Promise.resolve(false));
  const ease = (): Promise<void> => bulk.dropIndexIfWorthwhile({ accountId: account } as never, "note", 1_000_000);
  expect(see("Sharded")).toBe(true);
  await ease();
  expect(see("ReplicaSetWithPrimary")).toBe(false);
  // It counts the notes of others.
  await expect(ease()).rejects.toThrow("asked");
  client.emit("topologyClosed", {} as never);
});
