// Stored session, and the mapping of its fields to the messages.
import type { UUID } from "mongodb";
import type { FieldsOf, Stored } from "../db/fields.ts";
import type { StoredTerms } from "../db/search-fields.ts";
import type { SessionItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { SessionDetail, SessionSummary } from "../gen/records/v1/sessions_pb.ts";

/** The fields that a session shows both in a list and on its own. */
export const summaryFields = {
  texts: {
    title: "title",
    subtitle: "subtitle",
    recordingStatus: "recording_status",
    source: "source",
    conferenceProvider: "conference_provider",
  },
  times: { sessionDate: "session_date", sessionDateEnd: "session_date_end" },
} as const satisfies FieldsOf<SessionSummary, "id" | "client">;

/** All fields of a session. A new field of the messages is added here, and is then written, read and exported. */
export const sessionFields = {
  texts: { ...summaryFields.texts, conferenceUrl: "conference_url", providerDocUrl: "provider_doc_url" },
  times: { ...summaryFields.times, createdAt: "created_at", updatedAt: "updated_at" },
} as const satisfies FieldsOf<SessionDetail, "id" | "client" | "notes"> &
  FieldsOf<SessionItem, "id" | "externalId" | "contactId" | "contactExternalId">;

/** A stored session. The fields of the search come last. */
export interface SessionDocument extends Stored<(typeof sessionFields)["texts"], string | null>, StoredTerms {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
  /**
   * A random revision. Upserts of the session renew it, and so do those of its notes and transcripts, which lock it.
   */
  version: number;
  contact_id: UUID | null;
  /** The names of the contact, copied from it. */
  client: SessionClientNames | null;
  session_date: Date | null;
  session_date_end: Date | null;
  created_at: Date;
  updated_at: Date;
  /** The sort key derived from `session_date` and the id, or from `created_at` without a date (`src/db/rank.ts`). */
  rank: number;
  /** The terms of title and subtitle alone, which are combined with the terms of a new client name. */
  own: StoredTerms;
}

/** The names of a session's contact. */
export interface SessionClientNames {
  full_name: string | null;
  inferred_name: string | null;
  email: string | null;
}
