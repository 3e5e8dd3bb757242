// A session in MongoDB.
import type { UUID } from "mongodb";
import type { Terms } from "../search/terms.ts";

/** A session as it is stored. What the search needs stands last, `n` before `g`. */
export interface SessionDocument {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
  /** Rises with every change, and with every record that comes to belong to it. */
  version: number;
  contact_id: UUID | null;
  /** The names of the contact, copied from it. */
  client: SessionClientNames | null;
  title: string | null;
  subtitle: string | null;
  session_date: Date | null;
  session_date_end: Date | null;
  recording_status: string | null;
  source: string | null;
  conference_provider: string | null;
  conference_url: string | null;
  provider_doc_url: string | null;
  created_at: Date;
  updated_at: Date;
  /** The rank of `session_date`. */
  rank: number;
  n: string;
  g: string[];
  /** The terms of title and subtitle alone, with which a new name of the client is joined. */
  own: Terms;
}

/** The names of a session's contact. */
export interface SessionClientNames {
  full_name: string | null;
  inferred_name: string | null;
  email: string | null;
}
