// DeleteRecords deletes records with what belongs to them, and nothing else.
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { counts, newClient, useService } from "../support/client.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import type { Result } from "../fixtures/clients/ingest.ts";
import { randomId } from "../fixtures/service/service.ts";

const service = useService();
const manual = "SESSION_NOTE_TYPE_USER_MANUAL";

async function remove(client: Client, names: Readonly<Record<string, readonly unknown[]>>): Promise<Result[]> {
  const { status, text, body } = await service().internalCall("records.ingest.v1.IngestService/DeleteRecords", {
    account_id: client.id,
    ...names,
  });
  if (status !== 200) throw new Error(text);
  return body.results as Result[];
}

/** An account with a contact, a session of it, a transcript, and a note of each. */
async function account() {
  const client = await newClient(service());
  const contact = await client.put.contact({ external_id: "c", full_name: "Ann Lee", email: "ann@example.com" });
  const session = await client.put.session({ external_id: "s", contact_id: contact, title: "Kickoff" });
  await client.put.transcript({ session_id: session, transcript: "Hello." });
  const [contactNote = ""] = await client.put.contactNotes({
    external_id: "n",
    contact_id: contact,
    content: "call",
    source: "import",
  });
  const [sessionNote = ""] = await client.put.sessionNotes({
    external_id: "n",
    session_id: session,
    content: "budget",
    type: manual,
  });
  return { client, contact, session, contactNote, sessionNote };
}

test("a contact is deleted with its notes; its sessions stay without a client, and are no longer found by its name [ING-03]", async () => {
  const { client, contact, session, contactNote } = await account();
  expect((await client.get("/v1/sessions?query=lee")).body.data).toHaveLength(1);
  expect(await remove(client, { contact_ids: [contact] })).toEqual([{ id: contact }]);
  expect((await client.get(`/v1/contacts/${contact}`)).status).toBe(404);
  expect((await client.get("/v1/notes?query=call")).body.data).toEqual([]);
  expect((await client.get("/v1/sessions?query=lee")).body.data).toEqual([]);
  expect((await client.get("/v1/sessions?query=kickoff")).body.data).toMatchObject([{ id: session, client: null }]);
  expect((await client.get(`/v1/sessions?contact_id=${contact}`)).body.data).toEqual([]);
  expect(await remove(client, { note_ids: [contactNote] })).toMatchObject([
    { id: contactNote, error: { reason: "REASON_NOT_FOUND" } },
  ]);
  // Its email and its external id are free.
  expect(await client.put.contact({ external_id: "c", email: "ann@example.com" })).not.toBe(contact);
});

test("a session is deleted with its notes and transcript; its contact stays [ING-03]", async () => {
  const { client, contact, session } = await account();
  const transcripts = () =>
    service()
      .app.client.db()
      .collection<{ _id: UUID }>("transcripts")
      .countDocuments({ _id: new UUID(session) });
  expect(await transcripts()).toBe(1);
  expect(await remove(client, { session_ids: [session.toUpperCase()] })).toEqual([{ id: session }]);
  for (const path of [`/v1/sessions/${session}`, `/v1/sessions/${session}/transcript`])
    expect((await client.get(path)).status, path).toBe(404);
  expect((await client.get("/v1/notes?query=budget")).body.data).toEqual([]);
  expect((await client.get(`/v1/contacts/${contact}`)).body.data).toMatchObject({
    recent_sessions: [],
    notes_timeline: [{ content: "call" }],
  });
  expect(await transcripts()).toBe(0);
});

test("deletes a transcript or a note alone [ING-03]", async () => {
  const { client, contact, session, contactNote, sessionNote } = await account();
  expect(await remove(client, { transcript_ids: [session], note_ids: [sessionNote, contactNote] })).toEqual([
    { id: session },
    { id: sessionNote },
    { id: contactNote },
  ]);
  expect((await client.get(`/v1/sessions/${session}/transcript`)).body.data).toMatchObject({
    transcript: null,
    recording: null,
  });
  expect((await client.get(`/v1/sessions/${session}`)).body.data.notes).toEqual([]);
  expect((await client.get(`/v1/contacts/${contact}`)).body.data.notes_timeline).toEqual([]);
});

