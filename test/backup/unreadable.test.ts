// Documents of a backup that a read could not represent: a restore rejects them, because one of them fails whole pages.
import { randomBytes, randomUUID } from "node:crypto";
import type { Document } from "mongodb";
import { BSON, Binary, BSONRegExp, Double, ObjectId, UUID } from "mongodb";
import { beforeAll, expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { useService } from "../support/client.ts";
import type { Stored } from "./backed-up.ts";
import { fillAccount, ofAccounts, renamed, restore, storedOf } from "./backed-up.ts";

const service = useService();

let client: Client;
let stored: readonly Stored[];

beforeAll(async () => {
  client = await fillAccount(service());
  stored = await storedOf(service(), client.id);
});

/** Returns how many documents of an account there are, and whether a restore of it has begun. */
async function writtenTo(accountId: string): Promise<readonly [documents: number, isMarked: boolean]> {
  const found = await storedOf(service(), accountId);
  const _id = UUID.createFromHexString(accountId) as never;
  return [found.length, (await service().app.client.db().collection("restores").findOne({ _id })) !== null];
}

test("every document of an account is restored as it was stored [OPS-62]", async () => {
  const { id, documents } = renamed(stored);
  expect(new Set(documents.map(([name]) => name))).toEqual(new Set(ofAccounts));
  expect((await restore(service(), id, documents, { checkOnly: true })).status).toBe(200);
  expect(await writtenTo(id)).toEqual([0, false]);
  expect((await restore(service(), id, documents)).status).toBe(200);
  const sorted = (all: readonly Stored[]) => all.map((one) => BSON.EJSON.stringify(one, { relaxed: false })).sort();
  expect(sorted(await storedOf(service(), id))).toEqual(sorted(documents));
});

const outOfTime = "must be a time from the year 1 to 9999";

test.each<[string, string, Document, string]>([
  ["a contact of the year 275760", "contacts", { created_at: new Date(8.64e15) }, `created_at ${outOfTime}`],
  ["a contact that was archived before the year 1", "contacts", { archived_at: new Date(-8e15) }, "archived_at must"],
  ["a contact whose name is a number", "contacts", { full_name: 42 }, "full_name must be a string"],
  [
    "a contact whose time is a text",
    "contacts",
    { created_at: "not a date" },
    "created_at must be a time from the year 1 to 9999",
  ],
  ["a contact with a number as external id", "contacts", { external_id: 1 }, "external_id must be a string"],
  ["a contact whose id is a text", "contacts", { _id: "an id" }, "_id must be a UUID"],
  ["a session whose title is a document", "sessions", { title: {} }, "title must be a string"],
  ["a session whose contact is a text", "sessions", { contact_id: "an id" }, "contact_id must be a UUID"],
  [
    "a session whose contact's name is a number",
    "sessions",
    { contact_id: new UUID(), client: { full_name: 1 } },
    "client.full_name must be a string",
  ],
  [
    "a note whose type is a number",
    "notes",
    { kind: "session", type: 7 },
    "type must be one of user_manual, ai_meeting",
  ],
  ["a note of an unknown type", "notes", { kind: "session", type: "unspecified" }, "ai_assistant, reader_comment"],
  [
    "a note at no whole position",
    "notes",
    { kind: "session", type: "ai_predefined", position: new Double(1.5) },
    "position must be a whole number",
  ],
  ["a note whose label is a number", "notes", { label: 1 }, "label must be a string"],
  ["a transcript whose text is not compressed", "transcripts", { text: "Ann: hello" }, "text must be a document"],
  [
    "a transcript whose recording began in no year",
    "transcripts",
    {
      recording: {
        id: new UUID(),
        duration_seconds: null,
        recording_started_at: new Date(8.64e15),
        recording_ended_at: null,
      },
    },
    `recording.recording_started_at ${outOfTime}`,
  ],
  ["an account whose email is a number", "accounts", { email: 5 }, "email must be a string"],
  ["an account without its creation", "accounts", { created_at: null }, "created_at must be a time"],
  ["an account whose enrolment is a text", "accounts", { beta_enrolled: "yes" }, "beta_enrolled must be true or false"],
  ["an account with a number as suspension", "accounts", { suspension: 5 }, "suspension must be a document"],
  [
    "an account with a text as identities",
    "accounts",
    { identities: "abc" },
    "identities must be a list and not empty",
  ],
  [
    "an account whose issuer is a number",
    "accounts",
    { identities: [{ issuer: 5, subject: "s" }] },
    "identities[0].issuer must be a string",
  ],
  ["an account with an operator as email key", "accounts", { email_key: { $gt: "" } }, "email_key must be a string"],
  [
    "an account with an expression as email key",
    "accounts",
    { email_key: new BSONRegExp(".") },
    "email_key must be a string",
  ],
  ["an account whose email key is another email", "accounts", { email_key: "b@example.com" }, "email_key must be the"],
  ["a contact whose email key is another email", "contacts", { email_key: "b@example.com" }, "email_key must be the"],
  ["a contact with an operator as id", "contacts", { _id: { $gt: 0 } }, "_id must be a UUID"],
  ["a contact with a field that a proof could have", "contacts", { "~proof": 1 }, "must have fields whose names"],
  ["a contact with an operator in a field", "contacts", { later: { $set: 1 } }, "later must have fields whose names"],
  ["a contact with the mark of a BSON type", "contacts", { "~bsontype": "Long" }, "must have fields whose names"],
  [
    "an audit entry with the mark of a BSON type deep in a field",
    "audit_log",
    { later: [{ a: { "~bsontype": { b: 1 } } }] },
    "later[0].a must have fields whose names",
  ],
  [
    "an account with the mark of a BSON type in an identity",
    "accounts",
    { identities: [{ issuer: "i", subject: "s", "~bsontype": "ObjectId" }] },
    "identities[0]",
  ],
  ["an import with the mark of a BSON type in its id", "imports", { _id: { "~bsontype": "Binary" } }, "_id must"],
  ["a key whose id is no hash", "api_keys", { _id: new Binary(Buffer.alloc(31)) }, "_id must be the SHA-256"],
  ["a key with an unknown access", "api_keys", { access: "all" }, "access must be one of read_write, read_only"],
  ["a key that is neither active nor revoked", "api_keys", { active: undefined }, "either active or revoked"],
  ["an audit entry whose event is a number", "audit_log", { event: 5 }, "event must be a string"],
  ["an audit entry whose id is an ObjectId", "audit_log", { _id: new ObjectId() }, "_id must be a UUID"],
  ["an import without an id of its own", "imports", { _id: new UUID() }, "_id must be a document"],
  ["an import at a negative position", "imports", { position: -1 }, "position must be a whole number from 0"],
  ["an import with damaged rejections", "imports", { unacknowledged: new Binary(Buffer.from("x")) }, "a read fails"],
  [
    "a transcript whose text is damaged",
    "transcripts",
    { text: { blocks: new Binary(Buffer.from("hello")), size: 5, crc: 1 } },
    "a read fails",
  ],
])(
  "a restore rejects %s, names it, and writes nothing of its batch [OPS-62, ERR-07]",
  async (_what, collection, damage, problem) => {
    const { id, documents } = renamed(stored);
    const at = documents.findIndex(([one]) => one === collection);
    const damaged: Document = { ...documents[at]?.[1], ...damage };
    documents[at] = [collection, damaged];
    for (const checkOnly of [true, false]) {
      const { status, body } = await restore(service(), id, documents, { checkOnly });
      expect([status, body.code]).toEqual([400, "invalid_argument"]);
      expect(body.message).toContain(`documents[${at}]: must be readable, but `);
      expect(body.message).toContain(problem);
    }
    expect(await writtenTo(id)).toEqual([0, false]);
  },
);

test("a restore rejects documents larger than the service stores, whose pages would exceed the memory [OPS-62]", async () => {
  const memory = "m".repeat(2 * 2 ** 20);
  const { id, documents } = renamed(stored);
  const at = documents.findIndex(([one]) => one === "contacts");
  documents[at] = ["contacts", { ...documents[at]?.[1], memory }];
  for (const checkOnly of [true, false]) {
    const { status, body } = await restore(service(), id, documents, { checkOnly });
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining(`documents[${at}]: must be a document in BSON, of at most 2 MiB`),
    ]);
  }
  expect(await writtenTo(id)).toEqual([0, false]);
});

