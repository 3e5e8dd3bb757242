// A contact in MongoDB.
import type { UUID } from "mongodb";

/** A contact as it is stored. `n` and `g` (see `src/search/terms.ts`) stand last, and only an active one has them. */
export interface ContactDocument {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
  /** Rises with every change, so that a change based on what was read before is noticed. */
  version: number;
  full_name: string | null;
  email: string | null;
  /** The email in lower case, while it has to be unique: for an active contact. */
  email_key?: string;
  phone: string | null;
  notes: string | null;
  memory: string | null;
  inferred_name: string | null;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
  /** The rank of `updated_at`. */
  rank: number;
  n?: string;
  g?: string[];
}
