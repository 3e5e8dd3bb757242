// The ingest rpcs: batches in, and one result for each item.
import { expect, test } from "vitest";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { counts, ids, newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";

const service = useService();
const manual = "SESSION_NOTE_TYPE_USER_MANUAL";

test("each batch is written into the account that it names [ING-01]", async () => {
  const client = await newClient(service());
  const [contact] = await client.put.contacts({ full_name: "Ann", external_id: "c" });
  const [session] = await client.put.sessions({ title: "Budget", external_id: "s", contact_external_id: "c" });
  await client.put.transcript({ session_external_id: "s", transcript: "Hello." });
  await client.put.sessionNotes({ session_external_id: "s", content: "one", type: manual });
  await client.put.contactNotes({ contact_external_id: "c", content: "two", source: "import" });
  const detail = (await client.get(`/v1/sessions/${session}`)).body.data;
  expect(detail).toMatchObject({
    title: "Budget",
    client: { id: contact, full_name: "Ann" },
    notes: [{ content: "one", type: "user_manual" }],
  });
  expect((await client.get(`/v1/sessions/${session}/transcript`)).body.data.transcript).toBe("Hello.");
  expect((await client.get(`/v1/contacts/${contact}`)).body.data.notes_timeline).toMatchObject([
    { content: "two", source: "import" },
  ]);
});

test("the result of a failed item has its id in lower case, as all ids are [ING-01]", async () => {
  const client = await newClient(service());
  const email = "taken@example.com";
  await client.put.contact({ email });
  const id = randomId();
  const [result] = await client.put.send("UpsertContacts", "contacts", [{ id: id.toUpperCase(), email }]);
  expect(result).toMatchObject({ id, error: { reason: "REASON_DUPLICATE_EMAIL" } });
});

test("the type of a session note is accepted by its name in REST and by its name in protobuf; another name is rejected, and so are both [ING-01, ING-04]", async () => {
  const client = await newClient(service());
  const session_id = await client.put.session({});
  await client.put.sessionNotes(
    { session_id, position: 1, type: "user_manual" },
    { session_id, position: 2, type: "SESSION_NOTE_TYPE_READER_COMMENT" },
    { session_id, position: 3, type: "ai_meeting_prep" },
  );
  expect((await client.get(`/v1/sessions/${session_id}`)).body.data.notes).toMatchObject([
    { type: "user_manual" },
    { type: "reader_comment" },
    { type: "ai_meeting_prep" },
  ]);
  for (const type of ["USER_MANUAL", "unspecified", "", "diary"]) {
    const { body } = await service().internalCall("records.ingest.v1.IngestService/UpsertSessionNotes", {
      account_id: client.id,
      notes: [{ session_id, type }],
    });
    expect([body.code, body.message], type).toEqual([
      "invalid_argument",
      expect.stringMatching(/^notes\[0\]\.type: must be one of user_manual, /),
    ]);
  }
  const twice = `{"account_id":"${client.id}","notes":[{"session_id":"${session_id}","type":"user_manual","type":"user_manual"}]}`;
  const response = await fetch(`${service().internal}/records.ingest.v1.IngestService/UpsertSessionNotes`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${service().serviceToken}` },
    body: twice,
  });
  expect(await response.json()).toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining('duplicate object key "type"'),
  });
});

test("an unknown account is not_found, an invalid account_id or an empty batch is invalid_argument, and nothing is written [ING-01]", async () => {
  const client = await newClient(service());
  const before = await counts(service());
  const batches: readonly (readonly [rpc: string, batch: string, item: unknown])[] = [
    ["UpsertContacts", "contacts", {}],
    ["UpsertSessions", "sessions", {}],
    ["PutTranscripts", "transcripts", { session_id: randomId() }],
    ["UpsertSessionNotes", "notes", { session_id: randomId(), type: manual }],
    ["UpsertContactNotes", "notes", { contact_id: randomId(), content: "c", source: "s" }],
    ["ArchiveContacts", "contact_ids", randomId()],
    ["RestoreContacts", "contact_ids", randomId()],
  ];
  for (const [rpc, batch, item] of batches) {
    const send = async (message: unknown) =>
      (await service().internalCall(`records.ingest.v1.IngestService/${rpc}`, message)).body.code as string;
    expect(await send({ account_id: randomId(), [batch]: [item] }), rpc).toBe("not_found");
    expect(await send({ account_id: "x", [batch]: [item] }), rpc).toBe("invalid_argument");
    expect(await send({ [batch]: [item] }), rpc).toBe("invalid_argument");
    expect(await send({ account_id: client.id, [batch]: [] }), rpc).toBe("invalid_argument");
  }
  expect(await counts(service())).toEqual(before);
});

test("archiving and restoring set and clear archived_at; a contact that is already archived or active stays as it is [ING-02]", async () => {
  const client = await newClient(service());
  const [first, second] = await client.put.contacts(
    { full_name: "Ann" },
    { full_name: "Bo", archived_at: "2026-01-01T00:00:00Z" },
  );
  const archivedAt = async (id: string | undefined) => (await client.get(`/v1/contacts/${id}`)).body.data.archived_at;
  expect(await client.put.archive(first ?? "", second ?? "")).toEqual([first, second]);
  const time = await archivedAt(first);
  expect(time).toMatch(/^\d{4}-/);
  expect(await archivedAt(second)).toBe("2026-01-01T00:00:00.000Z");
  await client.put.archive(first ?? "");
  expect(await archivedAt(first)).toBe(time);
  expect(await client.put.restore(second ?? "", first ?? "")).toEqual([second, first]);
  expect([await archivedAt(first), await archivedAt(second)]).toEqual([null, null]);
  await client.put.restore(first ?? "");
  expect(await archivedAt(first)).toBeNull();
});

test("only its own account archives and restores a contact [ING-02]", async () => {
  const [client, stranger] = [await newClient(service()), await newClient(service())];
  const [mine] = await client.put.contacts({});
  for (const rpc of ["ArchiveContacts", "RestoreContacts"]) {
    expect(await stranger.put.send(rpc, "contact_ids", [mine])).toMatchObject([
      { id: mine, error: { reason: "REASON_NOT_FOUND" } },
    ]);
  }
  expect((await client.get(`/v1/contacts/${mine}`)).body.data.archived_at).toBeNull();
});

test("results are in the order of the items, with id, external_id and error; one that fails does not affect the others [ING-04, UNI-04]", async () => {
  const client = await newClient(service());
  const taken = await client.put.contact({ email: "taken@example.com" });
  const [given, strangers] = [randomId(), await (await newClient(service())).put.contact({})];
  const results = await client.put.send("UpsertContacts", "contacts", [
    { full_name: "No id" },
    { external_id: "e1", full_name: "External" },
    { external_id: "e2", email: "TAKEN@example.com" },
    { id: given.toUpperCase(), full_name: "Given" },
    { id: strangers, full_name: "Not mine" },
  ]);
  expect(results).toEqual(
    [
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/), externalId: "e1" },
      {
        id: "",
        externalId: "e2",
        error: {
          reason: "REASON_DUPLICATE_EMAIL",
          message: "The email is already used by another active contact. Choose another email or update that contact.",
          contactId: taken,
        },
      },
      { id: given },
      { id: strangers, error: { reason: "REASON_ALREADY_EXISTS", message: expect.stringMatching(/\S/) } },
    ].map((result) => (result.id === "" ? { externalId: "e2", error: result.error } : result)),
  );
  const names = ["no id", "external", "given"];
  for (const [index, name] of [0, 1, 3].entries())
    expect(ids(await client.get(`/v1/contacts?query=${encodeURIComponent(names[index] ?? "")}`)), String(name)).toEqual(
      [results[name]?.id],
    );
  expect((await client.get("/v1/contacts?query=not+mine")).body.data).toEqual([]);
});

test("the first of several items in a batch with one email gets it [ING-04]", async () => {
  const client = await newClient(service());
  const items = Array.from({ length: 200 }, (_, at) => ({
    full_name: `Name ${at}`,
    email: `${at % 2 === 0 ? "p" : "P"}${at >> 1}@example.com`,
  }));
  const reasons = (await client.put.send("UpsertContacts", "contacts", items)).map(({ error }) => error?.reason);
  expect(reasons).toEqual(items.map((_, at) => (at % 2 === 0 ? undefined : "REASON_DUPLICATE_EMAIL")));
});

test("an item whose owner does not exist fails alone [ING-04]", async () => {
  const client = await newClient(service());
  const session = await client.put.session({ external_id: "s" });
  const results = await client.put.send("UpsertSessionNotes", "notes", [
    { session_external_id: "nothing", type: manual },
    { session_id: session, content: "written", type: manual },
    { type: manual },
    { session_id: randomId(), type: manual },
  ]);
  expect(results.map(({ error }) => error?.reason)).toEqual([
    "REASON_NOT_FOUND",
    undefined,
    "REASON_INVALID_REQUEST",
    "REASON_NOT_FOUND",
  ]);
  expect((await client.get(`/v1/sessions/${session}`)).body.data.notes).toMatchObject([{ content: "written" }]);
});

test("a large batch keeps its order [ING-04]", async () => {
  const client = await newClient(service());
  const items = Array.from({ length: 300 }, (_, index) => ({ external_id: `e${index}`, title: `Session ${index}` }));
  const results = await client.put.send("UpsertSessions", "sessions", items);
  expect(results.map(({ externalId }) => externalId)).toEqual(items.map(({ external_id }) => external_id));
  expect((await client.get(`/v1/sessions/${results[123]?.id}`)).body.data.title).toBe("Session 123");
});

test("an invalid item fails alone, with every reason; the others are written [ING-04]", async () => {
  const client = await newClient(service());
  const contacts = [
    { full_name: "Ann", external_id: "a" },
    { full_name: "x".repeat(201), email: "no" },
    { external_id: "" },
    { id: "bad" },
    { full_name: "Bo" },
  ];
  const results = await client.put.send("UpsertContacts", "contacts", contacts);
  expect(results.map(({ error }) => error?.message)).toEqual([
    undefined,
    "full_name: must be at most 200 characters; email: must be an email address such as name@example.com",
    "external_id: must be at least 1 character",
    "id: must be a valid UUID",
    undefined,
  ]);
  expect(results.flatMap(({ error }) => error?.reason ?? [])).toEqual([
    "REASON_INVALID_REQUEST",
    "REASON_INVALID_REQUEST",
    "REASON_INVALID_REQUEST",
  ]);
  expect((await client.get("/v1/contacts?query=ann")).body.data).toHaveLength(1);
  expect((await client.get("/v1/contacts?query=bo")).body.data).toHaveLength(1);

  const [contact = ""] = ids(await client.get("/v1/contacts?query=ann"));
  const archived = await client.put.send("ArchiveContacts", "contact_ids", ["zz", contact, randomId()]);
  expect(archived.map(({ error }) => error?.reason)).toEqual(["REASON_INVALID_REQUEST", undefined, "REASON_NOT_FOUND"]);
  expect((await client.get(`/v1/contacts/${contact}`)).body.data.archived_at).not.toBeNull();
  expect((await client.put.send("UpsertSessions", "sessions", [{ title: "x".repeat(1_001) }]))[0]?.error?.message).toBe(
    "title: must be at most 1000 characters",
  );
});

/** A Chinese text in which nearly every character begins three terms that no other one does. */
function manyTerms(length: number, seed: number): string {
  let at = seed;
  const next = (): number => 0x4e00 + ((at = (at * 48_271) % 2_147_483_647) % 20_000);
  return String.fromCodePoint(...Array.from({ length }, next));
}

test("a batch with more search terms than MongoDB can index in time is rejected before its transaction, with the number of items that fit [ING-04, OPS-15]", async () => {
  const client = await newClient(service());
  const texts = [1, 2].map((seed) => ({ content: manyTerms(55_000, seed) }));
  const titles = Array.from({ length: 120 }, (_, at) => ({ title: manyTerms(1_000, at + 1) }));
  const { stop } = listenToMongo(service().app.client);
  for (const [rpc, batch] of [
    ["UpsertSessionNotes", { notes: texts.map((text) => ({ ...text, type: manual })) }],
    ["UpsertContactNotes", { notes: texts.map((text) => ({ ...text, source: "import" })) }],
    ["UpsertSessions", { sessions: titles }],
  ] as const) {
    const request = { account_id: client.id, ...batch };
    const { body } = await service().internalCall(`records.ingest.v1.IngestService/${rpc}`, request);
    expect(body.code, rpc).toBe("invalid_argument");
    expect(body.message).toMatch(/^a batch must have at most 300,000 search terms; the first \d+ items fit, so/);
  }
  expect(stop().filter(({ command }) => command["startTransaction"] === true)).toEqual([]);
});

test("ingesting an archived contact again leaves it archived; only restoring brings it back [ING-02]", async () => {
  const client = await newClient(service());
  const id = await client.put.contact({ full_name: "Ann", external_id: "a" });
  await client.put.archive(id);
  const { archived_at } = (await client.get(`/v1/contacts/${id}`)).body.data;
  await client.put.contact({ full_name: "Ann Lee", external_id: "a" });
  expect((await client.get(`/v1/contacts/${id}`)).body.data).toMatchObject({ full_name: "Ann Lee", archived_at });
  await client.put.restore(id);
  expect((await client.get(`/v1/contacts/${id}`)).body.data.archived_at).toBeNull();
});

test("rejects a date-time that is not in the calendar, and accepts one that only looks like it [ING-01, ING-04]", async () => {
  const client = await newClient(service());
  const send = async (session_date: string) =>
    (
      await service().internalCall("records.ingest.v1.IngestService/UpsertSessions", {
        account_id: client.id,
        sessions: [{ title: "2026-02-30T00:00:00Z" }, { session_date }],
      })
    ).body;
  for (const wrong of [
    "2026-02-30T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-04-31T12:00:00+02:00",
    "2026-01-01T24:00:00Z",
  ]) {
    expect(await send(wrong), wrong).toMatchObject({
      code: "invalid_argument",
      message: "sessions[1].session_date: must be a date-time that exists, such as 2026-01-31T09:30:00Z",
    });
  }
  for (const right of ["2024-02-29T00:00:00Z", "2026-01-31T23:59:59.999Z"])
    expect((await send(right)).results, right).toHaveLength(2);
  expect((await client.get("/v1/sessions")).body.data).toHaveLength(4);
});
