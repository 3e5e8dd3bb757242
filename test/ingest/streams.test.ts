// Import and Export: an account is exported, deleted and imported unchanged; interrupted streams resume.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { uuid } from "../../src/db/mongo.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { ExportResponseSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { readScope } from "../../src/call/scope.ts";
import { createExport } from "../../src/ingest/export.ts";
import { counts, newClient, useService } from "../support/client.ts";
import type { Client } from "../support/client.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { randomId } from "../fixtures/service/service.ts";
import type { RecordJson } from "../support/streams.ts";
import { exportAll, importAll, ingestClient, messages } from "../support/streams.ts";

const service = useService();

/** An account with records of every kind, with and without values. */
async function fullAccount(): Promise<Client> {
  const client = await newClient(service());
  const created_at = "2025-01-01T00:00:00.123Z";
  const [ann, gone] = await client.put.contacts(
    { external_id: "c1", full_name: "Ann Ölström", email: "Ann@Example.com", created_at },
    { full_name: "Gone", email: "gone@example.com", archived_at: "2025-03-01T00:00:00Z" },
    { inferred_name: "Only inferred" },
    {},
  );
  const [met, alone] = await client.put.sessions({ external_id: "s1", contact_id: ann, title: "Kickoff" }, {});
  await client.put.transcript({
    session_id: met,
    transcript: 'Hello \u0000 "world" 🙂',
    recording: { id: randomId(), duration_seconds: 61 },
  });
  await client.put.transcript({ session_id: alone });
  const type = "SESSION_NOTE_TYPE_USER_MANUAL";
  await client.put.sessionNotes(
    { external_id: "n1", session_id: met, title: "T", content: "budget", position: 3, type, created_at },
    { session_id: met, type },
  );
  await client.put.contactNotes(
    { external_id: "n1", contact_id: ann, content: "call back", source: "mobile", created_at },
    { contact_id: gone, content: "left", source: "import" },
  );
  await client.post("/v1/contacts", { full_name: "By API", email: "api@example.com" });
  await client.post(`/v1/contacts/${ann}/notes`, { content: "appended" });
  return client;
}

