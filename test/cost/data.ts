// Fills accounts of any size directly in the database, with the search terms that the service would store.
import type { MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { withDerivedFields, newContact } from "../../src/contacts/write.ts";
import { deriveNote } from "../../src/notes/store.ts";
import { deriveSession } from "../../src/sessions/store.ts";

const day = 86_400_000;
const batch = 2_000;

/** The number of records of an account. */
export interface AccountSize {
  readonly contacts: number;
  readonly sessions: number;
  readonly notes: number;
}

/**
 * Fills an account. Every name, title and note contains the word "every", every tenth "tenth", and three of them
 * "rarely". Number 0 is the newest.
 */
export async function fill(
  client: MongoClient,
  accountId: string,
  { contacts, sessions, notes }: AccountSize,
): Promise<{ contactIds: UUID[]; sessionIds: UUID[] }> {
  const account_id = new UUID(accountId);
  const now = Date.now();
  const often = (at: number): string =>
    `every ${at % 10 === 0 ? "tenth" : "other"}${at >= 7 && at < 10 ? " rarely" : ""} internationalisation${at}`;
  const contactDocuments = Array.from({ length: contacts }, (_, at) => {
    const made = newContact(account_id, {
      full_name: `${often(at)} Ann${at}`,
      email: `a${at}@example.com`,
      phone: `+49 30 ${1_000_000 + at}`,
    });
    return withDerivedFields({ ...made, updated_at: new Date(now - at * 1_000) });
  });
  const contactIds = contactDocuments.map(({ _id }) => _id);
  const sessionDocuments = Array.from({ length: sessions }, (_, at) => {
    const contact = contactDocuments[at % 10];
    return deriveSession({
      _id: new UUID(),
      account_id,
      version: 1,
      contact_id: contact?._id ?? null,
      client: contact === undefined ? null : { full_name: "Ann", inferred_name: null, email: contact.email },
      ...{
        title: `${often(at)} meeting`,
        subtitle: null,
        session_date: new Date(now - day - at * 60_000),
        session_date_end: null,
      },
      ...{
        recording_status: null,
        source: null,
        conference_provider: null,
        conference_url: null,
        provider_doc_url: null,
      },
      created_at: new Date(now),
      updated_at: new Date(now),
    });
  });
  const noteDocuments = Array.from({ length: notes }, (_, at) =>
    deriveNote({
      ...{
        _id: new UUID(),
        account_id,
        kind: "contact" as const,
        parent_id: contactIds[at % Math.max(1, contacts)] ?? new UUID(),
        label: "Ann",
      },
      ...{
        type: "user_manual",
        title: null,
        title_slug: null,
        position: 0,
        content: `${often(at)} budget`,
        source: "api",
      },
      created_at: new Date(now - at * 1_000),
      updated_at: new Date(now),
    }),
  );
  await insert(client, "contacts", contactDocuments);
  await insert(client, "sessions", sessionDocuments);
  await insert(client, "notes", noteDocuments);
  return { contactIds, sessionIds: sessionDocuments.map(({ _id }) => _id) };
}

/** Fills an account with contacts that are alternately named "every" and "1". The latter have a phone of ones. */
export async function fillWithOnes(client: MongoClient, accountId: string, contacts: number): Promise<void> {
  const account_id = new UUID(accountId);
  const now = Date.now();
  const documents = Array.from({ length: contacts }, (_, at) => {
    const fields = at % 2 === 0 ? { full_name: "every" } : { full_name: "1", phone: "1".repeat(49) };
    return withDerivedFields({ ...newContact(account_id, fields), updated_at: new Date(now - at * 1_000) });
  });
  await insert(client, "contacts", documents);
}

async function insert(client: MongoClient, collection: string, documents: readonly object[]): Promise<void> {
  for (let at = 0; at < documents.length; at += batch) {
    await client
      .db()
      .collection(collection)
      .insertMany(documents.slice(at, at + batch), { ordered: false });
  }
}
