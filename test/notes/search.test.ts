// GET /v1/notes: notes of contacts and of sessions in one list, cut to 1000 characters.
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { everyOf, newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";
import { foundNote, mismatches, pagination } from "../fixtures/clients/shapes.ts";

const service = useService();

interface Found {
  readonly parent_id: string;
  readonly content: string;
  readonly parent_label: string | null;
  readonly truncated: boolean;
}

async function find(client: Client, query: string): Promise<Found[]> {
  const response = await client.get(`/v1/notes?${query}`);
  expect(response.status, response.text).toBe(200);
  return response.body.data as Found[];
}

const contents = (found: readonly Found[]): string[] => found.map(({ content }) => content);
const manual = "SESSION_NOTE_TYPE_USER_MANUAL";

test("returns notes of both kinds in one list, newest created_at first, with exactly the fields of the specification [NOT-01, NOT-05, NOT-06, NOT-08, NOT-15, FMT-02, FMT-04]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann Lee" });
  const session = await client.put.session({ title: "Budget" });
  await client.put.contactNotes(
    { contact_id: contact, content: "milk 1", source: "import", created_at: "2026-01-01T00:00:00Z" },
    { contact_id: contact, content: "milk 3", source: "import", created_at: "2026-01-03T00:00:00Z" },
  );
  await client.put.sessionNotes({
    session_id: session,
    content: "milk 2",
    type: "SESSION_NOTE_TYPE_READER_COMMENT",
    title: "milk",
    created_at: "2026-01-02T00:00:00.5Z",
  });
  const { body } = await client.get("/v1/notes?query=milk");
  expect(Object.keys(body).sort()).toEqual(["data", "pagination"]);
  expect(mismatches(pagination, body.pagination)).toEqual([]);
  expect(body.data.flatMap((note: unknown) => mismatches(foundNote, note))).toEqual([]);
  const ofContact = {
    kind: "contact",
    parent_id: contact,
    parent_label: "Ann Lee",
    note_type: "user_manual",
    truncated: false,
  };
  expect(body.data).toEqual([
    { ...ofContact, content: "milk 3", created_at: "2026-01-03T00:00:00.000Z" },
    {
      kind: "session",
      parent_id: session,
      parent_label: "Budget",
      note_type: "reader_comment",
      content: "milk 2",
      truncated: false,
      created_at: "2026-01-02T00:00:00.500Z",
    },
    { ...ofContact, content: "milk 1", created_at: "2026-01-01T00:00:00.000Z" },
  ]);
});

test("searches only the content, and never finds a note without content [NOT-15]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Quentin" });
  const session = await client.put.session({ title: "Quentin" });
  await client.put.contactNotes({ contact_id: contact, content: "nothing", source: "quentin" });
  await client.put.sessionNotes({ session_id: session, title: "quentin", title_slug: "quentin", type: manual });
  expect(await find(client, "query=quentin")).toEqual([]);
});

test("a label is the contact's full_name, inferred_name or email, or the session's title, or else null [NOT-07]", async () => {
  const client = await newClient(service());
  const contacts = await client.put.contacts(
    { full_name: "Full", inferred_name: "Inferred", email: "a@example.com" },
    { inferred_name: "Inferred", email: "b@example.com" },
    { email: "c@example.com" },
    { phone: "1" },
  );
  const sessions = await client.put.sessions({ title: "Title", subtitle: "Subtitle" }, { subtitle: "Subtitle" });
  await client.put.contactNotes(...contacts.map((contact_id) => ({ contact_id, content: "milk", source: "import" })));
  await client.put.sessionNotes(...sessions.map((session_id) => ({ session_id, content: "milk", type: manual })));
  const labels = new Map(
    (await find(client, "query=milk")).map(({ parent_id, parent_label }) => [parent_id, parent_label]),
  );
  expect([...contacts, ...sessions].map((id) => labels.get(id))).toEqual([
    "Full",
    "Inferred",
    "c@example.com",
    null,
    "Title",
    null,
  ]);
});

test("a label skips a name without a visible character, which the contact keeps [NOT-07]", async () => {
  const client = await newClient(service());
  for (const [full_name, names, label] of [
    ["   ", { inferred_name: "Good Name" }, "Good Name"],
    ["\u200b", { email: "zero@example.com" }, "zero@example.com"],
    ["\u3164", {}, null],
  ] as const) {
    const contact = await client.put.contact({ full_name, ...names });
    await client.put.contactNotes({ contact_id: contact, content: `ingested ${contact}`, source: "import" });
    await client.post(`/v1/contacts/${contact}/notes`, { content: `appended ${contact}` });
    const found = await find(client, `query=${contact}`);
    expect(found.map(({ parent_label }) => parent_label)).toEqual([label, label]);
    expect((await client.get(`/v1/contacts/${contact}`)).body.data.full_name).toBe(full_name);
  }
});

test("a label follows the name of its owner, through ingest as through the interface [NOT-07]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ external_id: "c", email: "old@example.com" });
  const session = await client.put.session({ external_id: "s", title: "Old" });
  await client.post(`/v1/contacts/${contact}/notes`, { content: "milk" });
  await client.put.sessionNotes({ session_id: session, content: "milk", type: manual });
  const labels = async (): Promise<(string | null)[]> =>
    (await find(client, "query=milk")).map(({ parent_label }) => parent_label).sort();
  expect(await labels()).toEqual(["Old", "old@example.com"]);
  await client.patch(`/v1/contacts/${contact}`, { email: "new@example.com" });
  await client.put.session({ external_id: "s", title: "New" });
  expect(await labels()).toEqual(["New", "new@example.com"]);
  await client.put.contact({ external_id: "c", inferred_name: "Inferred" });
  expect(await labels()).toEqual(["Inferred", "New"]);
  await client.patch(`/v1/contacts/${contact}`, { full_name: "Named" });
  expect(await labels()).toEqual(["Named", "New"]);
});

