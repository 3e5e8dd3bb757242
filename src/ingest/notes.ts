// Notes of sessions and of contacts from outside.
import type { MongoClient } from "mongodb";
import type { ContactNoteItem, SessionNoteItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { ContactDocument } from "../contacts/document.ts";
import { contactsCollection } from "../contacts/store.ts";
import { storedTexts, storedTimes } from "../db/fields.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { NoteDocument } from "../notes/document.ts";
import { contactNoteFields, noTexts, sessionNoteFields } from "../notes/document.ts";
import { contactLabel, deriveNote, notesCollection } from "../notes/store.ts";
import { noteTypeName } from "../sessions/messages.ts";
import type { SessionDocument } from "../sessions/document.ts";
import { sessionsCollection } from "../sessions/store.ts";
import type { Outcome } from "./batch.ts";
import { lockNamed, identityOf, parentOf } from "./batch.ts";
import { putBatch } from "./put-batch.ts";

/** Writes notes of one account at a time. An item fails with NOT_FOUND when what it belongs to is not there. */
export interface NoteIngest {
  upsertOfSessions(scope: WriteScope, items: readonly SessionNoteItem[]): Promise<Outcome[]>;
  upsertOfContacts(scope: WriteScope, items: readonly ContactNoteItem[]): Promise<Outcome[]>;
}

/** Over the collections of a database. */
export function createNoteIngest(client: MongoClient): NoteIngest {
  const db = client.db();
  const contacts = db.collection<ContactDocument>(contactsCollection);
  const sessions = db.collection<SessionDocument>(sessionsCollection);
  const notes = db.collection<NoteDocument>(notesCollection);
  const times = { created_at: 1 };

  return {
    upsertOfSessions(scope, items) {
      const ownerOf = ({ sessionId: id, sessionExternalId: externalId }: SessionNoteItem) => ({ id, externalId });
      return putBatch(client, scope, notes, {
        names: items,
        find: { fields: times, kind: "session" },
        async prepare(session) {
          const owners = await lockNamed(sessions, scope, items.map(ownerOf), { fields: { title: 1 }, session });
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
      const names = { full_name: 1, inferred_name: 1, email: 1 };
      return putBatch(client, scope, notes, {
        names: items,
        find: { fields: times, kind: "contact" },
        async prepare(session) {
          const owners = await lockNamed(contacts, scope, items.map(ownerOf), { fields: names, session });
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
