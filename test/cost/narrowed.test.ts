// Tests that searches with a condition not covered by an index read a limited number of records, however few match.
import type { Document } from "mongodb";
import { UUID } from "mongodb";
import { beforeAll, expect, test } from "vitest";
import { readScope } from "../../src/call/scope.ts";
import { withDerivedFields, newContact } from "../../src/contacts/write.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { createNoteStore } from "../../src/notes/store.ts";
import { createSessionStore } from "../../src/sessions/store.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { explain } from "../fixtures/databases/explain.ts";
import { useService } from "../support/client.ts";
import { fill } from "./data.ts";

const service = useService();
const records = 10_050;
let account: { id: string; key: string };

beforeAll(async () => {
  account = await service().account();
  await fill(service().app.client, account.id, { contacts: 10, sessions: records, notes: records });
});

async function documentsRead(collection: string, work: () => Promise<unknown>): Promise<number> {
  const listening = listenToMongo(service().app.client);
  await work();
  const commands: Document[] = listening.stop().map(({ command }) => command);
  const all = await Promise.all(commands.map((command) => explain(service().app.client, command)));
  const reads = all.flatMap((one) => one.reads).filter((one) => one.collection === collection);
  return reads.reduce((sum, { documents }) => sum + documents, 0);
}

const scope = () => readScope(new UUID(account.id), deadlineIn(60_000));
const page = { limit: 20, offset: 0 };
const none = {
  query: undefined,
  first: undefined,
  last: undefined,
  type: undefined,
  hasNotes: undefined,
  anyWord: false,
  withSnippets: false,
  soonest: false,
};

test.each([
  ["without words", undefined],
  ["with a word common to all", "budget"],
])("a search for a kind of notes that does not exist, %s, reads the newest 10,000 [SRC-08]", async (_name, query) => {
  const filter = { ...none, query, kind: "session" as const, ownerId: undefined, ofSessions: false };
  const search = () => createNoteStore(service().app.client).search(scope(), filter, page);
  expect(await documentsRead("notes", search)).toBe(10_000);
});

test("a list of sessions by a contact name that only occurs in titles reads the newest 10,000 [SRC-08]", async () => {
  const filter = { ...none, contactId: undefined, hasTranscript: undefined, contactName: "meeting" };
  const list = () => createSessionStore(service().app.client).list(scope(), filter, page);
  expect(await documentsRead("sessions", list)).toBe(10_000);
});

test("a list of sessions with notes looks up the notes of the newest 2,000 by an index [SRC-08]", async () => {
  const { client } = service().app;
  const filter = { ...none, contactId: undefined, hasTranscript: undefined, contactName: undefined, hasNotes: true };
  const list = () => createSessionStore(client).list(scope(), filter, page);
  expect(await documentsRead("sessions", list)).toBe(2_000);
  const listening = listenToMongo(client);
  await list();
  const [{ command } = { command: {} }] = listening.stop();
  const { aggregate, pipeline, hint } = command as Document;
  const explained = await client
    .db()
    .command({ explain: { aggregate, pipeline, cursor: {}, hint }, verbosity: "executionStats" });
  const lookUp = (explained["stages"] as Document[]).find((stage) => "$lookup" in stage);
  expect(lookUp).toMatchObject({ collectionScans: 0, indexesUsed: ["parent"] });
});

test("numbers that could start a phone number, but occur later in every phone, read the newest 5,000 contacts for each tier [SRC-10, CSR-08]", async () => {
  const owner = await service().account();
  const documents = Array.from({ length: 6_000 }, (_, at) => {
    const made = newContact(new UUID(owner.id), { full_name: "Ann", phone: `+1 415 ${2_000_000 + at}` });
    return withDerivedFields({ ...made, updated_at: new Date(1_700_000_000_000 + at) });
  });
  await service()
    .app.client.db()
    .collection("contacts")
    .insertMany(documents as never);
  // From now on, the instance has cached the key.
  await service().rest("/v1/sessions", { key: owner.key });
  const search = async () => {
    const { body } = await service().rest("/v1/contacts?query=41+5", { key: owner.key });
    expect(body.data).toEqual([]);
  };
  expect(await documentsRead("contacts", search)).toBeLessThanOrEqual(10_400);
});
