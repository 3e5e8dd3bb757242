// The search index of notes under a large import: taken away where that pays, built again, and searches that continue
// meanwhile.
import type { Db, Document, UUID } from "mongodb";
import { UUID as Uuid } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient } from "../support/client.ts";
import { asAdministrator } from "../fixtures/databases/database.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { RecordJson } from "../support/streams.ts";
import { importAll } from "../support/streams.ts";

let service: TestService;
let client: Client;
let db: Db;

beforeEach(async () => {
  service = await startService();
  client = await newClient(service);
  db = service.app.client.db();
});
afterEach(async () => service.stop());

const many: RecordJson[] = [
  { contact: { external_id: "c", full_name: "Ann" } },
  ...Array.from({ length: 6_500 }, (_, at) => ({
    contact_note: { contact_external_id: "c", content: `note${at} budget`, source: "import" },
  })),
];

/** The changes of the index, from the log. */
const changes = (of = "note") =>
  service.logLines
    .filter((line) => line.includes("search index, for a large"))
    .map((line) => JSON.parse(line) as { index: string; of: string })
    .filter((line) => line.of === of)
    .map(({ index }) => index);

async function usable(): Promise<boolean> {
  const found = await asAdministrator(service.administratorUri, (all) =>
    all
      .collection("notes")
      .aggregate([{ $indexStats: {} }, { $match: { name: "search" } }])
      .toArray(),
  );
  return found.length === 1;
}

/** Imports with a chance for the service to report between two messages, which it does once a second. */
function importSlowly(records: readonly RecordJson[]) {
  return importAll(service, {
    accountId: client.id,
    importId: "notes",
    records,
    chunk: 500,
    between: (sent) => new Promise((resolve) => setTimeout(resolve, sent > 5_000 ? 1_100 : 0)),
  });
}

test("a large import into a nearly empty database removes the index, builds it when done, and keeps it when it continues with a few notes [ING-06, SRC-08]", async () => {
  const responses = await importSlowly(many);
  expect(changes()).toEqual(["dropped", "built"]);
  expect(responses.at(-1)).toMatchObject({ done: true, indexing: false, written: { contactNotes: 6_500n } });
  expect(responses.at(-2)).toMatchObject({ done: false, indexing: true });
  expect(await usable()).toBe(true);
  expect((await client.get("/v1/notes?query=note6499")).body.data).toMatchObject([{ content: "note6499 budget" }]);

  const more: RecordJson[] = Array.from({ length: 300 }, (_, at) => ({
    contact_note: { contact_external_id: "c", content: `more${at}`, source: "import" },
  }));
  const continued = await importAll(service, {
    accountId: client.id,
    importId: "notes",
    position: many.length,
    records: more,
    between: () => new Promise((resolve) => setTimeout(resolve, 1_100)),
  });
  expect(continued.at(-1)).toMatchObject({ done: true, written: { contactNotes: 6_800n } });
  expect(changes()).toEqual(["dropped", "built"]);
});

test("a large import of contacts removes their search index; until it is built, searches find the same, by whole values first [ING-06, SRC-01]", async () => {
  const people: RecordJson[] = Array.from({ length: 6_500 }, (_, at) => ({
    contact: { full_name: `Ann Person${at}`, email: `p${at}@example.com`, phone: `+49 170 ${1_000_000 + at}` },
  }));
  const queries = [
    "/v1/contacts?query=person6499",
    "/v1/contacts?query=p649@example.com",
    "/v1/contacts?query=%2B49+170+1000064",
    "/v1/contacts?query=ann+person649",
    "/v1/contacts?query=nobody",
  ];
  // Contacts that were imported in one batch are equally old, so that their order is not fixed.
  const search = (): Promise<string[][]> =>
    Promise.all(
      queries.map(async (query) => {
        const [first, ...others] = ((await client.get(query)).body["data"] as { full_name: string }[]).map(
          ({ full_name: name }) => name,
        );
        return first === undefined ? [] : [first, ...others.sort()];
      }),
    );
  const responses = await importSlowly(people);
  expect(changes("contact")).toEqual(["dropped", "built"]);
  expect(responses.at(-1)).toMatchObject({ done: true, contactChanges: { created: 6_500n } });
  const before = await search();
  expect(before.map(({ length }) => length)).toEqual([1, 11, 1, 11, 0]);
  await db.collection("contacts").dropIndex("search");
  expect(await search()).toEqual(before);
});