async function documents(of: TestService, accountId: string): Promise<Record<string, unknown[]>> {
  const db = of.app.client.db();
  const entries = ["contacts", "sessions", "transcripts", "notes"].map(async (name) => {
    const all = await db.collection(name).find().sort({ _id: 1 }).toArray();
    const own = all.filter((document) => String(document["account_id"]) === accountId);
    // `version` counts changes, and what a session note was changed last is not shown anywhere.
    return [
      name,
      own.map(({ account_id: _account, version: _version, ...document }) =>
        document["kind"] === "session" ? { ...document, updated_at: undefined } : document,
      ),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test("an account that is exported, deleted and imported is the same, record by record, in the database too [ING-06, ING-07]", async () => {
  const client = await fullAccount();
  const stored = await documents(service(), client.id);
  const exported = await exportAll(service(), client.id);
  expect(exported.map((record) => Object.keys(record)[0])).toEqual([
    "contact",
    "contact",
    "contact",
    "contact",
    "contact",
    "session",
    "session",
    "transcript",
    "transcript",
    ...Array.from({ length: 5 }, () => expect.stringMatching(/^(session|contact)_note$/)),
  ]);
  expect(
    (await service().internalCall("records.admin.v1.AccountService/DeleteAccount", { account_id: client.id })).body
      .erased,
  ).toBe(true);
  const fresh = await newClient(service());
  expect(await exportAll(service(), fresh.id)).toEqual([]);
  const responses = await importAll(service(), { accountId: fresh.id, records: exported });
  expect(responses.at(-1)).toMatchObject({
    done: true,
    position: 14n,
    rejected: 0n,
    written: { contacts: 5n, sessions: 2n, transcripts: 2n, sessionNotes: 2n, contactNotes: 3n },
  });
  expect(await exportAll(service(), fresh.id)).toEqual(exported);
  expect(await documents(service(), fresh.id)).toEqual(stored);
  expect((await fresh.get("/v1/sessions?query=olstrom")).body.data).toMatchObject([{ title: "Kickoff" }]);
});

test("an import that is sent again writes no record twice, even records without names; under another name it does [ING-06]", async () => {
  const client = await newClient(service());
  const records: RecordJson[] = [
    { contact: { full_name: "No name 1" } },
    { contact: { full_name: "No name 2" } },
    { contact: { external_id: "e" } },
  ];
  const first = await importAll(service(), { accountId: client.id, importId: "file-1", records });
  expect(first.at(-1)).toMatchObject({ importId: "file-1", position: 3n, written: { contacts: 3n }, done: true });
  const before = await counts(service());
  const again = await importAll(service(), { accountId: client.id, importId: "file-1", records });
  expect(again[0]).toMatchObject({ position: 3n });
  expect(again.at(-1)).toMatchObject({ position: 3n, written: { contacts: 3n }, done: true });
  expect(await counts(service())).toEqual(before);
  // Records that were settled and not reported are sent again, and match themselves.
  await service()
    .app.client.db()
    .collection("imports")
    .updateMany({}, { $set: { position: 0 } });
  await importAll(service(), { accountId: client.id, importId: "file-1", records });
  expect(await counts(service())).toEqual(before);
  await importAll(service(), { accountId: client.id, importId: "file-2", records });
  expect(await counts(service())).toEqual({ ...before, contacts: (before["contacts"] ?? 0) + 2 });
});

test("a stream that is cut off resumes at the position in the first response [ING-06]", async () => {
  const client = await newClient(service());
  const records: RecordJson[] = Array.from({ length: 3_000 }, (_, at) => ({ session: { title: `Session ${at}` } }));
  const cut = new AbortController();
  await expect(async () => {
    const sending = messages({
      accountId: client.id,
      importId: "cut",
      records,
      between: (sent) => (sent >= 2_000 ? new Promise((resolve) => setTimeout(resolve, 400)) : undefined),
    });
    for await (const { position } of ingestClient(service()).import(sending, { signal: cut.signal }))
      if (position >= 1_000n) cut.abort();
  }).rejects.toThrow();
  const [begun] = await importAll(service(), { accountId: client.id, importId: "cut", records: [] });
  const position = Number(begun?.position);
  expect(position).toBeGreaterThanOrEqual(1_000);
  expect(position).toBeLessThan(3_000);
  const responses = await importAll(service(), {
    accountId: client.id,
    importId: "cut",
    position,
    records: records.slice(position),
  });
  expect(responses.at(-1)).toMatchObject({ position: 3_000n, written: { sessions: 3_000n }, rejected: 0n, done: true });
  expect((await exportAll(service(), client.id)).map(({ session }) => session?.["title"]).sort()).toEqual(
    records.map(({ session }) => session?.["title"]).sort(),
  );
});

test("two concurrent streams of one import, as after a cut that the service has not noticed, reject nothing and write nothing twice [ING-06]", async () => {
  const client = await newClient(service());
  const many = (kind: string, fields: (at: number) => object): RecordJson[] =>
    Array.from({ length: 200 }, (_, at) => ({ [kind]: { ...fields(at) } }));
  const records = [
    ...many("contact", (at) => ({ full_name: `Contact ${at}` })),
    ...many("session", (at) => ({ title: `Session ${at}` })),
    { contact: { external_id: "owner" } },
    ...many("contact_note", (at) => ({ contact_external_id: "owner", content: `Note ${at}`, source: "import" })),
  ];
  const both = await Promise.all(
    [1, 2, 3].map((chunk) =>
      importAll(service(), { accountId: client.id, importId: "both", records, chunk: chunk * 50 }),
    ),
  );
  expect(both.flat().flatMap(({ rejections }) => rejections)).toEqual([]);
  for (const responses of both) expect(responses.at(-1)).toMatchObject({ position: 601n, rejected: 0n, done: true });
  expect((await exportAll(service(), client.id)).length).toBe(601);
});

test("records that follow their owners are all written, even if a batch of one kind is full early [ING-06]", async () => {
  const client = await newClient(service());
  const records = Array.from({ length: 8 }, (_, at): RecordJson[] => [
    { contact: { external_id: `c${at}` } },
    { session: { external_id: `s${at}`, contact_external_id: `c${at}` } },
    { transcript: { session_external_id: `s${at}`, transcript: "long ".repeat(60_000) } },
  ]).flat();
  const responses = await importAll(service(), { accountId: client.id, records });
  expect(responses.flatMap(({ rejections }) => rejections)).toEqual([]);
  expect(responses.at(-1)).toMatchObject({
    done: true,
    rejected: 0n,
    written: { contacts: 8n, sessions: 8n, transcripts: 8n },
  });
});

test("an export of an account that is deleted meanwhile fails instead of ending as if it were complete [ING-07]", async () => {
  const client = await newClient(service());
  // Random, because compressed messages of a repeated text fit into the buffers of the connection, all 900.
  const records = Array.from({ length: 900 }, () => ({ contact: { notes: randomBytes(15_000).toString("base64") } }));
  await importAll(service(), { accountId: client.id, records });
  const responses = ingestClient(service()).export({ accountId: client.id })[Symbol.asyncIterator]();
  expect((await responses.next()).done).toBe(false);
  await service().internalCall("records.admin.v1.AccountService/DeleteAccount", { account_id: client.id });
  await expect(async () => {
    while ((await responses.next()).done !== true);
  }).rejects.toThrow("There is no such account. Check the id");
});

test("stores the last of consecutive records with the same id or external id [ING-06]", async () => {
  const client = await newClient(service());
  const id = randomId();
  const repeated = (kind: string, fields: object, text: string): RecordJson[] =>
    Array.from({ length: 60 }, (_, at) => ({ [kind]: { ...fields, [text]: `${text} ${at}` } }));
  const records = [
    ...repeated("contact", { external_id: "c" }, "full_name"),
    ...repeated("contact", { id }, "full_name"),
    ...repeated("session", { external_id: "s" }, "title"),
    ...repeated("session", { id }, "title"),
    ...repeated("contact_note", { id, contact_id: id, source: "import" }, "content"),
  ];
  const responses = await importAll(service(), { accountId: client.id, records });
  expect(responses.at(-1)).toMatchObject({ done: true, rejected: 0n });
  const last = (await exportAll(service(), client.id))
    .flatMap((record) => Object.values(record))
    .map(({ full_name, title, content }) => full_name ?? title ?? content);
  expect(last).toEqual(["full_name 59", "full_name 59", "title 59", "title 59", "content 59"]);
});

test("an export of large records has messages that every client accepts [ING-07]", async () => {
  const client = await newClient(service());
  const long = "long ".repeat(19_000);
  await client.put.contacts(
    ...Array.from({ length: 24 }, (_, at) => ({ full_name: `Contact ${at}`, notes: long, memory: long })),
  );
  const sizes: number[] = [];
  let records = 0;
  for await (const message of ingestClient(service()).export({ accountId: client.id })) {
    sizes.push(toBinary(ExportResponseSchema, message).length);
    records += message.records.length;
  }
  expect(records).toBe(24);
  expect(Math.max(...sizes)).toBeLessThan(4 * 1024 * 1024);
  expect(sizes.length).toBeGreaterThan(5);
});

test("an export may exceed the deadline of a request: each page has its own [ING-07]", async () => {
  const client = await fullAccount();
  const deadlineMs = 1_000;
  const newScope = () => readScope(uuid(client.id), deadlineIn(deadlineMs));
  async function slowly(scopeOfPage: typeof newScope): Promise<number> {
    let received = 0;
    for await (const { records } of createExport(service().app.client)(scopeOfPage)) {
      received += records.length;
      await sleep(deadlineMs + 50);
    }
    return received;
  }
  expect(await slowly(newScope)).toBe(14);
  const only = newScope();
  await expect(slowly(() => only)).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
});
