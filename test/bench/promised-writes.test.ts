// Tests that the writes of the Fastify peer keep the promises that the bench's table names.
import { randomUUID } from "node:crypto";
import { MongoClient, UUID } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { appendLabelledNote, createContactOnce, createUniqueContact, keptCollection } from "./peers/promised-writes.ts";
import type { TestDatabase } from "../fixtures/databases/database.ts";
import { createDatabase } from "../fixtures/databases/database.ts";
import { ensureIndexes } from "../../src/db/indexes.ts";
import { allCollections } from "../../src/app/services.ts";

let database: TestDatabase;
let client: MongoClient;
beforeAll(async () => {
  database = await createDatabase(inject("administratorUri"));
  client = await MongoClient.connect(database.uri);
  await ensureIndexes(client.db(), allCollections);
});
afterAll(async () => {
  await client.close();
  await database.drop();
});

const fieldsOf = (email: string) => ({ full_name: "Ann Lee", email, phone: null });
const contactsOf = (account_id: UUID) => client.db().collection("contacts").countDocuments({ account_id });
function createOnce(account: UUID, key: string, email: string) {
  return createContactOnce(client.db(), {
    account,
    key,
    fields: fieldsOf(email),
    render: ({ contact }) => JSON.stringify({ id: contact._id.toHexString() }),
  });
}

test("rejects a second contact with the same email with 409", async () => {
  const account = new UUID();
  expect(await createUniqueContact(client.db(), account, fieldsOf("ann@example.com"))).toHaveProperty("contact");
  expect(await createUniqueContact(client.db(), account, fieldsOf("Ann@example.com"))).toEqual({ status: 409 });
  expect(await createOnce(account, "key", "ann@example.com")).toEqual({ status: 409 });
  expect(await contactsOf(account)).toBe(1);
});

test("ten concurrent creates with one key write one contact and return the same response", async () => {
  const account = new UUID();
  const created = await Promise.all(Array.from({ length: 10 }, () => createOnce(account, "key", "ann@example.com")));
  expect(new Set(created.map((one) => "body" in one && one.body)).size).toBe(1);
  expect(created.filter((one) => "replayed" in one && one.replayed)).toHaveLength(9);
  expect(await contactsOf(account)).toBe(1);
});

test("a key reused for another request is 409, and can be used again after 24 hours", async () => {
  const account = new UUID();
  await createOnce(account, "key", "ann@example.com");
  expect(await createOnce(account, "key", "bob@example.com")).toEqual({ status: 409 });
  const dayAgo = new Date(Date.now() - 24 * 3_600_000);
  await client
    .db()
    .collection(keptCollection)
    .updateMany({ "_id.account_id": account }, { $set: { created_at: dayAgo } });
  expect(await createOnce(account, "key", "bob@example.com")).toMatchObject({ replayed: false });
  expect(await contactsOf(account)).toBe(2);
});

test("a note gets the contact's current name; an archived contact gets 409 and an unknown one 404", async () => {
  const account = new UUID();
  const created = await createUniqueContact(client.db(), account, fieldsOf(`${randomUUID()}@example.com`));
  const { _id } = (created as Extract<typeof created, { contact: unknown }>).contact;
  const contacts = client.db().collection<{ _id: UUID }>("contacts");
  await contacts.updateOne({ _id }, { $set: { full_name: "Ann Ray" } });
  expect(await appendLabelledNote(client.db(), account, _id, "milk")).toMatchObject({ label: "Ann Ray" });
  await contacts.updateOne({ _id }, { $set: { archived_at: new Date() } });
  expect(await appendLabelledNote(client.db(), account, _id, "milk")).toEqual({ status: 409 });
  expect(await appendLabelledNote(client.db(), account, new UUID(), "milk")).toEqual({ status: 404 });
});
