// Loads the bench's data into a database: inserts records in bulk, then builds the service's indexes.
import type { Document, MongoClient } from "mongodb";
import type { UUID } from "mongodb";
import { collections } from "../../../src/db/collections.ts";
import { ensureIndexes } from "../../../src/db/indexes.ts";
import { allCollections, createServices } from "../../../src/app/services.ts";
import type { AccountPlan, DataPlan } from "./accounts.ts";
import { recordsOf } from "./accounts.ts";

/** Marks a completely loaded data set. */
const markCollection = "bench_data";
/** Increase it when the generated data changes. */
const version = 1;
const batchSize = 2_000;
const batchesAtOnce = 2;

/** Loads the data unless it exists. Drops what an interrupted load left. */
export async function loadData(client: MongoClient, plan: DataPlan, say: (line: string) => void): Promise<void> {
  const db = client.db();
  const mark = { plan: plan.name, version };
  if ((await db.collection(markCollection).findOne(mark)) !== null) return;
  await db.dropDatabase();
  const begun = performance.now();
  const elapsed = (): string => `${Math.round((performance.now() - begun) / 1_000)} s`;
  const { accounts } = createServices(client);
  let notes = 0;
  for (const account of plan.accounts) {
    const { _id } = await accounts.create(emailOf(account.name), true);
    await loadAccount(client, account, _id);
    notes += account.notes;
    if (account.notes >= 10_000) say(`loaded the account "${account.name}", ${notes} notes so far (${elapsed()})`);
  }
  say(`loaded ${notes} notes (${elapsed()}); building indexes`);
  await client.db("admin").command({ setParameter: 1, maxIndexBuildMemoryUsageMegabytes: 1_500 });
  await ensureIndexes(db, allCollections, {
    withDeferred: () => Promise.resolve(true),
    around: async ({ collection }, build) => {
      await build();
      say(`built the indexes of ${collection} (${elapsed()})`);
    },
  });
  await db.collection(markCollection).insertOne(mark);
}

/** The email address of an account in the data set. */
export function emailOf(name: string): string {
  return `${name}@bench.example.com`;
}

async function loadAccount(client: MongoClient, plan: AccountPlan, accountId: UUID): Promise<void> {
  const records = recordsOf(plan, accountId);
  await insert(client, collections.contacts, records.contacts());
  await insert(client, collections.sessions, records.sessions());
  await insert(client, collections.notes, records.notes());
}

async function insert(client: MongoClient, collection: string, documents: Iterable<object>): Promise<void> {
  const into = client.db().collection<Document>(collection);
  const running = new Set<Promise<unknown>>();
  const send = async (batch: Document[]): Promise<void> => {
    if (batch.length === 0) return;
    if (running.size >= batchesAtOnce) await Promise.race(running);
    const sent = into.insertMany(batch, { ordered: false, writeConcern: { w: 1 } }).finally(() => running.delete(sent));
    running.add(sent);
  };
  let batch: Document[] = [];
  for (const document of documents) {
    if (batch.push(document) < batchSize) continue;
    await send(batch);
    batch = [];
  }
  await send(batch);
  await Promise.all(running);
}
