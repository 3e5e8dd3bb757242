// The writes of the Fastify peer, which keep the service's promises: unique emails, no notes on archived contacts,
// current labels, and creates that happen exactly once.
import { createHash } from "node:crypto";
import type { ClientSession, Collection, Db, Filter } from "mongodb";
import { Binary, MongoServerError, UUID } from "mongodb";
import type { ContactDocument } from "../../../src/contacts/document.ts";
import { newContact } from "../../../src/contacts/write.ts";
import { newRevision } from "../../../src/db/conflicts.ts";
import type { NoteDocument } from "../../../src/notes/document.ts";
import { contactLabel, deriveNote } from "../../../src/notes/store.ts";
import type { ContactFields, WholeContact } from "./queries.ts";

/** A rejected write, with its HTTP status. */
export interface Rejected {
  readonly status: 404 | 409;
}

/** A stored response for repeated requests with the same key. */
interface KeptResponse {
  readonly _id: { readonly account_id: UUID; readonly key: string };
  readonly fingerprint: Binary;
  readonly contact_id: UUID;
  readonly body: string;
  readonly created_at: Date;
}

export interface KeyedCreate {
  readonly id: string;
  readonly body: string;
  readonly replayed: boolean;
}

/** A create with an idempotency key. `render` returns the body to store. */
export interface KeyedRequest {
  readonly account: UUID;
  readonly key: string;
  readonly fields: ContactFields;
  render(created: WholeContact): string;
}

/** The collection of stored responses. */
export const keptCollection = "bench_kept_responses";
const keptHours = 24;
const transactionOptions = {
  readConcern: { level: "majority" },
  writeConcern: { w: "majority", journal: true },
} as const;

export async function prepareKeptResponses(db: Db): Promise<void> {
  await db.collection(keptCollection).createIndex({ created_at: 1 }, { expireAfterSeconds: keptHours * 3_600 });
}

/** Inserts a contact. The unique index rejects an email that another active contact of the account has. */
export async function createUniqueContact(
  db: Db,
  account: UUID,
  fields: ContactFields,
): Promise<WholeContact | Rejected> {
  const contact = newContact(account, fields);
  try {
    await db.collection<ContactDocument>("contacts").insertOne(contact);
  } catch (error) {
    if (isDuplicate(error)) return { status: 409 };
    throw error;
  }
  return { contact, timeline: [], sessions: [] };
}

/** Creates a contact once per key. The transaction that inserts the contact also stores the response. */
export async function createContactOnce(db: Db, request: KeyedRequest): Promise<KeyedCreate | Rejected> {
  const kept = db.collection<KeptResponse>(keptCollection);
  const { account, key, fields } = request;
  const fingerprint = createHash("sha256")
    .update(`POST /v1/contacts ${JSON.stringify(fields)}`)
    .digest();
  const _id = { account_id: account, key };
  for (;;) {
    const contact = newContact(account, fields);
    const body = request.render({ contact, timeline: [], sessions: [] });
    const response = {
      _id,
      fingerprint: new Binary(fingerprint),
      contact_id: contact._id,
      body,
      created_at: new Date(),
    };
    try {
      await db.client.withSession((session) =>
        session.withTransaction(async () => {
          await kept.insertOne(response, { session });
          await db.collection<ContactDocument>("contacts").insertOne(contact, { session });
        }, transactionOptions),
      );
      return { id: contact._id.toHexString(), body, replayed: false };
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      const first = await keptResponse(kept, _id);
      // The key is unused, so the email is taken.
      if (first === "none") return { status: 409 };
      if (first === "expired") continue;
      if (Buffer.compare(first.fingerprint.buffer, fingerprint) !== 0) return { status: 409 };
      return { id: first.contact_id.toHexString(), body: first.body, replayed: true };
    }
  }
}

/** Appends a note. The write to the contact conflicts with a concurrent rename or archiving. */
export async function appendLabelledNote(
  db: Db,
  account_id: UUID,
  contactId: UUID,
  content: string,
): Promise<NoteDocument | Rejected> {
  const contacts = db.collection<ContactDocument>("contacts");
  const named = { _id: contactId, account_id };
  return db.client.withSession((session) =>
    session.withTransaction(async () => {
      const contact = await contacts.findOneAndUpdate(
        { ...named, archived_at: null },
        { $set: { version: newRevision() } },
        { session, projection: { full_name: 1, inferred_name: 1, email: 1 } },
      );
      if (contact === null) return (await exists(contacts, named, session)) ? { status: 409 } : { status: 404 };
      const note = newNote(contact, account_id, content);
      await db.collection<NoteDocument>("notes").insertOne(note, { session });
      return note;
    }, transactionOptions),
  );
}

/** A new note of a contact, labeled with its name. */
function newNote(
  contact: Pick<ContactDocument, "_id" | "full_name" | "inferred_name" | "email">,
  account_id: UUID,
  content: string,
): NoteDocument {
  const now = new Date();
  return deriveNote({
    ...{
      _id: new UUID(),
      account_id,
      kind: "contact" as const,
      parent_id: contact._id,
      label: contactLabel(contact),
      type: "user_manual",
    },
    title: null,
    title_slug: null,
    position: 0,
    content,
    source: "api",
    created_at: now,
    updated_at: now,
  });
}

async function exists(
  contacts: Collection<ContactDocument>,
  filter: Filter<ContactDocument>,
  session: ClientSession,
): Promise<boolean> {
  return (await contacts.findOne(filter, { session, projection: { _id: 1 } })) !== null;
}

/** The stored response of a key. Removes an expired one, because MongoDB only does so once a minute. */
async function keptResponse(
  kept: Collection<KeptResponse>,
  _id: KeptResponse["_id"],
): Promise<KeptResponse | "none" | "expired"> {
  const found = await kept.findOne({ _id });
  if (found === null) return "none";
  if (found.created_at.getTime() > Date.now() - keptHours * 3_600_000) return found;
  await kept.deleteOne({ _id, created_at: found.created_at });
  return "expired";
}

function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11_000;
}
