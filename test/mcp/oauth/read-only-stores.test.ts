// An access token writes nothing: every write of the stores rejects its scope, and MongoDB gets no write.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { describe, expect, test } from "vitest";
import { factsOf } from "../../../src/guards/call.ts";
import { deadlineIn } from "../../../src/call/deadline.ts";
import { createContactStore } from "../../../src/contacts/store.ts";
import { fail } from "../../../src/call/errors.ts";
import type { ItemError } from "../../../src/gen/records/ingest/v1/items_pb.ts";
import { Reason } from "../../../src/gen/records/v1/errors_pb.ts";
import type { ImportResponse } from "../../../src/gen/records/ingest/v1/import_pb.ts";
import { ImportRequestSchema } from "../../../src/gen/records/ingest/v1/import_pb.ts";
import { DeleteRecordsRequestSchema, IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import type { Operator } from "../../../src/guards/internal.ts";
import { SessionService } from "../../../src/gen/records/v1/sessions_pb.ts";
import type { Scope, WriteScope } from "../../../src/call/scope.ts";
import { grantWrites, readScope } from "../../../src/call/scope.ts";
import { createNoteStore } from "../../../src/notes/store.ts";
import { createSessionStore } from "../../../src/sessions/store.ts";
import { writesIn } from "../../support/writes.ts";
import { statusOf, useAssistant, writesDuring } from "./assistant.ts";

const assistant = useAssistant();

/** Everything that a store holds, so that what monitoring might miss is seen. */
async function records(): Promise<string> {
  const { service } = assistant();
  const names = ["contacts", "sessions", "notes", "transcripts", "idempotency", "api_keys", "accounts", "switches"];
  return JSON.stringify(
    await Promise.all(names.map((name) => service.app.client.db().collection(name).find().sort({ _id: 1 }).toArray())),
  );
}

/** Every write of the stores and of ingest, with whatever scope. */
function storeWrites(scope: Scope): readonly (readonly [string, () => Promise<unknown>])[] {
  const { service, accountId, contact, session, active, archived, unwanted } = assistant();
  const write = scope as WriteScope;
  const { contacts, notes, upserts, setArchived } = service.app.services.records;
  const [contactId, sessionId] = [contact.toHexString(), session.toHexString()];
  const { contacts: contactService } = service.app.services;
  const contactFields = { full_name: "Bo", email: null, phone: null };
  return [
    ["contacts.create", () => contacts.create(write, contactFields)],
    ["contacts.update", () => contacts.update(write, contact, { phone: "1" })],
    [
      "contacts.update of a name",
      () => contacts.update(write, contact, { full_name: `Ann ${new UUID().toHexString()}` }),
    ],
    ["notes.append", () => notes.append(write, contact, "text", contacts.lock)],
    [
      "CreateContact",
      () => contactService.createContact({ $typeName: "records.v1.CreateContactRequest", fullName: "Bo" }, write),
    ],
    [
      "UpdateContact",
      () =>
        contactService.updateContact({ $typeName: "records.v1.UpdateContactRequest", contactId, phone: "1" }, write),
    ],
    [
      "AppendContactNote",
      () =>
        contactService.appendContactNote(
          { $typeName: "records.v1.AppendContactNoteRequest", contactId, content: "text" },
          write,
        ),
    ],
    [
      "UpsertContacts",
      () => upserts.contacts(write, [{ $typeName: "records.ingest.v1.ContactItem", fullName: "Bo" } as never]),
    ],
    ["ArchiveContacts", () => setArchived(write, [active], true)],
    ["RestoreContacts", () => setArchived(write, [archived], false)],
    [
      "UpsertSessions",
      () => upserts.sessions(write, [{ $typeName: "records.ingest.v1.SessionItem", title: "New" } as never]),
    ],
    [
      "PutTranscripts",
      () =>
        upserts.transcripts(write, [
          { $typeName: "records.ingest.v1.TranscriptItem", sessionId, transcript: "words" } as never,
        ]),
    ],
    [
      "UpsertSessionNotes",
      () =>
        upserts.session_notes(write, [
          { $typeName: "records.ingest.v1.SessionNoteItem", sessionId, content: "text", type: 1, position: 0 } as never,
        ]),
    ],
    [
      "UpsertContactNotes",
      () =>
        upserts.contact_notes(write, [
          { $typeName: "records.ingest.v1.ContactNoteItem", contactId, content: "text", source: "import" } as never,
        ]),
    ],
    [
      "DeleteRecords",
      () => deleteRecord(service, write, { accountId: accountId.toHexString(), contactIds: [unwanted] }),
    ],
    ["Import", () => importContact(service, write, accountId.toHexString())],
  ];
}

/** What an operator's rpc is granted, but for the right to write into the account. */
function operatorWith(scope: WriteScope): Operator {
  const caller = { requestId: "1", address: "192.0.2.1", token: "0" };
  return { kind: "operator", caller, deadline: () => scope.deadline, scopeFor: () => Promise.resolve(scope) };
}

async function deleteRecord(
  { app }: TestService,
  scope: WriteScope,
  request: MessageInitShape<typeof DeleteRecordsRequestSchema>,
): Promise<void> {
  const message = create(DeleteRecordsRequestSchema, request);
  const { results } = await app.services.ingest.deleteRecords(message, operatorWith(scope));
  for (const { error } of results) requireDone(error);
}

async function importContact({ app }: TestService, scope: WriteScope, accountId: string): Promise<void> {
  const record = { record: { case: "contact", value: { fullName: "Bo" } } } as const;
  async function* messages() {
    yield await Promise.resolve(create(ImportRequestSchema, { accountId, records: [record] }));
  }
  const stream = app.services.streams.get(IngestService.method.import);
  for await (const response of stream?.(messages(), operatorWith(scope)) ?? [])
    for (const { error } of (response as ImportResponse).rejections) requireDone(error);
}

/** Fails as the item did. */
function requireDone(error: ItemError | undefined): void {
  if (error?.reason === Reason.ACCESS_DENIED) fail(Reason.ACCESS_DENIED);
  if (error !== undefined) throw new Error(error.message);
}
const storeNames = [
  "contacts.create",
  "contacts.update",
  "contacts.update of a name",
  "notes.append",
  "CreateContact",
  "UpdateContact",
  "AppendContactNote",
  "UpsertContacts",
  "ArchiveContacts",
  "RestoreContacts",
  "UpsertSessions",
  "PutTranscripts",
  "UpsertSessionNotes",
  "UpsertContactNotes",
  "DeleteRecords",
  "Import",
];

/** What a token is granted. */
async function granted(): Promise<Scope> {
  const { access, inbound } = assistant();
  const facts = factsOf(SessionService.method.listSessions);
  const call = { ...facts, inbound };
  const scope = await access.policyOf(facts).grant(call, { kind: "nobody", sent: "nothing" }, () => deadlineIn(10_000));
  if (scope === undefined || !("unproven" in scope)) throw new Error("the access policy grants no scope");
  return scope;
}

describe("the store itself", () => {
  test("the list of writes is complete [MCP-12]", async () => {
    expect(storeWrites(await granted()).map(([name]) => name)).toEqual(storeNames);
    expect(writesIn("read-only stores").filter(({ rpc }) => !storeNames.includes(rpc.name))).toEqual([]);
  });

  test.each(storeNames)("%s with the scope of a token is 403, and MongoDB gets no write [MCP-12]", async (name) => {
    const before = await records();
    const scope = await granted();
    // A copy, or one that claims the right, is rejected too.
    for (const one of [
      scope,
      { ...scope, claim: undefined },
      Object.assign(Object.create(grantWrites(readScope(new UUID(), deadlineIn(10_000)))), scope) as Scope,
    ]) {
      const [, write] = storeWrites(one).find(([known]) => known === name) ?? [];
      const { writes, outcome } = await writesDuring(
        assistant(),
        () => write?.() ?? Promise.reject(new Error("no such write")),
      );
      expect([statusOf(outcome), writes]).toEqual([403, []]);
    }
    expect(await records()).toBe(before);
  });

  test.each(storeNames)("the harness detects %s with the right to write [MCP-12]", async (name) => {
    const [, write] =
      storeWrites(grantWrites(readScope(assistant().accountId, deadlineIn(10_000)))).find(
        ([known]) => known === name,
      ) ?? [];
    const { writes, outcome } = await writesDuring(
      assistant(),
      () => write?.() ?? Promise.reject(new Error("no such write")),
    );
    expect(statusOf(outcome)).toBe("done");
    expect(writes.length).toBeGreaterThan(0);
  });
});

/** Steps of a write, which only a write calls: the store alone does not reject them yet. */
describe("a step of a write that is called with the scope of a token", () => {
  const steps = ["locking a contact", "relabelling notes", "renaming the client of sessions"];
  test.each(steps)("%s is 403, and MongoDB gets no write [MCP-12]", async (name) => {
    const scope = (await granted()) as WriteScope;
    const { service, contact } = assistant();
    const { client } = service.app;
    const names = { full_name: "Eve", inferred_name: null, email: null };
    const { writes, outcome } = await writesDuring(assistant(), async () => {
      if (name === steps[0]) return createContactStore(client, () => Promise.resolve()).lock(scope, contact, {});
      if (name === steps[1]) return createNoteStore(client).relabel(scope, "contact", contact, "Eve", {});
      return createSessionStore(client).renameClient(scope, contact, names, {});
    });
    expect([statusOf(outcome), writes]).toEqual([403, []]);
  });
});
