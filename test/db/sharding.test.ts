// A sharded cluster on paper: keys and indexes that agree, and what a start and a bulk import do behind a mongos.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Db, Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { collections } from "../../src/db/collections.ts";
import { requireServer } from "../../src/db/mongo.ts";
import { primaryOf, watchPrimary } from "../../src/db/primary.ts";
import { placements } from "../../src/db/sharding.ts";
import { createBulkLoading } from "../../src/ingest/bulk.ts";
import { allCollections } from "../../src/app/services.ts";
import { onPurpose, shardKeyOf } from "../fixtures/databases/shards.ts";

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
  const ease = (): Promise<void> => bulk.dropIndexIfWorthwhile({ accountId: new UUID() } as never, "note", 1_000_000);
  expect(see("Sharded")).toBe(true);
  await ease();
  expect(see("ReplicaSetWithPrimary")).toBe(false);
  // It counts the notes of others.
  await expect(ease()).rejects.toThrow("asked");
  client.emit("topologyClosed", {} as never);
});
