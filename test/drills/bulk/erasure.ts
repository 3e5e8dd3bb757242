// Erases an account while several instances run, and measures who deletes, conflicts, the effect on another account and
// what is left.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { createPlaces } from "../../../src/accounts/places.ts";
import { allCollections } from "../../../src/app/services.ts";
import { connectMongo } from "../../../src/db/mongo.ts";
import { rankAt } from "../../../src/db/rank.ts";
import { deadlineIn } from "../../../src/call/deadline.ts";
import type { NoteDocument } from "../../../src/notes/document.ts";
import { termsIndex } from "../../../src/db/search-index.ts";
import { createServices } from "../../../src/app/services.ts";
import type { Latencies } from "./erasure-figures.ts";
import { conflictsIn, deletedBy, isIndexed, leftInMongo, leftInRedis, readAll } from "./erasure-figures.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { childToken, startChild } from "../../fixtures/service/child.ts";
import type { DatabaseUris } from "../../fixtures/databases/database.ts";
import { rest } from "../../fixtures/service/service.ts";
import { noteSecret } from "../../fixtures/service/secrets.ts";

/** The outcome of an erasure. */
export interface ErasureVerdict {
  /** How many documents each surviving instance reports as deleted. */
  readonly deletedBy: readonly (number | undefined)[];
  /** Write conflicts during the sweep. */
  readonly conflicts: number;
  /** Documents in MongoDB and keys in Redis that are left of the account. */
  readonly left: number;
  /** The last response of DeleteAccount. */
  readonly last: ErasureStatus;
  readonly seconds: number;
  /** Whether the search index of notes was rebuilt. */
  readonly isIndexed: boolean;
  /** Reads of another account, before and during the erasure. */
  readonly quiet: Latencies;
  readonly meanwhile: Latencies;
}

/** The databases and the size of the erasure. */
export interface ErasureFixture {
  readonly mongod: DatabaseUris;
  readonly redisUrl: string;
  readonly instances: number;
  readonly notes: number;
  /** Kills the sweeping instance after its first deletion. */
  readonly kill?: boolean;
  readonly say: (line: string) => void;
}

const accountService = "/records.admin.v1.AccountService";
const ingestService = "/records.ingest.v1.IngestService";

/** Fills an account, deletes it, and polls every instance for the status. */
export async function drillErasure({
  mongod,
  redisUrl,
  instances: count,
  notes,
  kill = false,
  say,
}: ErasureFixture): Promise<ErasureVerdict> {
  const client = await connectMongo(mongod.administratorUri, 30_000);
  const instances: ChildInstance[] = [];
  const started = performance.now();
  const report = (line: string): void => say(`${((performance.now() - started) / 1_000).toFixed(0)} s ${line}`);
  try {
    const { accounts, apiKeys } = createServices(client);
    const [{ _id: id }, { _id: other }] = await Promise.all([
      accounts.create(`${randomUUID()}@example.com`, true),
      accounts.create(`${randomUUID()}@example.com`, true),
    ]);
    const { secret: key } = await apiKeys.create(other, "read_write");
    noteSecret(key);
    const made = await createTemplates(client, mongod.uri, redisUrl, [other, id]);
    await multiply(client, made, id, notes, report);
    report(`${notes} notes inserted`);
    for (let at = 0; at < count; at++) instances.push(await startChild(mongod.uri, redisUrl, {}, () => undefined));
    const [first] = instances as [ChildInstance];

    const quiet = readAll(instances, key);
    await sleep(kill ? 0 : 1_500);
    const before = await quiet.stop();
    const meanwhile = readAll(instances, key);
    const begunAt = performance.now();
    const stored = client.db().collection("notes");
    const total = await stored.estimatedDocumentCount();
    const request = { account_id: id.toHexString(), reason: "The owner asked." };
    const beginning = admin(first, "DeleteAccount", request).catch(() => undefined);
    if (kill) {
      while ((await stored.estimatedDocumentCount()) === total) await sleep(5);
      await instances.shift()?.kill();
      report("the sweeper was killed");
    }
    await beginning;
    const conflictsBefore = await conflictsIn(client);
    let last: ErasureStatus = { places: [] };
    while (!last.erased) {
      await sleep(notes > 100_000 ? 2_000 : 200);
      for (const [at, instance] of instances.entries()) {
        if (last.erased) break;
        last = (await admin(instance, "DeleteAccount", request)) as ErasureStatus;
        if (at === 0 && notes > 100_000)
          report(
            JSON.stringify(last.places.filter(({ left = "0", deleted = "0" }) => left !== "0" || deleted !== "0")),
          );
      }
    }
    const seconds = (performance.now() - begunAt) / 1_000;
    const conflicts = (await conflictsIn(client)) - conflictsBefore;
    return {
      deletedBy: await Promise.all(instances.map(deletedBy)),
      conflicts,
      left: (await leftInMongo(client, id)) + (await leftInRedis(redisUrl, id)),
      last,
      seconds,
      isIndexed: await isIndexed(client),
      quiet: before,
      meanwhile: await meanwhile.stop(),
    };
  } finally {
    await Promise.all(instances.map((instance) => instance.kill()));
    await client.close();
  }
}

