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
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../../../src/gen/records/ingest/v1/items_pb.ts";
import {
  AppendContactNoteRequestSchema,
  CreateContactRequestSchema,
  UpdateContactRequestSchema,
} from "../../../src/gen/records/v1/contacts_pb.ts";
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
import type { Assistant } from "./assistant.ts";
import { statusOf, useAssistant, writesDuring } from "./assistant.ts";

const assistant = useAssistant();

/** Everything that a store holds, so that what monitoring might miss is seen. */
async function stored(): Promise<string> {
  const { service } = assistant();
  const names = ["contacts", "sessions", "notes", "transcripts", "idempotency", "api_keys", "accounts", "switches"];
  return JSON.stringify(
    await Promise.all(names.map((name) => service.app.client.db().collection(name).find().sort({ _id: 1 }).toArray())),
  );
}

/** A write with whatever scope. */
type Write = (scope: WriteScope, of: Assistant) => Promise<unknown>;

const contactFields = { full_name: "Bo", email: null, phone: null };
const records = ({ service }: Assistant) => service.app.services.records;
const contactService = ({ service }: Assistant) => service.app.services.contacts;

/** Every write of the stores and of ingest, by name. */
const storeWrites: Readonly<Record<string, Write>> = {
  "contacts.create": (scope, of) => records(of).contacts.create(scope, contactFields),
  "contacts.update": (scope, of) => records(of).contacts.update(scope, of.contact, { phone: "1" }),
  "contacts.update of a name": (scope, of) => records(of).contacts.update(scope, of.contact, { full_name: "Eve" }),
  "notes.append": (scope, of) => records(of).notes.append(scope, of.contact, "text", records(of).contacts.lock),
  CreateContact: (scope, of) =>
    contactService(of).createContact(create(CreateContactRequestSchema, { fullName: "Bo" }), scope),
  UpdateContact: (scope, of) =>
    contactService(of).updateContact(
      create(UpdateContactRequestSchema, { contactId: of.contact.toHexString(), phone: "1" }),
      scope,
    ),
  AppendContactNote: (scope, of) =>
    contactService(of).appendContactNote(
      create(AppendContactNoteRequestSchema, { contactId: of.contact.toHexString(), content: "text" }),
      scope,
    ),
  UpsertContacts: (scope, of) => records(of).upserts.contacts(scope, [create(ContactItemSchema, { fullName: "Bo" })]),
  ArchiveContacts: (scope, of) => records(of).setArchived(scope, [of.active], true),
  RestoreContacts: (scope, of) => records(of).setArchived(scope, [of.archived], false),
  UpsertSessions: (scope, of) => records(of).upserts.sessions(scope, [create(SessionItemSchema, { title: "New" })]),
  PutTranscripts: (scope, of) =>
    records(of).upserts.transcripts(scope, [
      create(TranscriptItemSchema, { sessionId: of.session.toHexString(), transcript: "words" }),
    ]),
  UpsertSessionNotes: (scope, of) =>
    records(of).upserts.session_notes(scope, [
      create(SessionNoteItemSchema, { sessionId: of.session.toHexString(), content: "text", type: 1, position: 0 }),
    ]),
  UpsertContactNotes: (scope, of) =>
    records(of).upserts.contact_notes(scope, [
      create(ContactNoteItemSchema, { contactId: of.contact.toHexString(), content: "text", source: "import" }),
    ]),
  DeleteRecords: (scope, of) =>
    deleteRecord(of.service, scope, { accountId: of.accountId.toHexString(), contactIds: [of.unwanted] }),
  Import: (scope, of) => importContact(of.service, scope, of.accountId.toHexString()),
};

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
async function granted(): Promise<Scope> {
  const { access, inbound } = assistant();
  const facts = factsOf(SessionService.method.listSessions);
  const call = { ...facts, inbound };
  const scope = await access.policyOf(facts).grant(call, { kind: "nobody", sent: "nothing" }, () => deadlineIn(10_000));
  if (scope === undefined || !("unproven" in scope)) throw new Error("the access policy grants no scope");
  return scope;
}

test("the list has every write of the descriptors [MCP-12]", () => {
  expect(writesIn("read-only stores").filter(({ rpc }) => !(rpc.name in storeWrites))).toEqual([]);
});

test.each(Object.entries(storeWrites))(
  "%s with the scope of a token is 403, and MongoDB gets no write [MCP-12]",
  async (_name, write) => {
    const before = await stored();
    const scope = await granted();
    // A copy, or one that claims the right, is rejected too.
    for (const one of [
      scope,
      { ...scope, claim: undefined },
      Object.assign(Object.create(grantWrites(readScope(new UUID(), deadlineIn(10_000)))), scope) as Scope,
    ]) {
      const { writes, outcome } = await writesDuring(assistant(), () => write(one as WriteScope, assistant()));
      expect([statusOf(outcome), writes]).toEqual([403, []]);
    }
    expect(await stored()).toBe(before);
  },
);

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