test("a restore rejects two keys with one id, by which an operator could revoke neither [OPS-62]", async () => {
  const { id, documents } = renamed(stored);
  const at = documents.findIndex(([one]) => one === "api_keys");
  const revoked = {
    ...documents[at]?.[1],
    _id: new Binary(randomBytes(32)),
    active: undefined,
    revoked_at: new Date(),
  };
  documents.splice(at, 0, ["api_keys", revoked]);
  const { status, body } = await restore(service(), id, documents, { checkOnly: true });
  expect([status, body.message]).toEqual([400, expect.stringContaining("must not have a value that another document")]);
});

test("a restore of the service rejects ends and changes that no read could return [OPS-62, ERR-07]", async () => {
  const ended_at = new Date();
  const subject = randomUUID();
  const never = new Date("9999-01-01");
  const change = { switch: "writes", enabled: true, reason: "", changed_at: ended_at, address: "", token: "" };
  const cases: readonly (readonly [string, Document, string])[] = [
    ["ended_sessions", { _id: { issuer: "i", subject }, ended_at: "x" }, "ended_at must be a time that has passed"],
    ["ended_sessions", { _id: { subject, issuer: "i" }, ended_at }, "_id must be a user, a session, or a user"],
    ["ended_sessions", { _id: { issuer: "i", subject, sid: "s" }, ended_at }, "_id must be a user, a session"],
    [
      "ended_sessions",
      { _id: { issuer: "i", subject }, ended_at, later_than: never },
      "later_than must be a time that has",
    ],
    ["switch_changes", { _id: "x", at: "y" }, "_id must be an ObjectId"],
    ["switch_changes", { _id: new ObjectId(), ...change }, "request_id must be a string"],
    ["switch_changes", { _id: new ObjectId(), ...change, request_id: "", switch: 1 }, "switch must be one of"],
    ["accounts", { _id: new UUID() }, "must belong to a collection that backups contain"],
  ];
  const counted = () =>
    Promise.all(
      ["ended_sessions", "switch_changes"].map((name) => service().app.client.db().collection(name).countDocuments()),
    );
  const before = await counted();
  for (const [collection, document, problem] of cases)
    for (const checkOnly of [true, false]) {
      const { status, body } = await restore(service(), "", [[collection, document]], { checkOnly });
      expect([status, body.message]).toEqual([400, expect.stringContaining(problem)]);
    }
  expect(await counted()).toEqual(before);
});

