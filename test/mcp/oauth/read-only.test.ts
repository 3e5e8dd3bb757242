// An access token writes nothing: every writing rpc and every write of the stores rejects its scope, and MongoDB hears
// of no write.
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { UUID } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deadlineIn } from "../../../src/deadline.ts";
import { createContactStore } from "../../../src/contacts/store.ts";
import { Failure } from "../../../src/errors.ts";
import { AccountService } from "../../../src/gen/records/admin/v1/accounts_pb.ts";
import { InterfaceService } from "../../../src/gen/records/admin/v1/interface_pb.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import { ApiKeyService } from "../../../src/gen/records/v1/api_keys_pb.ts";
import { ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import { NoteService } from "../../../src/gen/records/v1/notes_pb.ts";
import { SessionService } from "../../../src/gen/records/v1/sessions_pb.ts";
import { assistantAccessPolicy } from "../../../src/guards/assistant.ts";
import { localBucket } from "../../../src/guards/bucket.ts";
import { createRecognizer, lookUpSize } from "../../../src/guards/credentials.ts";
import { unlimited } from "../../../src/guards/capacity.ts";
import type { AssistantAccessPolicy } from "../../../src/guards/assistant.ts";
import type { AccessPolicy, Handler } from "../../../src/guards/chain.ts";
import { createDispatch } from "../../../src/guards/chain.ts";
import { createIdempotency } from "../../../src/guards/idempotency.ts";
import { createReservations } from "../../../src/guards/reservations.ts";
import type { Scope, WriteScope } from "../../../src/guards/scope.ts";
import { grantWrites, readScope } from "../../../src/guards/scope.ts";
import { createNoteStore } from "../../../src/notes/store.ts";
import type { Dispatch, Inbound } from "../../../src/rpc/dispatch.ts";
import { createSessionStore } from "../../../src/sessions/store.ts";
import { listenToMongo } from "../../../fixtures/databases/commands.ts";
import { ingestInto } from "../../../fixtures/clients/ingest.ts";
import type { TestService } from "../../../fixtures/service/service.ts";
import { writeRpcs } from "../../../fixtures/clients/operations.ts";
import { startService } from "../../../fixtures/service/service.ts";

let service: TestService;
let accountId: UUID;
let contact: UUID;
let session: UUID;
/** To be archived, and to be restored. */
let active: string;
let archived: string;
let accessPolicy: AssistantAccessPolicy;
let inbound: Inbound;

beforeAll(async () => {
  service = await startService();
  const account = await service.account();
  accountId = UUID.createFromHexString(account.id);
  const put = ingestInto(service, account.id);
  contact = UUID.createFromHexString(await put.contact({ full_name: "Ann Lee", email: "ann@example.com" }));
  [active = "", archived = ""] = await put.contacts({ full_name: "Active" }, { full_name: "Archived" });
  await put.archive(archived);
  session = UUID.createFromHexString(await put.session({ title: "Budget", contact_id: contact.toHexString() }));
  await put.contactNotes({ contact_id: contact.toHexString(), content: "before", source: "import" });
  const person = { issuer: "https://id.example", subject: "ann", name: "ann@example.com" };
  const facts = { ...person, accountId, authenticatedAt: undefined, sid: undefined, proof: undefined };
  accessPolicy = assistantAccessPolicy({
    throttle: () => Promise.resolve(),
    tokens: { identify: () => Promise.resolve(facts), verifies: () => Promise.resolve(true) },
    recognizers: (accountOfHolder) =>
      createRecognizer(
        {
          throttle: () => Promise.resolve(),
          lookUps: localBucket(lookUpSize),
          capacity: unlimited,
          onRejectedLookUp: () => undefined,
        },
        accountOfHolder,
      ),
    capacity: unlimited,
    switches: () => ({ publicInterface: true, writes: true }),
    requireFreshSwitches: () => undefined,
  });
  inbound = {
    header: (name) => (name === "authorization" ? "Bearer a-token" : undefined),
    address: "192.0.2.1",
    requestId: "1",
    arrivedAt: performance.now(),
  };
  await accessPolicy.enter(inbound);
});
afterAll(() => service.stop());

const writing = new Set([
  "insert",
  "update",
  "delete",
  "findAndModify",
  "bulkWrite",
  "create",
  "drop",
  "renameCollection",
  "createIndexes",
]);
/** The writes that MongoDB hears of during the work; an aggregation that ends in a collection is one as well. */
async function writesDuring(work: () => Promise<unknown>): Promise<{ writes: string[]; outcome: unknown }> {
  const heard = listenToMongo(service.app.client);
  const outcome = await work().catch((error: unknown) => error);
  const commands = heard.stop();
  return {
    writes: commands
      .filter(
        ({ name, command }) => writing.has(name) || /"\$(out|merge)"/.test(JSON.stringify(command["pipeline"] ?? [])),
      )
      .map(({ label }) => label),
    outcome,
  };
}
/** What came of it: the status of its failure, also where it is told item by item, or "done". */
function statusOf(outcome: unknown): number | string {
  const { failure } = (Array.isArray(outcome) ? (outcome as { failure?: unknown }[])[0] : undefined) ?? {
    failure: outcome,
  };
  if (failure instanceof Failure) return failure.kind.http;
  return failure instanceof Error ? failure.message : "done";
}
/** Everything that a store holds, so that what monitoring might miss is seen. */
async function records(): Promise<string> {
  const names = ["contacts", "sessions", "notes", "transcripts", "idempotency", "api_keys", "accounts", "switches"];
  return JSON.stringify(
    await Promise.all(names.map((name) => service.app.client.db().collection(name).find().sort({ _id: 1 }).toArray())),
  );
}

/** Every rpc there is; the handler reports what it was granted, and tries to write where it is a real one. */
const everyService = [
  ContactService,
  SessionService,
  NoteService,
  ApiKeyService,
  IngestService,
  AccountService,
  InterfaceService,
];
/** By hand: what reads. All else writes. */
const reads = [
  "SearchContacts",
  "GetContact",
  "ListSessions",
  "GetSession",
  "GetSessionTranscript",
  "SearchTranscripts",
  "SearchNotes",
  "GetApiKey",
  "GetAccount",
  "ListAccounts",
  "GetState",
  "ListChanges",
  "Export",
];
const everyRpc = everyService.flatMap(({ methods }) => methods as readonly DescMethodUnary[]);

function dispatchThrough(through: AccessPolicy, served: DescMethodUnary[]): Dispatch {
  const handlers = new Map<DescMethodUnary, Handler>(
    everyRpc.map((rpc) => [
      rpc,
      (message) => (served.push(rpc), Promise.resolve(create(rpc.output, {}) as Message & typeof message)),
    ]),
  );
  return createDispatch(
    through,
    handlers,
    createIdempotency(service.app.client.db(), createReservations(undefined), () => "{}"),
  );
}

describe("the assistant's access policy", () => {
  test.each(everyRpc.filter(({ name }) => !reads.includes(name)).map((rpc) => [rpc.name, rpc] as const))(
    "rejects %s with 403 before its service hears of it, with an idempotency key and without [MCP-12]",
    async (_name, rpc) => {
      for (const key of [undefined, "a-key"]) {
        const served: DescMethodUnary[] = [];
        const keyed: Inbound = {
          ...inbound,
          arrivedAt: performance.now(),
          header: (name) => (name === "idempotency-key" ? key : inbound.header(name)),
        };
        await accessPolicy.enter(keyed);
        const { writes, outcome } = await writesDuring(async () => {
          const admitted = await dispatchThrough(accessPolicy, served).admit(rpc, keyed);
          return admitted.invoke(create(rpc.input, {}) as Message);
        });
        expect([statusOf(outcome), writes, served]).toEqual([403, [], []]);
        expect((outcome as Error).message).toBe("Access denied: assistants can only read.");
      }
    },
  );

  test("lets the reads through: the harness detects it [MCP-12]", async () => {
    const served: DescMethodUnary[] = [];
    for (const rpc of everyRpc.filter(({ name }) => name === "ListSessions" || name === "GetState")) {
      await (await dispatchThrough(accessPolicy, served).admit(rpc, inbound)).invoke(create(rpc.input, {}) as Message);
    }
    expect(served.map(({ name }) => name)).toEqual(["ListSessions", "GetState"]);
  });

  test("lets in no request that did not enter with a token [MCP-12, MCP-13]", async () => {
    const rpc = SessionService.method.listSessions;
    await expect(dispatchThrough(accessPolicy, []).admit(rpc, { ...inbound })).rejects.toMatchObject({
      kind: { http: 401 },
    });
  });
});

/** Every write of the stores and of ingest, with whatever scope. */
function storeWrites(scope: Scope): readonly (readonly [string, () => Promise<unknown>])[] {
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
      "ingest of contacts",
      () => upserts.contacts(write, [{ $typeName: "records.ingest.v1.ContactItem", fullName: "Bo" } as never]),
    ],
    ["archiving", () => setArchived(write, [active], true)],
    ["restoring", () => setArchived(write, [archived], false)],
    [
      "ingest of sessions",
      () => upserts.sessions(write, [{ $typeName: "records.ingest.v1.SessionItem", title: "New" } as never]),
    ],
    [
      "ingest of transcripts",
      () =>
        upserts.transcripts(write, [
          { $typeName: "records.ingest.v1.TranscriptItem", sessionId, transcript: "words" } as never,
        ]),
    ],
    [
      "ingest of session notes",
      () =>
        upserts.session_notes(write, [
          { $typeName: "records.ingest.v1.SessionNoteItem", sessionId, content: "text", type: 1, position: 0 } as never,
        ]),
    ],
    [
      "ingest of contact notes",
      () =>
        upserts.contact_notes(write, [
          { $typeName: "records.ingest.v1.ContactNoteItem", contactId, content: "text", source: "import" } as never,
        ]),
    ],
  ];
}
const storeNames = [
  "contacts.create",
  "contacts.update",
  "contacts.update of a name",
  "notes.append",
  "CreateContact",
  "UpdateContact",
  "AppendContactNote",
  "ingest of contacts",
  "archiving",
  "restoring",
  "ingest of sessions",
  "ingest of transcripts",
  "ingest of session notes",
  "ingest of contact notes",
];