/**
 * The control: runs several sweepers without a lease, each with its own client, and returns the number of write
 * conflicts.
 */
export async function sweepWithoutLease(
  mongod: DatabaseUris,
  redisUrl: string,
  sweepers: number,
  notes: number,
): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: sweepers }, () => connectMongo(mongod.administratorUri, 30_000)),
  );
  const [client] = clients as [MongoClient];
  try {
    const { _id: id } = await createServices(client).accounts.create(`${randomUUID()}@example.com`, true);
    await multiply(client, await createTemplates(client, mongod.uri, redisUrl, [id]), id, notes, () => undefined);
    const before = await conflictsIn(client);
    const right = { permit: () => Promise.resolve(deadlineIn(30_000)), count: () => undefined };
    await Promise.all(
      clients.map((one) =>
        createPlaces(one.db(), allCollections, () => undefined).sweep(
          { id, identities: [], begunAt: new Date() },
          right,
        ),
      ),
    );
    return (await conflictsIn(client)) - before;
  } finally {
    await Promise.all(clients.map((one) => one.close()));
  }
}

/** A response to DeleteAccount. */
export interface ErasureStatus extends Record<string, unknown> {
  readonly erased?: boolean;
  readonly places: readonly { readonly place: string; readonly left?: string; readonly deleted?: string }[];
}

async function admin({ internalPort }: ChildInstance, rpc: string, message: unknown): Promise<Record<string, unknown>> {
  return internal(internalPort, `${accountService}/${rpc}`, message);
}

async function internal(port: number, path: string, message: unknown): Promise<Record<string, unknown>> {
  const { status, text, body } = await rest(`http://127.0.0.1:${port}`, path, {
    body: message,
    headers: { Authorization: `Bearer ${childToken}` },
  });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return body as Record<string, unknown>;
}

/** Creates template notes through the service, because only the service knows their document format and index terms. */
async function createTemplates(
  client: MongoClient,
  mongodbUri: string,
  redisUrl: string,
  accountIds: readonly UUID[],
): Promise<NoteDocument[]> {
  // Stopped before the copies are inserted, or it would build the search index meanwhile.
  const instance = await startChild(mongodbUri, redisUrl, {}, () => undefined);
  try {
    for (const accountId of accountIds) {
      const account_id = accountId.toHexString();
      const ingest = (rpc: string, message: object) =>
        internal(instance.internalPort, `${ingestService}/${rpc}`, { account_id, ...message });
      const { results } = (await ingest("UpsertContacts", { contacts: [{ full_name: "Ann Lee" }] })) as {
        results: { id: string }[];
      };
      for (let at = 0; at < templates; at += 100) {
        const batch = Array.from({ length: 100 }, (_, one) => ({
          contact_id: results[0]?.id,
          source: "import",
          content: text(at + one),
        }));
        await ingest("UpsertContactNotes", { notes: batch });
      }
    }
    return await client
      .db()
      .collection<NoteDocument>("notes")
      .find({ account_id: accountIds.at(-1) ?? new UUID() })
      .toArray();
  } finally {
    await instance.kill();
  }
}

/** Copies the notes until the account has `notes` of them. */
async function multiply(
  client: MongoClient,
  made: readonly NoteDocument[],
  account_id: UUID,
  notes: number,
  report: (line: string) => void,
): Promise<void> {
  const stored = client.db().collection<NoteDocument>("notes");
  const isLarge = notes > 100_000;
  if (isLarge) await stored.dropIndex(termsIndex.name);
  for (let at = made.length; at < notes; at += made.length) {
    const copies = made.slice(0, notes - at).map((note, one) => {
      const [_id, created_at] = [new UUID(), new Date(Date.UTC(2022, 0, 1) + (at + one) * 60_000)];
      return { ...note, account_id, _id, created_at, rank: rankAt(created_at, _id) };
    });
    await stored.insertMany(copies, { ordered: false, writeConcern: { w: 1 } });
  }
  if (!isLarge) return;
  report("the notes are copied; building their search index");
  await stored.createIndexes([termsIndex]);
}

const templates = 200;

/** 100 to 300 characters. */
function text(seed: number): string {
  return Array.from({ length: 15 + (seed % 25) }, (_, at) => ((seed * 7_919 + at * 104_729) % 9_973).toString(26)).join(
    " ",
  );
}