test("a restore rejects documents that name those of another account, and changes nothing there [OPS-62]", async () => {
  const other = await fillAccount(service());
  const theirs = await storedOf(service(), other.id);
  const of = (name: string) => theirs.find(([one]) => one === name)?.[1] ?? {};
  const cases: readonly (readonly [string, Document, string])[] = [
    ["imports", { _id: of("imports")["_id"] }, "_id.account_id must be the account of the import"],
    ["transcripts", { _id: of("sessions")["_id"] }, "another account, here of sessions"],
    ["notes", { parent_id: of("contacts")["_id"], kind: "contact" }, "another account, here of contacts"],
    ["notes", { parent_id: of("sessions")["_id"], kind: "session" }, "another account, here of sessions"],
    ["sessions", { contact_id: of("contacts")["_id"] }, "another account, here of contacts"],
    ["contacts", { _id: of("contacts")["_id"] }, "another account, here of contacts"],
    ["api_keys", { _id: of("api_keys")["_id"] }, "another account, here of api_keys"],
    ["api_keys", { key_id: of("api_keys")["key_id"] }, "another account, here of api_keys"],
    ["audit_log", { _id: of("audit_log")["_id"] }, "another account, here of audit_log"],
    ["accounts", { _id: of("accounts")["_id"] }, "must belong to the account being restored"],
    ["contacts", { account_id: of("accounts")["_id"] }, "must belong to the account being restored"],
  ];
  for (const [collection, foreign, problem] of cases) {
    const { id, documents } = renamed(stored);
    const at = documents.findIndex(([one]) => one === collection);
    documents[at] = [collection, { ...documents[at]?.[1], ...foreign }];
    for (const checkOnly of [true, false]) {
      const { status, body } = await restore(service(), id, documents, { checkOnly });
      expect([collection, status, body.message]).toEqual([collection, 400, expect.stringContaining(problem)]);
    }
    expect(await writtenTo(id)).toEqual([0, false]);
  }
  expect(await storedOf(service(), other.id)).toEqual(theirs);
});

test("a restore rejects an active key without its account, or with another state of suspension [OPS-62]", async () => {
  const { id, documents } = renamed(stored);
  const suspension = { at: new Date(), reason: "a reason", token: "12345678" };
  const suspended = documents.map(([name, one]): Stored => [name, name === "accounts" ? { ...one, suspension } : one]);
  for (const [sent, problem] of [
    [documents.slice(0, -1), "must come with the document of the account"],
    [suspended, "must be suspended exactly if its account is"],
    [[...documents, ...documents.slice(-1)], "must be the only account"],
  ] as const) {
    const { status, body } = await restore(service(), id, sent);
    expect([status, body.message]).toEqual([400, expect.stringContaining(problem)]);
  }
  expect(await writtenTo(id)).toEqual([0, false]);
});