/** What a token is granted. */
async function granted(): Promise<Scope> {
  const rpc = SessionService.method.listSessions;
  const scope = await accessPolicy.grant(
    {
      rpc,
      rules: {} as never,
      writes: false,
      administers: false,
      itemwise: false,
      onBehalf: true,
      list: undefined,
      inbound,
    },
    { kind: "nobody", sent: false },
    () => deadlineIn(10_000),
  );
  if (scope === undefined || !("unproven" in scope)) throw new Error("the accessPolicy grants no scope");
  return scope;
}

describe("in the store itself", () => {
  test("the list of writes is whole [MCP-12]", async () => {
    expect(storeWrites(await granted()).map(([name]) => name)).toEqual(storeNames);
    expect(storeNames).toEqual(expect.arrayContaining([...writeRpcs]));
  });

  test.each(storeNames)("%s with the scope of a token is 403, and MongoDB hears of no write [MCP-12]", async (name) => {
    const before = await records();
    const scope = await granted();
    // Nor does a copy, or one that says it has the right.
    for (const one of [
      scope,
      { ...scope, claim: undefined },
      Object.assign(Object.create(grantWrites(readScope(new UUID(), deadlineIn(10_000)))), scope) as Scope,
    ]) {
      const [, write] = storeWrites(one).find(([known]) => known === name) ?? [];
      const { writes, outcome } = await writesDuring(() => write?.() ?? Promise.reject(new Error("no such write")));
      expect([statusOf(outcome), writes]).toEqual([403, []]);
    }
    expect(await records()).toBe(before);
  });

  test.each(storeNames)(
    "%s with the right to write is done, and is heard of: the harness detects it [MCP-12]",
    async (name) => {
      const [, write] =
        storeWrites(grantWrites(readScope(accountId, deadlineIn(10_000)))).find(([known]) => known === name) ?? [];
      const { writes, outcome } = await writesDuring(() => write?.() ?? Promise.reject(new Error("no such write")));
      expect(statusOf(outcome)).toBe("done");
      expect(writes.length).toBeGreaterThan(0);
    },
  );
});