test("returns 1000 code points completely, and the first 1000 of 1001; an emoji counts as one and is never split [NOT-09, VAL-11]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann" });
  const session = await client.put.session({ title: "t" });
  const emoji = "\u{1F600}";
  const cases: readonly (readonly [word: string, content: string, shown: string, truncated: boolean])[] = [
    ["exact", `exact ${"a".repeat(994)}`, `exact ${"a".repeat(994)}`, false],
    ["over", `over ${"a".repeat(996)}`, `over ${"a".repeat(995)}`, true],
    ["faces", `faces ${emoji.repeat(994)}`, `faces ${emoji.repeat(994)}`, false],
    ["crowd", `crowd ${emoji.repeat(995)}`, `crowd ${emoji.repeat(994)}`, true],
    ["mixed", `mixed ${"a".repeat(993)}${emoji}${emoji}`, `mixed ${"a".repeat(993)}${emoji}`, true],
    ["longest", `longest ${emoji.repeat(9_992)}`, `longest ${emoji.repeat(992)}`, true],
  ];
  await client.put.contactNotes(...cases.map(([, content]) => ({ contact_id: contact, content, source: "import" })));
  await client.put.sessionNotes(...cases.map(([, content]) => ({ session_id: session, content, type: manual })));
  for (const [word, , shown, truncated] of cases) {
    const found = await find(client, `query=${word}`);
    expect(found, word).toHaveLength(2);
    for (const note of found)
      expect({ content: note.content, truncated: note.truncated }, word).toEqual({ content: shown, truncated });
  }
});

test("finds words beyond the first 1000 characters [NOT-09, NOT-15]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann" });
  await client.post(`/v1/contacts/${contact}/notes`, { content: `${"a ".repeat(4_900)}zebulon` });
  expect(await find(client, "query=zebulon")).toMatchObject([{ parent_id: contact, truncated: true }]);
});

test("finds notes of archived contacts like others [NOT-16]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann" });
  await client.put.contactNotes({ contact_id: contact, content: "milk", source: "import" });
  await client.put.archive(contact);
  expect(await find(client, "query=milk")).toMatchObject([{ parent_id: contact, parent_label: "Ann" }]);
});

test("a walk through the pages returns every note once, ties in a fixed order [NOT-15, PAG-03]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann" });
  const session = await client.put.session({ title: "t" });
  const item = (index: number) => ({
    id: `${randomId().slice(0, -2)}7f`,
    content: `milk ${index}`,
    created_at: "2026-01-01T00:00:00Z",
  });
  await client.put.contactNotes(
    ...Array.from({ length: 9 }, (_, index) => ({ ...item(index), contact_id: contact, source: "import" })),
  );
  await client.put.sessionNotes(
    ...Array.from({ length: 9 }, (_, index) => ({ ...item(index + 9), session_id: session, type: manual })),
  );
  const whole = contents(await find(client, "query=milk&limit=25"));
  expect(whole.toSorted()).toEqual(Array.from({ length: 18 }, (_, index) => `milk ${index}`).sort());
  for (const limit of [1, 4, 18])
    expect(contents(await everyOf(client.records.notes.all({ query: "milk", limit }))), `by ${limit}`).toEqual(whole);
});

test("newer notes come first, however many notes match each way to read a query [NOT-15]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann" });
  const put = async (count: number, from: number, content: string): Promise<void> => {
    await client.put.contactNotes(
      ...Array.from({ length: count }, (_, at) => ({
        contact_id: contact,
        content: `${content} ${at}`,
        source: "import",
        created_at: new Date(Date.UTC(2026, 0, 1) + (from + at) * 60_000).toISOString(),
      })),
    );
  };
  // Read as two words, the query has matches only far back, and as one word also among other notes.
  await put(300, 0, "an al fresco lunch");
  await put(3, 1_000, "the alfresco lunch");
  await put(300, 2_000, "alfresco");
  const found = contents(await find(client, "query=al-fresco%20lunch&limit=5"));
  expect(found).toEqual([
    "the alfresco lunch 2",
    "the alfresco lunch 1",
    "the alfresco lunch 0",
    "an al fresco lunch 299",
    "an al fresco lunch 298",
  ]);
});

test("limit is 15 by default; has_more and next_offset are exact [NOT-12, NOT-13, NOT-14, PAG-01, PAG-02]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann" });
  await client.put.contactNotes(
    ...Array.from({ length: 26 }, (_, index) => ({ contact_id: contact, content: `milk ${index}`, source: "import" })),
  );
  const page = async (more: string) => {
    const { body } = await client.get(`/v1/notes?query=milk${more}`);
    return [body.data.length, body.pagination];
  };
  expect(await page("")).toEqual([15, { limit: 15, offset: 0, has_more: true, next_offset: 15 }]);
  expect(await page("&limit=1")).toEqual([1, { limit: 1, offset: 0, has_more: true, next_offset: 1 }]);
  expect(await page("&limit=25&offset=1")).toEqual([25, { limit: 25, offset: 1, has_more: false, next_offset: null }]);
  expect(await page("&offset=26")).toEqual([0, { limit: 15, offset: 26, has_more: false, next_offset: null }]);
});