test("keeps the index if other accounts have many notes: their searches stay fast [ING-06, SRC-08]", async () => {
  const others: Document[] = Array.from({ length: 10_001 }, () => ({
    _id: new Uuid() as UUID,
    account_id: new Uuid(),
  }));
  await db.collection("notes").insertMany(others);
  await importSlowly(many);
  expect(changes()).toEqual([]);
  expect(await usable()).toBe(true);
});

test("finds notes without the index as before, newest first, by one word and by several, and builds an index in the background that an import has left behind [SRC-08, NOT-01, ING-06]", async () => {
  const contact = await client.put.contact({ full_name: "Ann" });
  await client.put.contactNotes(
    ...Array.from({ length: 60 }, (_, at) => ({
      contact_id: contact,
      content: `${at % 3 === 0 ? "budget" : "plan"} every${at} Zürich`,
      source: "import",
      created_at: new Date(Date.UTC(2026, 0, 1 + at)).toISOString(),
    })),
  );
  const stranger = await newClient(service);
  await stranger.put.contactNotes({
    contact_id: await stranger.put.contact({}),
    content: "budget zürich",
    source: "import",
  });
  const queries = [
    "query=budget",
    "query=bud+zur",
    "query=every7",
    "query=nothing",
    "query=zurich&limit=5&offset=10",
    "query=e.",
  ];
  const search = () => Promise.all(queries.map(async (query) => (await client.get(`/v1/notes?${query}`)).body));
  const before = await search();
  expect(before.map(({ data }) => (data as unknown[]).length)).toEqual([15, 15, 1, 0, 5, 0]);
  await db.collection("notes").dropIndex("search");
  expect(await search()).toEqual(before);
  // As of an import that nobody continues.
  await expect.poll(changes, { timeout: 40_000 }).toEqual(["built"]);
  expect(await usable()).toBe(true);
});

test("an instance that starts while the index of many notes is missing does not wait for it [OPS-10]", async () => {
  await db.collection("notes").dropIndex("search");
  await db
    .collection("notes")
    .insertMany(Array.from({ length: 20_001 }, () => ({ _id: new Uuid(), account_id: new Uuid() }) as Document));
  // A running import prevents the index from being built.
  await db
    .collection<Document>("imports")
    .insertOne({ _id: "alive", account_id: new Uuid(), changed_at: new Date() } as Document);
  const another = await service.another();
  try {
    expect(await usable()).toBe(false);
    expect((await client.get("/v1/notes?query=budget")).status).toBe(200);
  } finally {
    await another.stop();
  }
});

/** Erases an account with many notes that are copies of one. */
async function eraseMany(): Promise<void> {
  const { id } = await newClient(service);
  const account_id = Uuid.createFromHexString(id);
  await db
    .collection("notes")
    .insertMany(
      Array.from({ length: 6_000 }, (_, at) => ({ _id: new Uuid() as never, account_id, rank: at, g: ["no", "note"] })),
    );
  const erase = () => service.internalCall("records.admin.v1.AccountService/DeleteAccount", { account_id: id });
  await expect.poll(async () => (await erase()).body.erased, { timeout: 60_000 }).toBe(true);
}

test("the erasure of nearly all notes removes the index, which is rebuilt after the last erasure; meanwhile other notes are found [OPS-31, SRC-08]", {
  timeout: 120_000,
}, async () => {
  const contact = await client.put.contact({ full_name: "Ann" });
  await client.put.contactNotes({ contact_id: contact, content: "the budget", source: "import" });
  await eraseMany();
  expect(changes()[0]).toBe("dropped");
  expect((await client.get("/v1/notes?query=budget")).body.data).toMatchObject([{ content: "the budget" }]);
  await expect.poll(changes, { timeout: 60_000 }).toEqual(["dropped", "built"]);
  expect(await usable()).toBe(true);
});

test("an erasure keeps the index if other accounts have many notes [OPS-31, SRC-08]", {
  timeout: 120_000,
}, async () => {
  await db
    .collection("notes")
    .insertMany(Array.from({ length: 10_001 }, () => ({ _id: new Uuid() as never, account_id: new Uuid() })));
  await eraseMany();
  expect([changes(), await usable()]).toEqual([[], true]);
});
