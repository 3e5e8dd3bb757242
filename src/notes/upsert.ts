// Notes of sessions and of contacts from outside: creates and replaces them in batches.
import type { MongoClient } from "mongodb";
import { collections } from "../db/collections.ts";
import { storedTexts, storedTimes } from "../db/fields.ts";
import type { KnownRecord, LockNamed, Outcome } from "../db/named.ts";
import { identityOf, parentOf } from "../db/named.ts";
import { putBatch } from "../db/put-batch.ts";
import type { ContactNoteItem, SessionNoteItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { NoteDocument } from "./document.ts";
import { contactNoteFields, noTexts, noteTypeName, sessionNoteFields } from "./document.ts";
import type { LabelledContact } from "./store.ts";
import { contactLabel, deriveNote } from "./store.ts";

/** Writes notes of one account at a time. An item fails with NOT_FOUND when what it belongs to is not there. */
export interface NoteUpserts {
  upsertOfSessions(scope: WriteScope, items: readonly SessionNoteItem[]): Promise<Outcome[]>;
  upsertOfContacts(scope: WriteScope, items: readonly ContactNoteItem[]): Promise<Outcome[]>;
}

/** Over the notes of a database; the transaction locks what they belong to. */
export function createNoteUpserts(
  client: MongoClient,
  lockContacts: LockNamed<KnownRecord & LabelledContact>,
  lockSessions: LockNamed<KnownRecord & { readonly title: string | null }>,
): NoteUpserts {
  const notes = client.db().collection<NoteDocument>(collections.notes);
  const times = { created_at: 1 };

  return {
    upsertOfSessions(scope, items) {
      const ownerOf = ({ sessionId: id, sessionExternalId: externalId }: SessionNoteItem) => ({ id, externalId });
      return putBatch(client, scope, notes, {
        names: items,
        find: { fields: times, kind: "session" },
        async prepare(session) {
          const owners = await lockSessions(scope, items.map(ownerOf), session);
          return (at, before) => {
            const item = items[at] as SessionNoteItem;
            const owner = parentOf("session", ownerOf(item), owners);
            const { created_at } = storedTimes(sessionNoteFields.times, item);
            return deriveNote({
              ...identityOf(scope, item, before),
              kind: "session",
              parent_id: owner._id,
              label: owner.title,
              type: noteTypeName(item.type),
              ...noTexts,
              ...storedTexts(sessionNoteFields.texts, item),
              position: item.position,
              created_at: created_at ?? before?.created_at ?? new Date(),
              updated_at: new Date(),
            });
          };
        },
      });
    },

    upsertOfContacts(scope, items) {
      const ownerOf = ({ contactId: id, contactExternalId: externalId }: ContactNoteItem) => ({ id, externalId });
      return putBatch(client, scope, notes, {
        names: items,
        find: { fields: times, kind: "contact" },
        async prepare(session) {
          const owners = await lockContacts(scope, items.map(ownerOf), session);
          return (at, before) => {
            const item = items[at] as ContactNoteItem;
            const owner = parentOf("contact", ownerOf(item), owners);
            const times = storedTimes(contactNoteFields.times, item);
            const createdAt = times.created_at ?? before?.created_at ?? new Date();
            return deriveNote({
              ...identityOf(scope, item, before),
              kind: "contact",
              parent_id: owner._id,
              label: contactLabel(owner),
              type: "user_manual",
              ...noTexts,
              ...storedTexts(contactNoteFields.texts, item),
              position: 0,
              created_at: createdAt,
              updated_at: times.updated_at ?? createdAt,
            });
          };
        },
      });
    },
  };
}