test("deletes records by their external ids, each kind by its own, in one request and in any order [ING-03, ING-05]", async () => {
  const { client } = await account();
  const kinds = ["CONTACT", "SESSION", "TRANSCRIPT", "SESSION_NOTE", "CONTACT_NOTE"];
  const external = [
    ["CONTACT", "c"],
    ["SESSION", "s"],
    ["TRANSCRIPT", "s"],
    ["SESSION_NOTE", "n"],
    ["CONTACT_NOTE", "n"],
  ].map(([kind, external_id]) => ({ kind: `RECORD_KIND_${kind}`, external_id }));
  const results = await remove(client, { external });
  expect(results.map(({ externalId, error }) => [externalId, error])).toEqual([
    ["c", undefined],
    ["s", undefined],
    ["s", undefined],
    ["n", undefined],
    ["n", undefined],
  ]);
  expect(kinds).toHaveLength(results.length);
  const again = await remove(client, { external });
  expect(again.map(({ error }) => error?.reason)).toEqual(kinds.map(() => "REASON_NOT_FOUND"));
});

test("deletes by any external id that can be written, whatever its characters; rejects one that is too long or has no kind [ING-03, ING-05]", async () => {
  const { client } = await account();
  const external_id = "\u{1F33B}".repeat(200);
  const id = await client.put.contact({ external_id, full_name: "Flora" });
  const [deleted, long, kind] = await remove(client, {
    external: [
      { kind: "RECORD_KIND_CONTACT", external_id },
      { kind: "RECORD_KIND_CONTACT", external_id: `${external_id}x` },
      { kind: 0, external_id },
    ],
  });
  expect(deleted).toMatchObject({ id, externalId: external_id });
  expect([deleted?.error, long?.error?.message, kind?.error?.message]).toEqual([
    undefined,
    "external_id: must be at most 200 characters",
    "kind: must be one of RECORD_KIND_CONTACT, RECORD_KIND_SESSION, RECORD_KIND_TRANSCRIPT, RECORD_KIND_SESSION_NOTE, RECORD_KIND_CONTACT_NOTE",
  ]);
});

test("results are in the order of the request; a missing, an invalid or another account's record fails alone [ING-03, ING-04]", async () => {
  const { client, contact, session } = await account();
  const stranger = await account();
  const unknown = randomId();
  const before = await counts(service());
  const results = await remove(client, {
    contact_ids: [stranger.contact, "x", contact],
    session_ids: [stranger.session, unknown],
    transcript_ids: [stranger.session],
    note_ids: [stranger.contactNote, stranger.sessionNote],
    external: [
      { kind: 0, external_id: "s" },
      { kind: "RECORD_KIND_SESSION", external_id: "" },
    ],
  });
  expect(results.map(({ id, error }) => [id, error?.reason])).toEqual([
    [stranger.contact, "REASON_NOT_FOUND"],
    ["x", "REASON_INVALID_REQUEST"],
    [contact, undefined],
    [stranger.session, "REASON_NOT_FOUND"],
    [unknown, "REASON_NOT_FOUND"],
    [stranger.session, "REASON_NOT_FOUND"],
    [stranger.contactNote, "REASON_NOT_FOUND"],
    [stranger.sessionNote, "REASON_NOT_FOUND"],
    [undefined, "REASON_INVALID_REQUEST"],
    [undefined, "REASON_INVALID_REQUEST"],
  ]);
  expect(await counts(service())).toEqual({
    ...before,
    contacts: (before["contacts"] ?? 0) - 1,
    notes: (before["notes"] ?? 0) - 1,
  });
  expect((await client.get(`/v1/sessions/${session}`)).status).toBe(200);
});

