// Sessions, their transcripts and notes, and notes of contacts, from outside.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import type { ContactNoteItem, SessionItem, SessionNoteItem, TranscriptItem } from "../gen/records/ingest/v1/ingest_pb.ts";
import type { ContactDocument } from "../contacts/store.ts";
import { contactsCollection } from "../contacts/store.ts";
import { dateOf } from "../db/message.ts";
import { uuid } from "../db/mongo.ts";
import { commit } from "../db/write.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { NoteDocument, NoteStore } from "../notes/store.ts";
import { contactLabel, deriveNote, notesCollection } from "../notes/store.ts";
import { noteTypeName } from "../sessions/messages.ts";
import type { SessionDocument } from "../sessions/store.ts";
import { deriveSession, sessionsCollection } from "../sessions/store.ts";
import type { TranscriptDocument } from "../sessions/transcripts.ts";
import { compress, transcriptsCollection } from "../sessions/transcripts.ts";
import type { ItemName } from "./items.ts";
import { findNamed, idOf, requireParent } from "./items.ts";

/** Writes sessions, transcripts and notes of one account at a time. Each fails with NOT_FOUND when what it belongs to is not there. */
export interface SessionIngest {
  upsertSession(scope: WriteScope, item: SessionItem): Promise<UUID>;
  putTranscript(scope: WriteScope, item: TranscriptItem): Promise<UUID>;
  upsertSessionNote(scope: WriteScope, item: SessionNoteItem): Promise<UUID>;
  upsertContactNote(scope: WriteScope, item: ContactNoteItem): Promise<UUID>;
}

/** Over the collections of a database. */
export function createSessionIngest(client: MongoClient, noteStore: NoteStore): SessionIngest {
  const db = client.db();
  const contacts = db.collection<ContactDocument>(contactsCollection);
  const sessions = db.collection<SessionDocument>(sessionsCollection);
  const notes = db.collection<NoteDocument>(notesCollection);
  const transcripts = db.collection<TranscriptDocument>(transcriptsCollection);

  async function putNote(scope: WriteScope, note: NoteDocument): Promise<UUID> {
    await commit(client, scope, undefined, () => notes.replaceOne({ _id: note._id, account_id: scope.accountId }, note, { upsert: true }));
    return note._id;
  }

  return {
    async upsertSession(scope, item) {
      const named = parentName(item.contactId, item.contactExternalId);
      const contact = named === undefined ? undefined : await requireParent(contacts, scope.accountId, "contact", named);
      const before = await findNamed(sessions, scope.accountId, item);
      const after = sessionDocument(scope.accountId, item, before, contact);
      const retitled = before !== undefined && before.title !== after.title;
      const work = async (session: ClientSession | undefined): Promise<void> => {
        const options = session === undefined ? {} : { session };
        await sessions.replaceOne({ _id: after._id, account_id: scope.accountId }, after, { upsert: true, ...options });
        if (retitled) await noteStore.relabel(scope, after._id, after.title, session);
      };
      await commit(client, scope, undefined, work, { atomic: retitled });
      return after._id;
    },

    async putTranscript(scope, item) {
      const name = parentName(item.sessionId, item.sessionExternalId) ?? {};
      const { _id } = await requireParent(sessions, scope.accountId, "session", name);
      const { transcript, recording } = item;
      const document: TranscriptDocument = {
        _id,
        account_id: scope.accountId,
        text: transcript === undefined ? null : await compress(transcript),
        recording:
          recording === undefined
            ? null
            : {
                id: uuid(recording.id),
                duration_seconds: recording.durationSeconds ?? null,
                recording_started_at: dateOf(recording.recordingStartedAt) ?? null,
                recording_ended_at: dateOf(recording.recordingEndedAt) ?? null,
              },
      };
      await commit(client, scope, undefined, () => transcripts.replaceOne({ _id, account_id: scope.accountId }, document, { upsert: true }));
      return _id;
    },

    async upsertSessionNote(scope, item) {
      const session = await requireParent(sessions, scope.accountId, "session", parentName(item.sessionId, item.sessionExternalId) ?? {});
      const before = await findNamed(notes, scope.accountId, item);
      const createdAt = dateOf(item.createdAt) ?? before?.created_at ?? new Date();
      return putNote(
        scope,
        deriveNote({
          ...identity(scope.accountId, item, before),
          kind: "session",
          parent_id: session._id,
          label: session.title,
          type: noteTypeName(item.type),
          title: item.title ?? null,
          title_slug: item.titleSlug ?? null,
          position: item.position,
          content: item.content ?? null,
          source: null,
          created_at: createdAt,
          updated_at: new Date(),
        }),
      );
    },

    async upsertContactNote(scope, item) {
      const contact = await requireParent(contacts, scope.accountId, "contact", parentName(item.contactId, item.contactExternalId) ?? {});
      const before = await findNamed(notes, scope.accountId, item);
      const createdAt = dateOf(item.createdAt) ?? before?.created_at ?? new Date();
      return putNote(
        scope,
        deriveNote({
          ...identity(scope.accountId, item, before),
          kind: "contact",
          parent_id: contact._id,
          label: contactLabel(contact),
          type: "user_manual",
          title: null,
          title_slug: null,
          position: 0,
          content: item.content,
          source: item.source,
          created_at: createdAt,
          updated_at: dateOf(item.updatedAt) ?? createdAt,
        }),
      );
    },
  };
}

function sessionDocument(accountId: UUID, item: SessionItem, before: SessionDocument | undefined, contact: ContactDocument | undefined): SessionDocument {
  const now = new Date();
  return deriveSession({
    ...identity(accountId, item, before),
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

function identity(accountId: UUID, item: ItemName, before: { _id: UUID; external_id?: string } | undefined) {
  const externalId = item.externalId ?? before?.external_id;
  return { _id: before?._id ?? idOf(item), account_id: accountId, ...(externalId === undefined ? {} : { external_id: externalId }) };
}

function parentName(id: string | undefined, externalId: string | undefined): ItemName | undefined {
  return id === undefined && externalId === undefined ? undefined : { id, externalId };
}
