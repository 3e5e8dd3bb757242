// The writes of the peers, handwritten over the service's documents.
import type { Db } from "mongodb";
import { UUID } from "mongodb";
import type { ContactDocument } from "../../../src/contacts/document.ts";
import { noContactTexts } from "../../../src/contacts/document.ts";
import { newContact } from "../../../src/contacts/write.ts";
import type { NoteDocument } from "../../../src/notes/document.ts";
import { contactLabel, deriveNote } from "../../../src/notes/store.ts";
import type { ContactFields, WholeContact } from "./queries.ts";

/** Inserts a contact with its search terms. */
export async function createContact(db: Db, accountId: UUID, fields: ContactFields): Promise<WholeContact> {
  const contact = newContact(accountId, fields);
  await db.collection<ContactDocument>("contacts").insertOne(contact);
  return { contact, timeline: [], sessions: [] };
}

/** The collection of contacts without search terms. */
export const bareCollection = "bench_bare";

/** Inserts a contact without search terms into a collection with only the _id index. */
export async function createBareContact(db: Db, accountId: UUID, fields: ContactFields): Promise<WholeContact> {
  const now = new Date();
  const contact: ContactDocument = {
    ...{
      _id: new UUID(),
      account_id: accountId,
      version: 1,
      ...noContactTexts,
      ...fields,
    },
    created_at: now,
    updated_at: now,
    archived_at: null,
    rank: 0,
  };
  await db.collection<ContactDocument>(bareCollection).insertOne(contact);
  return { contact, timeline: [], sessions: [] };
}

/** Inserts a note of a contact, or returns null unless the contact exists and is active. */
export async function appendNote(
  db: Db,
  account_id: UUID,
  contactId: UUID,
  content: string,
): Promise<NoteDocument | null> {
  const contact = await db
    .collection<ContactDocument>("contacts")
    .findOne(
      { _id: contactId, account_id, archived_at: null },
      { projection: { full_name: 1, inferred_name: 1, email: 1 } },
    );
  if (contact === null) return null;
  const note = newNote(contact, account_id, content);
  await db.collection<NoteDocument>("notes").insertOne(note);
  return note;
}

/** A new note of a contact, labeled with its name. */
export function newNote(
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