test("rejects an empty list, more than 1,000 names, and an unknown account as a whole [ING-03]", async () => {
  const { client, contact } = await account();
  const send = async (message: unknown) =>
    (await service().internalCall("records.ingest.v1.IngestService/DeleteRecords", message)).body;
  expect(await send({ account_id: client.id })).toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("from 1 to 1,000 records"),
  });
  expect((await send({ account_id: client.id, contact_ids: Array.from({ length: 1_001 }, () => contact) })).code).toBe(
    "invalid_argument",
  );
  expect((await send({ account_id: randomId(), contact_ids: [contact] })).code).toBe("not_found");
  expect((await send({ contact_ids: [contact] })).code).toBe("invalid_argument");
  expect((await client.get(`/v1/contacts/${contact}`)).status).toBe(200);
});

test("deletes a contact with more notes than one step takes, with all of them [ING-03]", async () => {
  const { client, contact } = await account();
  for (let batch = 0; batch < 2; batch++)
    await client.put.contactNotes(
      ...Array.from({ length: 600 }, (_, at) => ({
        contact_id: contact,
        content: `many ${batch} ${at}`,
        source: "import",
      })),
    );
  expect(await remove(client, { contact_ids: [contact] })).toEqual([{ id: contact }]);
  expect((await client.get("/v1/notes?query=many")).body.data).toEqual([]);
});

test("deletes a contact with more sessions than one step takes and keeps all of them, in transactions of one step each [ING-03, OPS-15]", async () => {
  const { client, contact } = await account();
  await client.put.sessions(...Array.from({ length: 600 }, (_, at) => ({ contact_id: contact, title: `Many ${at}` })));
  const { stop } = listenToMongo(service().app.client);
  expect(await remove(client, { contact_ids: [contact] })).toEqual([{ id: contact }]);
  const updates = stop().filter(({ label }) => label === "update sessions");
  expect(updates.map(({ command }) => command["updates"][0].q._id.$in.length)).toEqual([500, 101]);
  expect(new Set(updates.map(({ command }) => String(command["txnNumber"]))).size).toBe(2);
  expect((await client.get(`/v1/sessions?contact_id=${contact}`)).body.data).toEqual([]);
  expect((await client.get("/v1/sessions?query=many")).body.data).toMatchObject(
    Array.from({ length: 10 }, () => ({ client: null })),
  );
});

test("deletes 1,000 contacts in twenty transactions, each name with its own outcome [ING-03, ING-08]", async () => {
  const client = await newClient(service());
  const ids = await client.put.contacts(...Array.from({ length: 998 }, (_, at) => ({ full_name: `Many ${at}` })));
  await client.put.contactNotes({ contact_id: ids[500], content: "many notes", source: "import" });
  const [first = ""] = ids;
  const unknown = randomId();
  const { stop } = listenToMongo(service().app.client);
  const results = await remove(client, { contact_ids: [...ids, unknown, first] });
  expect(stop().filter(({ label }) => label === "delete contacts")).toHaveLength(20);
  expect(results.map(({ id }) => id)).toEqual([...ids, unknown, first]);
  expect(results.flatMap(({ error }, at) => (error === undefined ? [] : [[at, error.reason]]))).toEqual([
    [998, "REASON_NOT_FOUND"],
    [999, "REASON_NOT_FOUND"],
  ]);
  expect((await client.get("/v1/contacts?query=many")).body.data).toEqual([]);
  expect((await client.get("/v1/notes?query=many")).body.data).toEqual([]);
});

test("a note that is appended while its contact is deleted is rejected or deleted with it: none stays without a contact [ING-03]", async () => {
  for (let round = 0; round < 5; round++) {
    const { client, contact } = await account();
    const appends = Array.from({ length: 6 }, (_, at) =>
      client.post(`/v1/contacts/${contact}/notes`, { content: `race ${at}` }),
    );
    const [[result]] = await Promise.all([remove(client, { contact_ids: [contact] }), ...appends]);
    expect(result?.error).toBeUndefined();
    expect((await client.get("/v1/notes?query=race")).body.data).toEqual([]);
  }
});
