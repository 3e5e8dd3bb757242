// Stored contact, and the mapping of its fields to the messages.
import type { UUID } from "mongodb";
import type { FieldsOf, Stored } from "../db/fields.ts";
import { storedTexts } from "../db/fields.ts";
import type { StoredTerms } from "../db/search-fields.ts";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { Contact, CreateContactRequest, UpdateContactRequest } from "../gen/records/v1/contacts_pb.ts";

/**
 * The fields of a contact. A new field of the messages is added here, and is then written, read, exported and changed.
 */
export const contactFields = {
  texts: {
    fullName: "full_name",
    email: "email",
    phone: "phone",
    notes: "notes",
    memory: "memory",
    inferredName: "inferred_name",
  },
  times: { createdAt: "created_at", updatedAt: "updated_at", archivedAt: "archived_at" },
} as const satisfies FieldsOf<ContactItem, "id" | "externalId"> &
  FieldsOf<Contact, "id" | "notesTimeline" | "recentSessions" | "lastSessionDate"> &
  FieldsOf<CreateContactRequest, never> &
  FieldsOf<UpdateContactRequest, "contactId" | "updateMask">;

/** The texts of an empty contact, all null. */
export const noContactTexts = storedTexts(contactFields.texts, {});

/** The texts of a contact. */
export type ContactTexts = Stored<(typeof contactFields)["texts"], string | null>;

/** The changed texts of a contact. */
export type ContactChanges = Partial<ContactTexts>;

/** A stored contact. The fields of the search come last, and only active contacts have them. */
export interface ContactDocument extends ContactTexts, Partial<StoredTerms> {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
  /** A revision that changes with every write, so that a write based on an earlier read detects the conflict. */
  version: number;
  /** The email in lower case. Only active contacts have it, because only their emails are unique. */
  email_key?: string;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
  /** The sort key derived from `updated_at` and the id (`src/db/rank.ts`). */
  rank: number;
}
