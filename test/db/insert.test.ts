// Inserting one record: by one command where that decides, and in every other case by a look-up and an insert.
import { randomUUID } from "node:crypto";
import type { Collection, MongoClient } from "mongodb";
import { Binary, MongoNetworkError, MongoServerError, UUID } from "mongodb";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { useOwnDatabase } from "../support/own-database.ts";
import { insertFenced, insertManyFenced, insertProven, insertRecord } from "../../src/db/insert.ts";
import { primaryOf } from "../../src/db/primary.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Claim, InsertProof, UnprovenCredential } from "../../src/call/scope.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";

interface Thing {
  _id: UUID;
  account_id: UUID;
  version: number;
  name: string;
}

let client: MongoClient;
let things: Collection<Thing>;
useOwnDatabase((opened) => {
  client = opened;
});
beforeAll(async () => {
  things = client.db().collection<Thing>("things");
  await things.createIndex({ name: 1 }, { unique: true });
  await client.db().collection<{ _id: string; active: boolean }>("keys").insertOne({ _id: "key", active: true });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const invalid = new Failure(Reason.INVALID_KEY);

/** A credential that the one command finds valid or not, and the look-up likewise. */
function credential({ inCommand, inLookUp }: { inCommand: boolean; inLookUp: boolean }): UnprovenCredential {
  const isValid = { $eq: [{ $first: "$key.active" }, true] };
  const stages = [{ $match: { _id: inCommand ? "key" : "none" } }, { $facet: { key: [] } }];
  let proven = false;
  return {
    proof: {
      stages: [],
      isRow: () => false,
      require: () => undefined,
      insert: { collection: "keys", stages, isValid },
    },
    get proven() {
      return proven;
    },
    setProven: () => void (proven = true),
    async prove() {
      if (!inLookUp) throw invalid;
      proven = true;
    },
  };
}
const valid = (): UnprovenCredential => credential({ inCommand: true, inLookUp: true });

const document = (name: string = randomUUID()): Thing => ({
  _id: new UUID(),
  account_id: new UUID(),
  version: 1,
  name,
});

/** The names of the commands that an insert sends, and how it ended. */
async function insert(
  thing: Thing,
  unproven: UnprovenCredential | undefined,
  claim?: Claim,
): Promise<{ commands: string[]; failure: unknown; proven: boolean | undefined }> {
  const listening = listenToMongo(client);
  const scope = grantWrites(readScope(thing.account_id, deadlineIn(30_000), unproven), claim);
  const failure: unknown = await insertRecord(client, scope, things, thing, {} as never).catch(
    (error: unknown) => error,
  );
  return { commands: listening.stop().map(({ name }) => name), failure, proven: unproven?.proven };
}

const stored = (thing: Thing): Promise<Thing | null> => things.findOne({ _id: thing._id });

test("an insert with an unverified credential is one command, which verifies it, whatever its texts contain", async () => {
  const thing = document("$name");
  expect(await insert(thing, valid())).toEqual({ commands: ["aggregate"], failure: undefined, proven: true });
  expect(await stored(thing)).toEqual(thing);
});

test("an insert without a credential to verify, or with a verified one, is a plain insert", async () => {
  const [first, second] = [document("$version"), document()];
  expect(await insert(first, undefined)).toMatchObject({ commands: ["update"], failure: undefined });
  expect(await insert(second, { ...valid(), proven: true })).toMatchObject({
    commands: ["update"],
    failure: undefined,
  });
  expect([await stored(first), await stored(second)]).toEqual([first, second]);
});

test("an insert behind a mongos, or with an idempotency key, is a look-up and an insert", async () => {
  const bytes = new Binary(Buffer.from("f"));
  const claim = (account_id: UUID): Claim => ({
    document: () => ({ _id: { account_id, key: "k" }, fingerprint: bytes, message: bytes, body: "" }),
  });
  const [keyed, sharded] = [document(), document()];
  expect(await insert(keyed, valid(), claim(keyed.account_id))).toMatchObject({
    failure: undefined,
    proven: true,
    commands: ["update", "insert", "commitTransaction"],
  });
  vi.spyOn(primaryOf(client), "sharded").mockReturnValue(true);
  expect(await insert(sharded, valid())).toMatchObject({ commands: ["update"], failure: undefined, proven: true });
  expect([await stored(keyed), await stored(sharded)]).toEqual([keyed, sharded]);
});

test("an insert with an ended credential writes nothing, and fails as the look-up does [CON-03]", async () => {
  const thing = document();
  const ended = credential({ inCommand: false, inLookUp: false });
  expect(await insert(thing, ended)).toEqual({ commands: ["aggregate"], failure: invalid, proven: false });
  expect(await stored(thing)).toBeNull();
});

test("an insert whose command is too late for its credential is done if the look-up finds the credential valid", async () => {
  const thing = document();
  const unclear = credential({ inCommand: false, inLookUp: true });
  expect(await insert(thing, unclear)).toEqual({
    commands: ["aggregate", "update"],
    failure: undefined,
    proven: true,
  });
  expect(await stored(thing)).toEqual(thing);
});

/** Fails the next command as if nobody knew what came of it; `isDone` says whether it is carried out. */
function failNext(error: Error, isDone: boolean): void {
  const { db } = things;
  const real = db.command.bind(db);
  vi.spyOn(db, "command").mockImplementationOnce(async (...args) => {
    if (isDone) await real(...args);
    throw error;
  });
}

const broken = new MongoNetworkError("broken");
const steppedDown = new MongoServerError({ message: "not primary", code: 10_107 });

test.each([broken, steppedDown])(
  "an insert with an unknown outcome whose credential has ended since is unavailable, as it may be stored: %s",
  async (error) => {
    const thing = document();
    failNext(error, true);
    expect(await insert(thing, credential({ inCommand: true, inLookUp: false }))).toMatchObject({
      failure: { reason: Reason.UNAVAILABLE, cause: invalid },
      proven: false,
    });
    expect(await stored(thing)).toEqual(thing);
  },
);

test("the one command waits for a majority, and ends in MongoDB at the deadline", async () => {
  const listening = listenToMongo(client);
  const thing = document();
  const scope = grantWrites(readScope(thing.account_id, deadlineIn(30_000), valid()));
  await insertRecord(client, scope, things, thing, {} as never);
  const [sent] = listening.stop();
  expect(sent?.command).toMatchObject({ aggregate: "keys", writeConcern: { w: "majority" }, cursor: {} });
  expect(sent?.command["maxTimeMS"]).toBeGreaterThan(0);
  expect(sent?.command["maxTimeMS"]).toBeLessThanOrEqual(30_000);
});

test("the one command is interrupted by the signal of its deadline", async () => {
  const proof = valid().proof.insert as InsertProof;
  const fence = { $expr: { $lt: ["$$NOW", new Date(Date.now() + 60_000)] } };
  const [interrupted, plain] = [document(), document()];
  const reason = new Error("the client no longer waits");
  const options = { signal: AbortSignal.abort(reason), maxTimeMS: 1_000 };
  await expect(insertProven(things, interrupted, proof, options, fence)).rejects.toBe(reason);
  await insertProven(things, plain, proof, {}, fence);
  expect([await stored(interrupted), await stored(plain)]).toEqual([null, plain]);
});

test("an insert whose id is stored already fails, and changes nothing, whatever field every document has", async () => {
  const fence = { $expr: { $lt: ["$$NOW", new Date(Date.now() + 60_000)] } };
  const record = document();
  await insertFenced(things, record, {}, fence);
  const other = { ...record, name: "other" };
  await expect(insertFenced(things, other, {}, fence)).rejects.toMatchObject({ code: 11_000 });
  const proof = valid().proof.insert as InsertProof;
  await expect(insertProven(things, other, proof, {}, fence)).rejects.toMatchObject({ code: 11_000 });
  expect(await stored(record)).toEqual(record);
  const entries = client.db().collection<{ _id: UUID; created_at: Date }>("entries");
  const entry = { _id: new UUID(), created_at: new Date(0) };
  await insertFenced(entries, entry, {}, fence);
  const later = { ...entry, created_at: new Date(1) };
  await expect(insertFenced(entries, later, {}, fence)).rejects.toMatchObject({ code: 11_000 });
  expect(await entries.findOne({ _id: entry._id })).toEqual(entry);
});

test("of several documents that no request waits for, one that fails does not hold up the others", async () => {
  const [first, last] = [document(), document()];
  const duplicate = document(first.name);
  const fence = { $expr: { $lt: ["$$NOW", new Date(Date.now() + 60_000)] } };
  await insertManyFenced(things, [first, duplicate, last], {}, fence).catch(() => undefined);
  expect([await stored(first), await stored(duplicate), await stored(last)]).toEqual([first, null, last]);
  const late = document();
  const past = { $expr: { $lt: ["$$NOW", new Date(Date.now() - 60_000)] } };
  await expect(insertManyFenced(things, [late], {}, past)).rejects.toThrow();
  expect(await stored(late)).toBeNull();
});
