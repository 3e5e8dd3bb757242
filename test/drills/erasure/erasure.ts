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
import type { Latencies } from "./figures.ts";
import { conflictsIn, deletedBy, isIndexed, leftInMongo, leftInRedis, readAll } from "./figures.ts";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import { rest } from "../../fixtures/service/service.ts";
import type { Drill, Form, Say } from "../drill.ts";

interface Outcome {
  /** How many documents each surviving instance reports as deleted. */
  readonly deletedBy: readonly (number | undefined)[];
  /** Write conflicts during the sweep. */
  readonly conflicts: number;
  /** Documents in MongoDB and keys in Redis that are left of the account. */
  readonly left: number;
  readonly last: ErasureStatus;
  readonly seconds: number;
  /** Whether the search index of notes was rebuilt. */
  readonly isIndexed: boolean;
  /** Reads of another account, before and during the erasure. */
  readonly quiet: Latencies;
  readonly meanwhile: Latencies;
}

const accountService = "/records.admin.v1.AccountService";
const ingestService = "/records.ingest.v1.IngestService";
const instanceCount = 3;
const reason = "The owner asked.";
const notesOf: Readonly<Record<Form, number>> = { long: 1_000_000, short: 6_000 };
/** The goals of the long form. */
const most = { seconds: 120, p99: 250 };

export const erasure: Drill = {
  name: "erasure",
  promise: "One instance at a time erases an account, also after kills, until nothing is left, while others are served",
  run: (form, say) =>
    withFixture({ members: 1, instances: 0, onLogLine: () => undefined }, async (fixture) => {
      const whole = await eraseAccount(fixture, notesOf[form], false, say);
      const killed = await eraseAccount(fixture, 4_000, true, say);
      return {
        figures: {
          "seconds for all notes": whole.seconds,
          "p99 ms of another account before": whole.quiet.p99,
          "p99 ms of another account meanwhile": whole.meanwhile.p99,
        },
        violations: [
          ...wrongIn(whole, form),
          // The notes and their contact.
          ...(deletedIn(whole) === notesOf[form] + 1 ? [] : [`the metrics count ${deletedIn(whole)} documents`]),
          ...wrongIn(killed, form).map((wrong) => `after a kill of the sweeping instance: ${wrong}`),
        ],
      };
    }),
  controls: [
    {
      broken: "three sweepers without a lease",
      run: () =>
        withFixture({ members: 1, instances: 0 }, async (fixture) => {
          const conflicts = await sweepWithoutLease(fixture, 3_000);
          return { figures: { conflicts }, violations: conflicts === 0 ? [] : [`${conflicts} write conflicts`] };
        }),
    },
  ],
};

function deletedIn({ deletedBy }: Outcome): number {
  return deletedBy.reduce<number>((sum, deleted) => sum + (deleted ?? NaN), 0);
}

function wrongIn(outcome: Outcome, form: Form): string[] {
  const { deletedBy, conflicts, left, last, seconds, isIndexed, meanwhile } = outcome;
  const sweepers = deletedBy.filter((deleted) => deleted !== 0).length;
  const isSlow = seconds > most.seconds || meanwhile.p99 > most.p99;
  return [
    ...(sweepers === 1 ? [] : [`the instances deleted ${deletedBy.join(", ")} documents`]),
    ...(conflicts === 0 ? [] : [`${conflicts} write conflicts`]),
    ...(left === 0 ? [] : [`${left} documents and keys are left`]),
    ...(meanwhile.failed === 0 ? [] : [`${meanwhile.failed} reads of another account failed`]),
    ...(isIndexed ? [] : ["the search index of notes is missing"]),
    ...(last["reason"] === reason && /^[0-9a-f]{8}$/.test(String(last["token"])) ? [] : [JSON.stringify(last)]),
    ...(form === "long" && isSlow ? [`${seconds} s, p99 of another account ${meanwhile.p99} ms`] : []),
  ];
}

/** Fills an account, deletes it, and polls every instance for the status. `kill` ends the sweeper once it deletes. */
async function eraseAccount(fixture: Fixture, notes: number, kill: boolean, say: Say): Promise<Outcome> {
  const { client, services, redis } = fixture;
  const instances: ChildInstance[] = [];
  try {
    const { _id: id } = await services.accounts.create(`${randomUUID()}@example.com`, true);
    const other = await fixture.account();
    const made = await createTemplates(fixture, [new UUID(other.id), id]);
    await multiply(client, made, id, notes, say);
    say(`${notes} notes inserted`);
    for (let at = 0; at < instanceCount; at++) instances.push(await fixture.start());
    const [first] = instances as [ChildInstance];

    const quiet = readAll(instances, other.key);
    await sleep(kill ? 0 : 1_500);
    const before = await quiet.stop();
    const meanwhile = readAll(instances, other.key);
    const begunAt = performance.now();
    const stored = client.db().collection("notes");
    const total = await stored.estimatedDocumentCount();
    const request = { account_id: id.toHexString(), reason };
    const beginning = admin(first, "DeleteAccount", request).catch(() => undefined);
    if (kill) {
      while ((await stored.estimatedDocumentCount()) === total) await sleep(5);
      await instances.shift()?.kill();
      say("the sweeper was killed");
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
          say(JSON.stringify(last.places.filter(({ left = "0", deleted = "0" }) => left !== "0" || deleted !== "0")));
      }
    }
    const seconds = (performance.now() - begunAt) / 1_000;
    const conflicts = (await conflictsIn(client)) - conflictsBefore;
    return {
      deletedBy: await Promise.all(instances.map(deletedBy)),
      conflicts,
      left: (await leftInMongo(client, id)) + (await leftInRedis(redis.uri, id)),
      last,
      seconds,
      isIndexed: await isIndexed(client),
      quiet: before,
      meanwhile: await meanwhile.stop(),
    };
  } finally {
    await Promise.all(instances.map((instance) => instance.kill()));
  }
}

/** Runs a sweeper for each instance, each with its own client, and returns the number of write conflicts. */
async function sweepWithoutLease(fixture: Fixture, notes: number): Promise<number> {
  const { client, services, mongod } = fixture;
  const sweepers = await Promise.all(
    Array.from({ length: instanceCount }, () => connectMongo(mongod.administratorUri, 30_000)),
  );
  try {
    const { _id: id } = await services.accounts.create(`${randomUUID()}@example.com`, true);
    await multiply(client, await createTemplates(fixture, [id]), id, notes, () => undefined);
    const before = await conflictsIn(client);
    const right = { permit: () => Promise.resolve(deadlineIn(30_000)), count: () => undefined };
    await Promise.all(
      sweepers.map((one) =>
        createPlaces(one.db(), allCollections, () => undefined).sweep(
          { id, identities: [], begunAt: new Date() },
          right,
        ),
      ),
    );
    return (await conflictsIn(client)) - before;
  } finally {
    await Promise.all(sweepers.map((one) => one.close()));
  }
}

interface ErasureStatus extends Record<string, unknown> {
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
async function createTemplates({ client, start }: Fixture, accountIds: readonly UUID[]): Promise<NoteDocument[]> {
  // Stopped before the copies are inserted, or it would build the search index meanwhile.
  const instance = await start();
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
  say: Say,
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
  say("the notes are copied; building their search index");
  await stored.createIndexes([termsIndex]);
}

const templates = 200;

/** 100 to 300 characters. */
function text(seed: number): string {
  return Array.from({ length: 15 + (seed % 25) }, (_, at) => ((seed * 7_919 + at * 104_729) % 9_973).toString(26)).join(
    " ",
  );
}
