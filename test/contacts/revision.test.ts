// Revisions: two writes of one record never leave the same one, so that a write never mistakes another branch of
// history for what it read.
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();

/** A contact and a session of its own, and how to write each of them in every way that there is. */
async function setUp() {
  const client = await newClient(service());
  const contact = await client.put.contact({ external_id: "c", full_name: "Ann" });
  const session = await client.put.session({ external_id: "s", contact_id: contact, title: "One" });
  return { client, contact, session };
}

type Write = (client: Client, ids: { readonly contact: string; readonly session: string }) => Promise<unknown>;

const patch =
  (body: object): Write =>
  (client, { contact }) =>
    service().rest(`/v1/contacts/${contact}`, { method: "PATCH", key: client.key, body });
const ingest =
  (rpc: string, of: (ids: { readonly contact: string }) => object): Write =>
  (client, ids) =>
    service().internalCall(`records.ingest.v1.IngestService/${rpc}`, { account_id: client.id, ...of(ids) });

const writes: readonly (readonly [name: string, collection: "contacts" | "sessions", write: Write])[] = [
  ["PATCH of a phone", "contacts", patch({ phone: "1" })],
  ["PATCH of a name, with its copies", "contacts", patch({ full_name: "Bea" })],
  [
    "an appended note",
    "contacts",
    (client, { contact }) =>
      service().rest(`/v1/contacts/${contact}/notes`, { key: client.key, body: { content: "text" } }),
  ],
  ["an ingested contact", "contacts", (client) => client.put.contact({ external_id: "c", full_name: "Cleo" })],
  ["archiving", "contacts", ingest("ArchiveContacts", ({ contact }) => ({ contact_ids: [contact] }))],
  [
    "an ingested session of the contact",
    "contacts",
    (client, { contact }) => client.put.session({ external_id: "t", contact_id: contact }),
  ],
  ["an ingested session", "sessions", (client) => client.put.session({ external_id: "s", title: "Two" })],
  [
    "an ingested note of the session",
    "sessions",
    (client, { session }) =>
      client.put.sessionNotes({
        session_id: session,
        content: "text",
        type: "SESSION_NOTE_TYPE_USER_MANUAL",
        position: 0,
      }),
  ],
];

test.each(writes)(
  "%s leaves a different revision each time, although it starts from the same state [CON-01]",
  async (_name, collection, write) => {
    const { client, ...ids } = await setUp();
    const records = service().app.client.db().collection<{ _id: UUID; version: number }>(collection);
    const _id = new UUID(ids[collection === "contacts" ? "contact" : "session"]);
    const before = (await records.findOne({ _id })) ?? { version: 0 };
    const revisions: unknown[] = [before.version];
    for (let branch = 0; branch < 3; branch++) {
      await write(client, ids);
      revisions.push((await records.findOne({ _id }))?.version);
      // The other branch of history begins where this one did.
      await records.replaceOne({ _id }, before);
    }
    expect(new Set(revisions).size).toBe(4);
  },
);
