// Ids in ingest: an external id updates its record, and other records can refer to it.
import { expect, test } from "vitest";
import { counts, ids, newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";

const service = useService();
const manual = "SESSION_NOTE_TYPE_USER_MANUAL";

test("ingesting an external_id again updates the record: the same id and created_at, new fields, and unset ones cleared [ING-05]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({
    external_id: "c",
    full_name: "Ann",
    phone: "1",
    created_at: "2026-01-01T00:00:00Z",
  });
  expect(await client.put.contact({ external_id: "c", full_name: "Ann Lee" })).toBe(contact);
  expect((await client.get(`/v1/contacts/${contact}`)).body.data).toMatchObject({
    full_name: "Ann Lee",
    phone: null,
    created_at: "2026-01-01T00:00:00.000Z",
  });
  const session = await client.put.session({ external_id: "s", title: "Old", subtitle: "x" });
  expect(await client.put.session({ external_id: "s", title: "New", contact_external_id: "c" })).toBe(session);
  expect((await client.get(`/v1/sessions/${session}`)).body.data).toMatchObject({
    title: "New",
    subtitle: null,
    client: { id: contact },
  });
  const [note] = await client.put.contactNotes({
    external_id: "n",
    contact_id: contact,
    content: "old",
    source: "import",
  });
  expect(
    await client.put.contactNotes({ external_id: "n", contact_id: contact, content: "new", source: "import" }),
  ).toEqual([note]);
  expect((await client.get(`/v1/contacts/${contact}`)).body.data.notes_timeline).toMatchObject([
    { id: note, content: "new" },
  ]);
  const before = await counts(service());
  await client.put.sessionNotes({ external_id: "m", session_id: session, content: "old", type: manual });
  await client.put.sessionNotes({ external_id: "m", session_id: session, content: "new", type: manual });
  expect((await client.get(`/v1/sessions/${session}`)).body.data.notes).toMatchObject([{ content: "new" }]);
  expect(await counts(service())).toEqual({ ...before, notes: (before["notes"] ?? 0) + 1 });
});

test("an external_id is unique within one account and one kind; others may use the same [ING-05]", async () => {
  const [client, stranger] = [await newClient(service()), await newClient(service())];
  const contact = await client.put.contact({ external_id: "same", full_name: "Ann" });
  const session = await client.put.session({ external_id: "same", title: "Budget", contact_external_id: "same" });
  await client.put.contactNotes({
    external_id: "same",
    contact_external_id: "same",
    content: "of the contact",
    source: "import",
  });
  await client.put.sessionNotes({
    external_id: "same",
    session_external_id: "same",
    content: "of the session",
    type: manual,
  });
  const theirs = await stranger.put.contact({ external_id: "same", full_name: "Stranger" });
  expect(theirs).not.toBe(contact);
  expect((await client.get(`/v1/contacts/${contact}`)).body.data).toMatchObject({
    full_name: "Ann",
    notes_timeline: [{ content: "of the contact" }],
  });
  expect((await client.get(`/v1/sessions/${session}`)).body.data).toMatchObject({
    title: "Budget",
    notes: [{ content: "of the session" }],
  });
});

test("one external_id that is sent many times at once, in a batch and outside it, becomes one record [ING-05]", async () => {
  const client = await newClient(service());
  const batch = Array.from({ length: 8 }, (_, index) => ({ external_id: "once", full_name: `Ann ${index}` }));
  const all = (
    await Promise.all([
      client.put.send("UpsertContacts", "contacts", batch),
      client.put.send("UpsertContacts", "contacts", batch),
    ])
  ).flat();
  expect(all.map(({ error }) => error)).toEqual(all.map(() => undefined));
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  expect((await client.get("/v1/contacts?query=ann")).body.data).toHaveLength(1);
  const sessions = await client.put.send(
    "UpsertSessions",
    "sessions",
    Array.from({ length: 8 }, () => ({ external_id: "once", title: "Budget" })),
  );
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(1);
  expect(ids(await client.get("/v1/sessions"))).toHaveLength(1);
});

