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

/** A stage that makes a document of an account, or none. */
function storing(account_id: UUID): Document {
  return { $replaceWith: { $cond: [true, { $literal: { _id: 1, account_id } }, null] } };
}

test.each<[string, Document]>([
  ["find", { find: "notes", filter: { account_id: account, rank: 1 } }],
  ["find", { find: "notes", filter: { account_id: { $eq: account } } }],
  ["find", { find: "contacts", filter: { $and: [{ account_id: account }, { rank: { $gt: 1 } }] } }],
  [
    "find",
    {
      find: "contacts",
      filter: {
        $or: [
          { account_id: account, _id: 1 },
          { account_id: account, x: 1 },
        ],
      },
    },
  ],
  ["find", { find: "idempotency", filter: { _id: { account_id: account, key: "k" } } }],
  ["update", { update: "idempotency", updates: [{ q: { "_id.account_id": account }, u: {} }] }],
  ["delete", { delete: "sessions", deletes: [{ q: { account_id: account } }] }],
  ["insert", { insert: "notes", documents: [{ _id: 1, account_id: account }] }],
  ["findAndModify", { findAndModify: "contacts", query: { account_id: account } }],
  ["aggregate", { aggregate: "contacts", pipeline: [{ $match: { account_id: account } }] }],
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: { account_id: account, rank: 1 } }] }],
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: { $set: { rank: 1 } } }] }],
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: [storing(account)] }] }],
  ["aggregate", { aggregate: "api_keys", pipeline: [storing(account), { $merge: { into: "notes" } }] }],
  [
    "bulkWrite",
    {
      bulkWrite: 1,
      ops: [
        { insert: 0, document: { account_id: account } },
        { delete: 1, filter: {} },
      ],
      nsInfo: [{ ns: "records.notes" }, { ns: "records.accounts" }],
    },
  ],
])("a %s that names its account goes to one shard: %j [OPS-17]", (name, command) => {
  expect(routingOf(name, command)).toEqual({ accounts: [JSON.stringify(account)], scattered: [] });
});

test.each<[string, Document]>([
  ["find", { find: "notes", filter: { _id: 1 } }],
  ["find", { find: "notes", filter: { account_id: { $in: [account, other] } } }],
  ["find", { find: "notes", filter: { $or: [{ account_id: account }, { account_id: other }] } }],
  ["find", { find: "notes", filter: { $or: [{ account_id: account }, { _id: 1 }] } }],
  ["find", { find: "idempotency", filter: { _id: { $gte: { account_id: account } } } }],
  ["count", { count: "notes" }],
  ["distinct", { distinct: "notes", key: "kind", query: {} }],
  [
    "update",
    {
      update: "contacts",
      updates: [
        { q: { account_id: account }, u: {} },
        { q: { _id: 1 }, u: {} },
      ],
    },
  ],
  ["delete", { delete: "sessions", deletes: [{ q: {} }] }],
  ["insert", { insert: "notes", documents: [{ _id: 1 }] }],
  ["findAndModify", { findAndModify: "contacts", query: { _id: 1 } }],
  ["aggregate", { aggregate: "contacts", pipeline: [{ $sort: { rank: 1 } }, { $match: { account_id: account } }] }],
  [
    "aggregate",
    {
      aggregate: "contacts",
      pipeline: [{ $match: { account_id: account } }, { $lookup: { from: "notes", pipeline: [{ $match: { x: 1 } }] } }],
    },
  ],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $unionWith: { coll: "notes", pipeline: [] } }] }],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $unionWith: "notes" }] }],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $graphLookup: { from: "notes", as: "all" } }] }],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $merge: { into: "contacts" } }] }],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $merge: "contacts" }] }],
  ["aggregate", { aggregate: "accounts", pipeline: [{ $out: { db: "records", coll: "contacts" } }] }],
  ["aggregate", { aggregate: 1, pipeline: [{ $documents: [] }, { $out: "contacts" }] }],
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: { rank: 1 } }] }],
  ["bulkWrite", { bulkWrite: 1, ops: [{ delete: 0, filter: {} }], nsInfo: [{ ns: "records.contacts" }] }],
  ["bulkWrite", { bulkWrite: 1, ops: [{ insert: 0, document: { _id: 1 } }], nsInfo: [{ ns: "records.notes" }] }],
])("a %s that names no account goes to every shard: %j [OPS-17]", (name, command) => {
  expect(routingOf(name, command).scattered).toHaveLength(1);
});

test.each<[string, Document]>([
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: { account_id: other } }] }],
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: { $set: { account_id: other } } }] }],
  ["update", { update: "notes", updates: [{ q: { account_id: account }, u: [storing(other)] }] }],
  ["findAndModify", { findAndModify: "notes", query: { account_id: account }, update: { account_id: other } }],
  [
    "aggregate",
    { aggregate: "notes", pipeline: [{ $match: { account_id: account } }, storing(other), { $out: "notes" }] },
  ],
])("a %s that would move a record to another account names both accounts: %j [OPS-17]", (name, command) => {
  expect(routingOf(name, command).accounts).toEqual([JSON.stringify(account), JSON.stringify(other)]);
});

test("a command on the primary shard, or one that defines an index, needs no account [OPS-17]", () => {
  for (const [name, command] of [
    ["find", { find: "accounts", filter: {} }],
    ["createIndexes", { createIndexes: "notes", indexes: [] }],
    ["hello", { hello: 1 }],
  ] as const)
    expect(routingOf(name, command)).toEqual({ accounts: [], scattered: [] });
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
