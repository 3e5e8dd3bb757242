// A note in MongoDB, and which field of it is which field of the messages.
import type { UUID } from "mongodb";
import type { FieldsOf, Stored } from "../db/fields.ts";
import { storedTexts } from "../db/fields.ts";
import type { ContactNoteItem, SessionNoteItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { ContactTimelineNote } from "../gen/records/v1/contacts_pb.ts";
import type { SessionNote } from "../gen/records/v1/sessions_pb.ts";
import { SessionNoteType } from "../gen/records/v1/sessions_pb.ts";

/** The fields of a contact's note: a new field of the messages is added here. */
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

/** The types of session notes, as they are stored. */
export const sessionNoteTypes = {
  user_manual: SessionNoteType.USER_MANUAL,
  ai_meeting_prep: SessionNoteType.AI_MEETING_PREP,
  user_template: SessionNoteType.USER_TEMPLATE,
  ai_predefined: SessionNoteType.AI_PREDEFINED,
  ai_assistant: SessionNoteType.AI_ASSISTANT,
  reader_comment: SessionNoteType.READER_COMMENT,
} as const;

/** The name under which a type of session notes is stored; empty for none. */
export function noteTypeName(type: SessionNoteType): string {
  return Object.entries(sessionNoteTypes).find(([, known]) => known === type)?.[0] ?? "";
}

/** The type that is stored under a name. */
export function noteTypeOf(name: string): SessionNoteType {
  return sessionNoteTypes[name as keyof typeof sessionNoteTypes];
}

/** The texts of a note that has none. */
export const noTexts = {
  ...storedTexts(contactNoteFields.texts, {}),
  ...storedTexts(sessionNoteFields.texts, {}),
};

/**
 * A note as it is stored. Texts that its kind does not have are null. `n` and `g` (see `src/search/terms.ts`) are
 * last, `n` before `g`.
 */
export interface NoteDocument
  extends Stored<(typeof contactNoteFields)["texts"], string | null>,
    Stored<(typeof sessionNoteFields)["texts"], string | null> {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
  kind: "contact" | "session";
  /** The contact or session that owns the note. */
  parent_id: UUID;
  /** What the owner is called, copied from it. */
  label: string | null;
  /** The type of a session note, in lower case; `user_manual` for a contact's. */
  type: string;
  position: number;
  created_at: Date;
  updated_at: Date;
  /** The rank of `created_at`. */
  rank: number;
  n: string;
  g: string[];
}
