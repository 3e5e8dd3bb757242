// Sessions and their transcripts from outside.
import type { MongoClient } from "mongodb";
import type { SessionItem, TranscriptItem } from "../gen/records/ingest/v1/ingest_pb.ts";
import type { ContactDocument } from "../contacts/store.ts";
import { contactsCollection } from "../contacts/store.ts";
import { dateOf } from "../db/message.ts";
import { uuid } from "../db/mongo.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { NoteStore } from "../notes/store.ts";
import type { SessionDocument } from "../sessions/store.ts";
import { deriveSession, sessionsCollection } from "../sessions/store.ts";
import type { RecordingDocument, TranscriptDocument } from "../sessions/transcripts.ts";
import { storedText, transcriptsCollection } from "../sessions/transcripts.ts";
import type { Outcome } from "./batch.ts";
import { findNamed, identityOf, missingParent, putAll } from "./batch.ts";

/** Writes sessions and transcripts of one account at a time. An item fails with NOT_FOUND when what it belongs to is not there. */
export interface SessionIngest {
  upsert(scope: WriteScope, items: readonly SessionItem[]): Promise<Outcome<SessionDocument>[]>;
  putTranscripts(scope: WriteScope, items: readonly TranscriptItem[]): Promise<Outcome<TranscriptDocument>[]>;
}

/** Over the collections of a database. */
export function createSessionIngest(client: MongoClient, notes: NoteStore): SessionIngest {
  const db = client.db();
  const contacts = db.collection<ContactDocument>(contactsCollection);
  const sessions = db.collection<SessionDocument>(sessionsCollection);
  const transcripts = db.collection<TranscriptDocument>(transcriptsCollection);

  return {
    async upsert(scope, items) {
      const clientOf = ({ contactId: id, contactExternalId: externalId }: SessionItem) => ({ id, externalId });
      const names = { full_name: 1, inferred_name: 1, email: 1 };
      const [known, clients] = await Promise.all([findNamed(sessions, scope, items), findNamed(contacts, scope, items.map(clientOf), { fields: names })]);
      const outcomes = items.map((item): Outcome<SessionDocument> => {
        const named = clientOf(item);
        const contact = clients.get(named);
        if (contact === undefined && (named.id ?? named.externalId) !== undefined) return { failure: missingParent("contact", named) };
        const put = sessionDocument(scope, item, known.get(item), contact);
        return { id: put._id, put };
      });
      const written = await putAll(client, scope, sessions, outcomes);
      for (const [at, item] of items.entries()) {
        const before = known.get(item);
        const outcome = written[at];
        if (before === undefined || outcome === undefined || "failure" in outcome || before.title === outcome.put?.title) continue;
        await notes.relabel(scope, before._id, outcome.put?.title ?? null, undefined);
      }
      return written;
    },

    async putTranscripts(scope, items) {
      const sessionOf = ({ sessionId: id, sessionExternalId: externalId }: TranscriptItem) => ({ id, externalId });
      const known = await findNamed(sessions, scope, items.map(sessionOf), { fields: {} });
      const outcomes = items.map(async (item): Promise<Outcome<TranscriptDocument>> => {
        const session = known.get(sessionOf(item));
        if (session === undefined) return { failure: missingParent("session", sessionOf(item)) };
        const text = item.transcript === undefined ? null : await storedText(item.transcript);
        return { id: session._id, put: { _id: session._id, account_id: scope.accountId, text, recording: recordingDocument(item) } };
      });
      return putAll(client, scope, transcripts, await Promise.all(outcomes));
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

function sessionDocument(scope: WriteScope, item: SessionItem, before: SessionDocument | undefined, contact: ContactDocument | undefined): SessionDocument {
  const now = new Date();
  return deriveSession({
    ...identityOf(scope, item, before),
    contact_id: contact?._id ?? null,
    client: contact === undefined ? null : { full_name: contact.full_name, inferred_name: contact.inferred_name, email: contact.email },
    title: item.title ?? null,
    subtitle: item.subtitle ?? null,
    session_date: dateOf(item.sessionDate) ?? null,
    session_date_end: dateOf(item.sessionDateEnd) ?? null,
    recording_status: item.recordingStatus ?? null,
    source: item.source ?? null,
    conference_provider: item.conferenceProvider ?? null,
    conference_url: item.conferenceUrl ?? null,
    provider_doc_url: item.providerDocUrl ?? null,
    created_at: dateOf(item.createdAt) ?? before?.created_at ?? now,
    updated_at: dateOf(item.updatedAt) ?? now,
  });
}
