// A contact in MongoDB, and which field of it is which field of the messages.
import type { UUID } from "mongodb";
import type { FieldsOf, Stored } from "../db/fields.ts";
import { storedTexts } from "../db/fields.ts";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { Contact, CreateContactRequest, UpdateContactRequest } from "../gen/records/v1/contacts_pb.ts";

/**
 * The fields of a contact: a new field of the messages is added here, and is then written, read, exported and changed.
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
  FieldsOf<Contact, "id" | "notesTimeline" | "recentSessions"> &
  FieldsOf<CreateContactRequest, never> &
  FieldsOf<UpdateContactRequest, "contactId" | "updateMask">;

/** The texts of a contact that has none. */
export const noContactTexts = storedTexts(contactFields.texts, {});

/** The texts of a contact. */
export type ContactTexts = Stored<(typeof contactFields)["texts"], string | null>;

/** Some texts of a contact. */
export type ContactChanges = Partial<ContactTexts>;

/** A contact as it is stored. `n` and `g` (see `src/search/terms.ts`) are last, and only an active one has them. */
export interface ContactDocument extends ContactTexts {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
  /** Changes with every write, so that a write based on what was read before notices it. */
  version: number;
  /** The email in lower case, while it has to be unique: for an active contact. */
  email_key?: string;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
  /** The rank of `updated_at`. */
  rank: number;
  n?: string;
  g?: string[];
}