test("an external_id that a record gets in a batch refers to that record in the rest of the batch, whether it existed or is new [ING-05]", async () => {
  const client = await newClient(service());
  const parent = await client.put.contact({});
  const { contacts, sessions, contactNotes } = client.put;
  const note = { contact_id: parent, source: "import" };
  const kinds = [
    ["contacts", contacts, {}, "full_name"],
    ["sessions", sessions, {}, "title"],
    ["notes", contactNotes, note, "content"],
  ] as const;
  for (const [kind, put, item, text] of kinds) {
    const [there] = await put({ ...item, [text]: "before" });
    for (const id of [there, randomId()]) {
      const external_id = `${kind} ${id}`;
      expect(
        await put({ ...item, id, external_id, [text]: "first" }, { ...item, external_id, [text]: "last" }),
        kind,
      ).toEqual([id, id]);
      expect(
        await service()
          .app.client.db()
          .collection(kind)
          .findOne({ external_id }, { projection: { [text]: 1, _id: 0 } }),
      ).toEqual({ [text]: "last" });
    }
  }
});

test("a contact and a session with the same id keep their notes separate [ING-01, CGT-11, SGT-09]", async () => {
  const client = await newClient(service());
  const id = randomId();
  await client.put.contact({ id, full_name: "Ann" });
  await client.put.session({ id, title: "Budget" });
  await client.put.contactNotes({ contact_id: id, content: "of the contact", source: "import" });
  await client.put.sessionNotes({ session_id: id, content: "of the session", type: manual });
  await client.patch(`/v1/contacts/${id}`, { full_name: "Ann Lee" });
  expect((await client.get(`/v1/contacts/${id}`)).body.data.notes_timeline).toMatchObject([
    { content: "of the contact" },
  ]);
  expect((await client.get(`/v1/sessions/${id}`)).body.data.notes).toMatchObject([{ content: "of the session" }]);
  const labels = (await client.get("/v1/notes?query=of")).body.data.map(
    (note: { kind: string; parent_label: string }) => `${note.kind} ${note.parent_label}`,
  );
  expect(labels.sort()).toEqual(["contact Ann Lee", "session Budget"]);
  expect((await client.get("/v1/contacts?query=ann")).body.data[0].notes_timeline).toHaveLength(1);
});

test("an item that names its owner twice must mean one record [ING-04]", async () => {
  const client = await newClient(service());
  const [ann] = await client.put.contacts({ external_id: "ann" }, { external_id: "bo" });
  const [kickoff] = await client.put.sessions({ external_id: "kickoff" }, { external_id: "other" });
  const wrong = async (rpc: string, batch: string, item: object) =>
    (await client.put.send(rpc, batch, [item])).map(({ error }) => error?.message);
  const contact = ["contact_id and contact_external_id: must name the same record, or set only one of them"];
  const session = ["session_id and session_external_id: must name the same record, or set only one of them"];
  expect(await wrong("UpsertSessions", "sessions", { contact_id: ann, contact_external_id: "bo" })).toEqual(contact);
  expect(
    await wrong("UpsertContactNotes", "notes", {
      contact_id: ann,
      contact_external_id: "bo",
      content: "c",
      source: "s",
    }),
  ).toEqual(contact);
  expect(
    await wrong("UpsertSessionNotes", "notes", { session_id: kickoff, session_external_id: "other", type: manual }),
  ).toEqual(session);
  expect(await wrong("PutTranscripts", "transcripts", { session_id: kickoff, session_external_id: "other" })).toEqual(
    session,
  );
  expect(await wrong("UpsertSessions", "sessions", { contact_id: ann, contact_external_id: "ann" })).toEqual([
    undefined,
  ]);
  expect(
    await client.put.send("PutTranscripts", "transcripts", [
      { session_external_id: "kickoff" },
      { session_external_id: "gone" },
    ]),
  ).toMatchObject([
    { id: kickoff, externalId: "kickoff" },
    { externalId: "gone", error: { reason: "REASON_NOT_FOUND" } },
  ]);
});

test("the same contacts with their emails, sent repeatedly and concurrently, update each other and are never duplicates [ING-05]", async () => {
  const client = await newClient(service());
  const items = Array.from({ length: 40 }, (_, at) => ({ external_id: `e${at}`, email: `e${at}@example.com` }));
  const results = (
    await Promise.all(Array.from({ length: 4 }, () => client.put.send("UpsertContacts", "contacts", items)))
  ).flat();
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(new Set(results.map(({ id }) => id)).size).toBe(40);
});
