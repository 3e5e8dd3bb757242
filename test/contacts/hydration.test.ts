// Contacts of a search and of a list: the same as on their own, however many notes and sessions they have.
import { UUID } from "mongodb";
import { describe, expect, test } from "vitest";
import { listenToMongo } from "../../fixtures/databases/commands.ts";
import type { AccountSize } from "../cost/data.ts";
import { fill } from "../cost/data.ts";
import { newClient, useService } from "../support/client.ts";

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
    expectSame({ contacts: 10, sessions: 80, notes: 700 }, 1));
  test("with as many notes and sessions as one look-up reads, by one command", () =>
    expectSame({ contacts: 10, sessions: 1_250, notes: 1_250 }, 1));
  test("with more notes than one look-up reads, by two commands", () =>
    expectSame({ contacts: 10, sessions: 0, notes: 1_251 }, 2));
  test("with more sessions than one look-up reads, by two commands", () =>
    expectSame({ contacts: 10, sessions: 1_251, notes: 0 }, 2));
  // The third command reads by a cursor what exceeds one reply.
  test("with notes that exceed a document together but not alone, by three commands", () =>
    expectSame({ contacts: 20, sessions: 0, notes: 1 }, 3, 60));
  test("with notes that exceed a look-up together, by three commands", () =>
    expectSame({ contacts: 20, sessions: 0, notes: 1 }, 3, 280));
});
