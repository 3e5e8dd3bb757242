// Sessions and their transcripts from outside.
import type { MongoClient } from "mongodb";
import type { SessionItem, TranscriptItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { ContactDocument } from "../contacts/document.ts";
import { contactsCollection } from "../contacts/store.ts";
import { storedTexts, storedTimes } from "../db/fields.ts";
import { dateOf } from "../db/message.ts";
import { uuid } from "../db/mongo.ts";
import { newRevision } from "../db/conflicts.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { NoteStore } from "../notes/store.ts";
import type { SessionDocument } from "../sessions/document.ts";
import { sessionFields } from "../sessions/document.ts";
import { deriveSession, sessionsCollection } from "../sessions/store.ts";
import type { RecordingDocument, TranscriptDocument } from "../sessions/transcripts.ts";
import { storedText, transcriptsCollection } from "../sessions/transcripts.ts";
import type { Outcome } from "./batch.ts";
import { lockNamed, identityOf, parentOf } from "./batch.ts";
import { putBatch } from "./put-batch.ts";

/**
 * Writes sessions and transcripts of one account at a time. An item fails with NOT_FOUND when what it belongs to is not
 * there.
 */
export interface SessionIngest {
  upsert(scope: WriteScope, items: readonly SessionItem[]): Promise<Outcome[]>;
  putTranscripts(scope: WriteScope, items: readonly TranscriptItem[]): Promise<Outcome[]>;
}

/** Over the collections of a database. */
export function createSessionIngest(client: MongoClient, notes: NoteStore): SessionIngest {
  const db = client.db();
  const contacts = db.collection<ContactDocument>(contactsCollection);
  const sessions = db.collection<SessionDocument>(sessionsCollection);
  const transcripts = db.collection<TranscriptDocument>(transcriptsCollection);

  return {
    upsert(scope, items) {
      const clientOf = ({ contactId: id, contactExternalId: externalId }: SessionItem) => ({ id, externalId });
      const names = { full_name: 1, inferred_name: 1, email: 1 };
      return putBatch(client, scope, sessions, {
        names: items,
        find: {},
        async prepare(session) {
          const clients = await lockNamed(contacts, scope, items.map(clientOf), { fields: names, session });
          return (at, before) => {
            const item = items[at] as SessionItem;
            const named = clientOf(item);
            const contact =
              (named.id ?? named.externalId) === undefined ? undefined : parentOf("contact", named, clients);
            return sessionDocument(scope, item, before, contact);
          };
        },
        async finish(changed, options) {
          for (const { before, record } of changed) {
            if (before !== undefined && before.title !== record.title)
              await notes.relabel(scope, "session", record._id, record.title, options);
          }
        },
      });
    },

    async putTranscripts(scope, items) {
      const sessionOf = ({ sessionId: id, sessionExternalId: externalId }: TranscriptItem) => ({ id, externalId });
      const texts = await Promise.all(
        items.map(({ transcript }) => (transcript === undefined ? null : storedText(transcript))),
      );
      return putBatch(client, scope, transcripts, {
        names: items.map(() => ({})),
        find: undefined,
        async prepare(session) {
          const known = await lockNamed(sessions, scope, items.map(sessionOf), { fields: {}, session });
          return (at) => {
            const item = items[at] as TranscriptItem;
            const { _id } = parentOf("session", sessionOf(item), known);
            return { _id, account_id: scope.accountId, text: texts[at] ?? null, recording: recordingDocument(item) };
          };
        },
      });
    },
  };
}

function recordingDocument({ recording }: TranscriptItem): RecordingDocument | null {
  if (recording === undefined) return null;
  return {
    id: uuid(recording.id),
    duration_seconds: recording.durationSeconds ?? null,
    recording_started_at: dateOf(recording.recordingStartedAt) ?? null,
    recording_ended_at: dateOf(recording.recordingEndedAt) ?? null,
  };
}

function sessionDocument(
  scope: WriteScope,
  item: SessionItem,
  before: SessionDocument | undefined,
  contact: ContactDocument | undefined,
): SessionDocument {
  const now = new Date();
  const times = storedTimes(sessionFields.times, item);
  return deriveSession({
    ...identityOf(scope, item, before),
    version: newRevision(),
    contact_id: contact?._id ?? null,
    client:
      contact === undefined
        ? null
        : { full_name: contact.full_name, inferred_name: contact.inferred_name, email: contact.email },
    ...storedTexts(sessionFields.texts, item),
    ...times,
    created_at: times.created_at ?? before?.created_at ?? now,
    updated_at: times.updated_at ?? now,
  });
}
