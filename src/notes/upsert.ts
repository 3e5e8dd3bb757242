// Upserts of session notes and contact notes: creates and replaces them in batches.
import type { MongoClient } from "mongodb";
import { termsOfBatch } from "../db/batch-terms.ts";
import { collections } from "../db/collections.ts";
import { storedTexts, storedTimes } from "../db/fields.ts";
import type { KnownRecord, LockNamed, Outcome, RecordName } from "../db/named.ts";
import { identityOf, parentOf } from "../db/named.ts";
import { putBatch } from "../db/put-batch.ts";
import type { ContactNoteItem, SessionNoteItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import type { NoteDocument } from "./document.ts";
import { contactNoteFields, noTexts, noteTypeName, sessionNoteFields } from "./document.ts";
import type { LabelledContact } from "./store.ts";
import { contactLabel, deriveNote, noteTerms } from "./store.ts";

type Upsert<Item> = (scope: WriteScope, items: readonly Item[], maxTerms?: number) => Promise<Outcome[]>;

/**
 * Writes notes of one account per call. An item fails with NOT_FOUND if its owner does not exist. All fail with
 * INVALID_REQUEST if several items together have more than `maxTerms` search terms.
 */
export interface NoteUpserts {
  readonly upsertOfSessions: Upsert<SessionNoteItem>;
  readonly upsertOfContacts: Upsert<ContactNoteItem>;
}

/** Creates the upserts of a database's notes. Their transactions lock the owners. */
export function createNoteUpserts(
  client: MongoClient,
  lockContacts: LockNamed<KnownRecord & LabelledContact>,
  lockSessions: LockNamed<KnownRecord & { readonly title: string | null }>,
): NoteUpserts {
  const notes = client.db().collection<NoteDocument>(collections.notes);

  /** Creates the upsert of one kind. `documentOf` returns the note of an item, which replaces `before` if given. */
  function upsert<Item extends RecordName & Parameters<typeof noteTerms>[0], Owner extends KnownRecord>(
    kind: NoteDocument["kind"],
    lockOwners: LockNamed<Owner>,
    ownerOf: (item: Item) => RecordName,
    documentOf: (item: Item, owner: Owner, before: NoteDocument | undefined) => NoteFields,
  ): Upsert<Item> {
    return async (scope, items, maxTerms) => {
      const found = await termsOfBatch(scope, items, maxTerms, noteTerms);
      return putBatch(client, scope, notes, {
        names: items,
        find: { fields: { created_at: 1 }, kind },
        async prepare(session) {
          const owners = await lockOwners(scope, items.map(ownerOf), session);
          return (at, before) => {
            const item = items[at] as Item;
            const owner = parentOf(kind, ownerOf(item), owners);
            const identity = { ...identityOf(scope, item, before), kind, parent_id: owner._id };
            return deriveNote({ ...identity, ...documentOf(item, owner, before) }, found[at]);
          };
        },
      });
    };
  }

  return {
    upsertOfSessions: upsert(
      "session",
      lockSessions,
      ({ sessionId: id, sessionExternalId: externalId }) => ({ id, externalId }),
      sessionNote,
    ),
    upsertOfContacts: upsert(
      "contact",
      lockContacts,
      ({ contactId: id, contactExternalId: externalId }) => ({ id, externalId }),
      contactNote,
    ),
  };
}

/** The fields of a note that come from its item or its owner's names. */
type NoteFields = Omit<Parameters<typeof deriveNote>[0], "_id" | "account_id" | "external_id" | "kind" | "parent_id">;

function sessionNote(
  item: SessionNoteItem,
  { title }: { readonly title: string | null },
  before: NoteDocument | undefined,
): NoteFields {
  const { created_at } = storedTimes(sessionNoteFields.times, item);
  return {
    label: title,
    type: noteTypeName(item.type),
    ...noTexts,
    ...storedTexts(sessionNoteFields.texts, item),
    position: item.position,
    created_at: created_at ?? before?.created_at ?? new Date(),
    updated_at: new Date(),
  };
}

function contactNote(item: ContactNoteItem, owner: LabelledContact, before: NoteDocument | undefined): NoteFields {
  const times = storedTimes(contactNoteFields.times, item);
  const createdAt = times.created_at ?? before?.created_at ?? new Date();
  return {
    label: contactLabel(owner),
    type: "user_manual",
    ...noTexts,
    ...storedTexts(contactNoteFields.texts, item),
    position: 0,
    created_at: createdAt,
    updated_at: times.updated_at ?? createdAt,
  };
}
