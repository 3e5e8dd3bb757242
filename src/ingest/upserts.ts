// Upserts of each kind of record: writes the valid items, and returns an outcome for every item.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Outcome } from "../db/named.ts";
import type {
  ContactItem,
  ContactNoteItem,
  SessionItem,
  SessionNoteItem,
  TranscriptItem,
} from "../gen/records/ingest/v1/items_pb.ts";
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../gen/records/ingest/v1/items_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import type { Merge } from "../contacts/upsert.ts";
import { createItemValidator, itemwise } from "./itemwise.ts";

/**
 * Creates or replaces records. Returns the outcomes in the order of the items. Sessions and notes all fail with
 * INVALID_REQUEST if several items together have more than `maxTerms` search terms.
 */
export type Upsert<Item> = (scope: WriteScope, items: readonly Item[], maxTerms?: number) => Promise<Outcome[]>;

/** The upserts of each kind of record. */
export interface Upserts {
  readonly contacts: Upsert<ContactItem>;
  /** Returns an upsert that creates contacts, and changes only some fields of existing ones. */
  readonly mergedContacts: (how: Merge) => Upsert<ContactItem>;
  readonly sessions: Upsert<SessionItem>;
  readonly transcripts: Upsert<TranscriptItem>;
  readonly session_notes: Upsert<SessionNoteItem>;
  readonly contact_notes: Upsert<ContactNoteItem>;
}

/** Returns upserts that check the rules of each item's message first, and write only valid items. */
export function checkedUpserts(upserts: Upserts): Upserts {
  return {
    contacts: checked(ContactItemSchema, upserts.contacts),
    mergedContacts: (how) => checked(ContactItemSchema, upserts.mergedContacts(how)),
    sessions: checked(SessionItemSchema, upserts.sessions),
    transcripts: checked(TranscriptItemSchema, upserts.transcripts),
    session_notes: checked(SessionNoteItemSchema, upserts.session_notes),
    contact_notes: checked(ContactNoteItemSchema, upserts.contact_notes),
  };
}

function checked<Item extends Message>(schema: DescMessage, upsert: Upsert<Item>): Upsert<Item> {
  const check = createItemValidator(schema);
  return (scope, items, maxTerms) => itemwise(scope, items, check, (valid) => upsert(scope, valid, maxTerms));
}
