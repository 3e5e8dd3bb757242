// Contacts of a search and of a list: the same as on their own, however many notes and sessions they have.
import type { Document } from "mongodb";
import { UUID } from "mongodb";
import { describe, expect, test } from "vitest";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import type { AccountSize } from "../cost/data.ts";
import { fill } from "../cost/data.ts";
import type { NoteDocument } from "../../src/notes/document.ts";
import { deriveNote } from "../../src/notes/store.ts";
import { newClient, useService } from "../support/client.ts";
import { isLong } from "../support/form.ts";

const service = useService();
const emoji = "😀".repeat(100_000);

async function expectSame(size: AccountSize, commands: number, huge = 0): Promise<void> {
  const client = await newClient(service());
  const mongo = service().app.client;
  const { contactIds } = await fill(mongo, client.id, size);
  if (huge > 0) {
    const notes = mongo.db().collection<{ _id: UUID }>("notes");
    const note = await notes.findOne({ account_id: new UUID(client.id) });
    for (let at = 0; at < huge; at += 20)
      await notes.insertMany(
        contactIds.slice(0, 20).map((parent_id) => ({ ...note, _id: new UUID(), parent_id, content: emoji })),
      );
  }
  const listener = listenToMongo(mongo);
  const { body } = await client.get("/v1/contacts?query=every");
  expect(listener.stop().filter(({ label }) => label === "aggregate contacts")).toHaveLength(commands);
  expect(body.data).toHaveLength(Math.min(25, size.contacts));
  for (const found of body.data) expect(found).toEqual((await client.get(`/v1/contacts/${found.id}`)).body.data);
}

describe("a found contact is the same as on its own [CSR-01, CGT-06]", () => {
  test("with no notes and no sessions, by one command", () => expectSame({ contacts: 3, sessions: 0, notes: 0 }, 1));
  test("with fewer notes and sessions than it shows, by one command", () =>
    expectSame({ contacts: 30, sessions: 40, notes: 90 }, 1));
  test("with more notes and sessions than it shows, by one command", () =>
    expectSame({ contacts: 4, sessions: 80, notes: 280 }, 1));
  test("with as many notes and sessions as one look-up reads, by one command", () =>
    expectSame({ contacts: 10, sessions: 1_250, notes: 300 }, 1));
  test("with more notes than one look-up reads, by two commands", () =>
    expectSame({ contacts: 10, sessions: 0, notes: 301 }, 2));
  test("with more sessions than one look-up reads, by two commands", () =>
    expectSame({ contacts: 10, sessions: 1_251, notes: 0 }, 2));
  // They exceed a document; in the long form, a buffer and a look-up too. The third command reads by a cursor what
  // exceeds one reply.
  test.each(isLong ? [60, 180, 280] : [60])(
    "with %i notes that are too large together but not alone, by three commands",
    { timeout: 60_000 },
    (huge) => expectSame({ contacts: 20, sessions: 0, notes: 1 }, 3, huge),
  );
});

describe("with many notes of other contacts", () => {
  /** An account with 25 contacts that have the newest notes, whose words are first in the index, and others' notes. */
  async function crowded(ownNotes: number, otherNotes: number, created_at?: Date) {
    const client = await newClient(service());
    const mongo = service().app.client;
    const { contactIds } = await fill(mongo, client.id, { contacts: 25, sessions: 0, notes: 1 });
    const notes = mongo.db().collection<NoteDocument>("notes");
    const { n: _n, g: _g, rank: _rank, ...note } = (await notes.findOne({ account_id: new UUID(client.id) }))!;
    const now = Date.now();
    const stranger = new UUID();
    await notes.insertMany(
      Array.from({ length: ownNotes + otherNotes }, (_, at) =>
        deriveNote({
          ...note,
          _id: new UUID(),
          parent_id: at < ownNotes ? (contactIds[at % 25] ?? stranger) : stranger,
          content: at < ownNotes ? `00 call ${at % 10}` : `zebra budget meeting about results and the plan ${at}`,
          created_at: created_at ?? new Date(now - 1_000 * at),
        }),
      ),
    );
    return client;
  }

  test("a search reads only the notes of the contacts that it finds, from the index on owners [SRC-08]", async () => {
    const client = await crowded(150, 2_000);
    const mongo = service().app.client;
    const listener = listenToMongo(mongo);
    await client.get("/v1/contacts?query=every");
    const [{ command } = { command: {} }] = listener.stop().filter(({ label }) => label === "aggregate contacts");
    const { pipeline } = command as { pipeline: Document[] };
    const proofless = pipeline.slice(0, pipeline.findLastIndex((stage) => "$lookup" in stage) + 1);
    const { stages } = await mongo
      .db()
      .command({ explain: { aggregate: "contacts", pipeline: proofless, cursor: {} }, verbosity: "executionStats" });
    const lookups = (stages as Document[]).filter((stage) => "$lookup" in stage);
    expect(lookups.map((stage) => Number(stage["totalDocsExamined"]))).toEqual([151, 0]);
    expect(Number(lookups[0]?.["totalKeysExamined"])).toBeLessThan(300);
  });

  test("notes of one millisecond have the order that a contact on its own has [CSR-01, CGT-06]", async () => {
    const client = await crowded(250, 0, new Date());
    const { body } = await client.get("/v1/contacts?query=every");
    for (const found of body.data) expect(found).toEqual((await client.get(`/v1/contacts/${found.id}`)).body.data);
  });
});
