// Stored note, and the mapping of its fields to the messages.
import type { UUID } from "mongodb";
import type { FieldsOf, Stored } from "../db/fields.ts";
import { storedTexts } from "../db/fields.ts";
import type { StoredTerms } from "../db/search-fields.ts";
import type { ContactNoteItem, SessionNoteItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { ContactTimelineNote } from "../gen/records/v1/contacts_pb.ts";
import type { SessionNote } from "../gen/records/v1/sessions_pb.ts";
import { SessionNoteType, SessionNoteTypeSchema } from "../gen/records/v1/sessions_pb.ts";

/** The fields of a contact's note. A new field of the messages is added here. */
export const contactNoteFields = {
  texts: { content: "content", source: "source" },
  times: { createdAt: "created_at", updatedAt: "updated_at" },
} as const satisfies FieldsOf<ContactNoteItem, "id" | "externalId" | "contactId" | "contactExternalId"> &
  FieldsOf<ContactTimelineNote, "id">;

/** The fields of a session's note. */
export const sessionNoteFields = {
  texts: { title: "title", titleSlug: "title_slug", content: "content" },
  times: { createdAt: "created_at" },
} as const satisfies FieldsOf<
  SessionNoteItem,
  "id" | "externalId" | "sessionId" | "sessionExternalId" | "position" | "type"
> &
  FieldsOf<SessionNote, "position" | "type">;

/** Returns the stored name of a type of session notes: its name in the interface, in lower case. */
export function noteTypeName(type: SessionNoteType): string {
  return SessionNoteTypeSchema.value[type]?.localName.toLowerCase() ?? "";
}

/** The stored names of all types of notes. */
export const noteTypeNames: readonly string[] = [
  // REST's own names are added to those of an enum.
  ...new Set(SessionNoteTypeSchema.values.map(({ number }) => noteTypeName(number as SessionNoteType))),
].filter((name) => name !== noteTypeName(SessionNoteType.UNSPECIFIED));

/** Returns the type with this stored name. */
export function noteTypeOf(name: string): SessionNoteType {
  return SessionNoteType[name.toUpperCase() as keyof typeof SessionNoteType];
}

/** The texts of an empty note, all null. */
export const noTexts = {
  ...storedTexts(contactNoteFields.texts, {}),
  ...storedTexts(sessionNoteFields.texts, {}),
};

/** A stored note. Texts that its kind lacks are null. The fields of the search come last. */
export interface NoteDocument
  extends Stored<(typeof contactNoteFields)["texts"], string | null>,
    Stored<(typeof sessionNoteFields)["texts"], string | null>,
    StoredTerms {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
  kind: "contact" | "session";
  /** The contact or session that owns the note. */
  parent_id: UUID;
  /** The name of the owner, copied from it. */
  label: string | null;
  /** The type of a session note, in lower case; `user_manual` for a contact's. */
  type: string;
  position: number;
  created_at: Date;
  updated_at: Date;
  /** The sort key derived from `created_at` and the id (`src/db/rank.ts`). */
  rank: number;
}
