// Documents of a backup that a read could not represent: a restore rejects them, because one of them fails whole pages.
import { randomUUID } from "node:crypto";
import type { Document } from "mongodb";
import { BSON, Double, UUID } from "mongodb";
import { beforeAll, expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();
const kinds = ["contacts", "sessions", "transcripts", "notes"] as const;
type Kind = (typeof kinds)[number];

let client: Client;
/** The stored documents of an account with every kind of record. */
let stored: readonly (readonly [Kind, Document])[];

beforeAll(async () => {
  client = await newClient(service());
  const { put } = client;
  const contact_id = await put.contact({ full_name: "Ann Lee", email: "ann@example.org", external_id: "a-1" });
  const session_id = await put.session({ title: "Walk", contact_id, session_date: "0001-01-01T00:00:00Z" });
  await put.session({ title: "Undated" });
  const recording = { id: randomUUID(), duration_seconds: 1.5, recording_started_at: "9999-12-31T23:59:59.999Z" };
  await put.transcripts({ session_id, transcript: "Ann: hello", recording });
  await put.contactNotes({ contact_id, content: "Likes tea", source: "manual" });
  const type = "SESSION_NOTE_TYPE_AI_PREDEFINED";
  await put.sessionNotes({ session_id, title: "Decisions", content: "Friday", position: 0, type });
  const db = service().app.client.db();
  const account_id = UUID.createFromHexString(client.id);
  const found = await Promise.all(
    kinds.map(async (kind) =>
      (await db.collection(kind).find({ account_id }, { promoteValues: false }).toArray()).map(
        (document) => [kind, document] as const,
      ),
    ),
  );
  stored = found.flat();
});

/** Restores documents into a new account, with new ids. */
async function restore(documents: readonly (readonly [Kind, Document])[]) {
  const id = randomUUID();
  const account_id = UUID.createFromHexString(id);
  const sent = documents.map(([collection, document]) => ({
    collection,
    bson: Buffer.from(BSON.serialize({ ...document, account_id })).toString("base64"),
  }));
  const response = await service().internalCall("records.admin.v1.BackupService/RestoreDocuments", {
    backup_id: randomUUID(),
    account_id: id,
    documents: sent,
  });
  const db = service().app.client.db();
  const counts = await Promise.all(kinds.map((kind) => db.collection(kind).countDocuments({ account_id })));
  const isMarked = (await db.collection("restores").findOne({ _id: account_id as never })) !== null;
  return { ...response, written: counts.reduce((sum, count) => sum + count, 0), isMarked };
}

const renamed = (): (readonly [Kind, Document])[] =>
  stored.map(([kind, document]) => [kind, { ...document, _id: new UUID() }]);

test("documents of every kind of record are restored as they were stored [OPS-62]", async () => {
  const { status, written } = await restore(renamed());
  expect([status, written]).toEqual([200, 6]);
});

const outOfTime = "must be a time from the year 1 to 9999, with nanos from 0 to 999999999";
const otherType = "a value of another type";

test.each<[string, Kind, Document, string]>([
  ["a contact of the year 275760", "contacts", { created_at: new Date(8.64e15) }, `created_at ${outOfTime}`],
  ["a contact that was archived before the year 1", "contacts", { archived_at: new Date(-8e15) }, "archived_at must"],
  ["a contact whose name is a number", "contacts", { full_name: 42 }, "full_name must be a string"],
  ["a contact whose time is a text", "contacts", { created_at: "not a date" }, otherType],
  ["a contact with a number as external id", "contacts", { external_id: 1 }, "external_id must be a string"],
  ["a contact whose id is a text", "contacts", { _id: "an id" }, otherType],
  ["a session whose title is a document", "sessions", { title: {} }, "title must be a string"],
  ["a session whose contact is a text", "sessions", { contact_id: "an id" }, otherType],
  [
    "a session whose contact's name is a number",
    "sessions",
    { contact_id: new UUID(), client: { full_name: 1 } },
    "client.full_name must be a string",
  ],
  ["a note whose type is a number", "notes", { kind: "session", type: 7 }, otherType],
  [
    "a note at no whole position",
    "notes",
    { kind: "session", type: "ai_predefined", position: new Double(1.5) },
    "position must be a whole number",
  ],
  ["a note whose label is a number", "notes", { label: 1 }, "parent_label must be a string"],
  ["a transcript whose text is not compressed", "transcripts", { text: "Ann: hello" }, otherType],
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
])(
  "a restore rejects %s, names it, and writes nothing of its batch [OPS-62, ERR-07]",
  async (_what, kind, damage, problem) => {
    const documents = renamed();
    const at = documents.findIndex(([one]) => one === kind);
    const damaged: Document = { ...documents[at]?.[1], ...damage };
    documents[at] = [kind, damaged];
    const { status, body, written, isMarked } = await restore(documents);
    expect([status, body.code]).toEqual([400, "invalid_argument"]);
    expect(body.message).toContain(`documents[${at}]: must be readable, but ${String(damaged["_id"])} of ${kind} has `);
    expect(body.message).toContain(problem);
    expect([written, isMarked]).toEqual([0, false]);
  },
);