/** Steps of a write, which only a write calls: the store alone does not reject them yet. */
describe("a step of a write, called by itself with the scope of a token", () => {
  const steps = ["locking a contact", "relabelling notes", "renaming the client of sessions"];
  test.each(steps)("%s is 403, and MongoDB hears of no write [MCP-12]", async (name) => {
    const scope = (await granted()) as WriteScope;
    const { client } = service.app;
    const names = { full_name: "Eve", inferred_name: null, email: null };
    const { writes, outcome } = await writesDuring(async () => {
      if (name === steps[0]) return createContactStore(client, () => Promise.resolve()).lock(scope, contact, {});
      if (name === steps[1]) return createNoteStore(client).relabel(scope, "contact", contact, "Eve", {});
      return createSessionStore(client).renameClient(scope, contact, names, {});
    });
    expect([statusOf(outcome), writes]).toEqual([403, []]);
  });
});

describe("a chain that forgets the assistant's guard", () => {
  /**
   * The chain turns any right to read into one to write where the rpc writes: the guard is all that is before it.
   */
  test("cannot turn the scope of a token into a right to write [MCP-12]", async () => {
    const forgetful: AccessPolicy = { ...accessPolicy, guards: () => [] };
    const { contacts } = service.app.services;
    const rpc = ContactService.method.createContact;
    const handlers = new Map<DescMethodUnary, Handler>([
      [rpc, (message, grant) => contacts.createContact(message as never, grant as WriteScope)],
    ]);
    const dispatch = createDispatch(
      forgetful,
      handlers,
      createIdempotency(service.app.client.db(), createReservations(undefined), () => "{}"),
    );
    const asked: Inbound = { ...inbound, arrivedAt: performance.now() };
    await accessPolicy.enter(asked);
    const { writes, outcome } = await writesDuring(async () =>
      (await dispatch.admit(rpc, asked)).invoke(create(rpc.input, { fullName: "Bo" })),
    );
    expect([statusOf(outcome), writes]).toEqual([403, []]);
  });
});
