// Store of transcripts, compressed and in their own collection because they are large and read one at a time.
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { Binary } from "mongodb";
import { collections } from "../db/collections.ts";
import type { Transcript } from "../gen/records/v1/sessions_pb.ts";
import { dateOf, idText, omitNulls, timestamp } from "../db/message.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { recordsIndex, uuid } from "../db/mongo.ts";
import type { KnownRecord, LockNamed, Outcome } from "../db/named.ts";
import { parentOf } from "../db/named.ts";
import { requireNotFenced } from "../db/fence.ts";
import { putBatch } from "../db/put-batch.ts";
import { commit } from "../db/write.ts";
import type { TranscriptItem } from "../gen/records/ingest/v1/items_pb.ts";
import { read } from "../db/read.ts";
import { deflateText, defineDeflatedField } from "../deflated.ts";
import type { Scope, WriteScope } from "../call/scope.ts";

/** A stored transcript. `_id` is the id of its session. */
export interface TranscriptDocument {
  _id: UUID;
  account_id: UUID;
  /** The text (see `DeflatedText`); null if none has been generated yet. */
  text: { blocks: Binary; size: number; crc: number } | null;
  recording: RecordingDocument | null;
}

/** A stored recording. */
export interface RecordingDocument {
  id: UUID;
  duration_seconds: number | null;
  recording_started_at: Date | null;
  recording_ended_at: Date | null;
}

/** The transcripts of all accounts. Each method works within one account. */
export interface TranscriptStore {
  /**
   * Returns the transcript of a session, possibly without text. Returns undefined if the account has no such session.
   */
  get(scope: Scope, sessionId: UUID): Promise<Transcript | undefined>;
  /**
   * Creates or replaces transcripts. An item fails with NOT_FOUND if the account has no such session.
   */
  put(scope: WriteScope, items: readonly TranscriptItem[]): Promise<Outcome[]>;
  /** Deletes the transcript of a session. Returns false if there is no transcript. */
  remove(scope: WriteScope, sessionId: UUID): Promise<boolean>;
}

export const transcriptCollection: CollectionSpec = {
  collection: collections.transcripts,
  erasure: { key: "_id", hint: recordsIndex.name },
  indexes: [recordsIndex],
  retired: ["account"],
};

/** Creates the store of a database's transcripts. */
export function createTranscriptStore(client: MongoClient, lockSessions: LockNamed<KnownRecord>): TranscriptStore {
  const sessions = client.db().collection(collections.sessions) as Collection<Document>;
  const transcripts = client.db().collection<TranscriptDocument>(collections.transcripts);
  return {
    async get(scope, sessionId) {
      const [session, transcript] = await read<TranscriptDocument>(sessions, scope, [
        { $match: { _id: sessionId, account_id: scope.accountId } },
        { $project: { _id: 1 } },
        {
          $unionWith: {
            coll: collections.transcripts,
            pipeline: [{ $match: { _id: sessionId, account_id: scope.accountId } }],
          },
        },
      ]);
      // Without its session, as a restored backup can contain it, the transcript is the first row.
      if (session === undefined || "text" in session) return undefined;
      const text = transcript?.text ?? null;
      const message: Transcript = {
        $typeName: "records.v1.Transcript",
        sessionId: idText(sessionId),
        ...(transcript === undefined || transcript.recording === null
          ? {}
          : { recording: recordingMessage(transcript.recording) }),
      };
      if (text === null) return message;
      return defineDeflatedField(message, "transcript", { ...text, blocks: text.blocks.buffer });
    },

    async put(scope, items) {
      const sessionOf = ({ sessionId: id, sessionExternalId: externalId }: TranscriptItem) => ({ id, externalId });
      const texts = await Promise.all(
        items.map(({ transcript }) => (transcript === undefined ? null : storedText(transcript))),
      );
      return putBatch(client, scope, transcripts, {
        names: items.map(() => ({})),
        find: undefined,
        async prepare(session) {
          const known = await lockSessions(scope, items.map(sessionOf), session);
          return (at) => {
            const item = items[at] as TranscriptItem;
            const { _id } = parentOf("session", sessionOf(item), known);
            const text = texts[at] ?? null;
            return { _id, account_id: scope.accountId, text, recording: recordingDocument(item) };
          };
        },
      });
    },

    async remove(scope, sessionId) {
      const transcript = { _id: sessionId, account_id: scope.accountId };
      const { deletedCount } = await commit(client, scope, undefined, (options, fence) =>
        transcripts.deleteOne({ ...transcript, ...fence }, options),
      );
      if (deletedCount === 0) await requireNotFenced(transcripts, transcript, scope.deadline);
      return deletedCount === 1;
    },
  };
}

/** Returns the stage that adds to each session, as `spoken`, the projection of its transcript if that has a text. */
export function lookUpTranscripts(scope: Scope, projection: Document): Document {
  const pipeline = [{ $match: { account_id: scope.accountId, text: { $ne: null } } }, { $project: projection }];
  return {
    $lookup: { from: collections.transcripts, localField: "_id", foreignField: "_id", pipeline, as: "spoken" },
  };
}

/** Returns a text in its stored form. */
export async function storedText(text: string): Promise<NonNullable<TranscriptDocument["text"]>> {
  const deflated = await deflateText(text);
  return { ...deflated, blocks: new Binary(deflated.blocks) };
}

/** Returns the message of a recording. */
export function recordingMessage({
  id,
  duration_seconds,
  recording_started_at,
  recording_ended_at,
}: RecordingDocument): NonNullable<Transcript["recording"]> {
  return {
    $typeName: "records.v1.Recording",
    id: idText(id),
    ...omitNulls({ durationSeconds: duration_seconds }),
    ...(recording_started_at === null ? {} : { recordingStartedAt: timestamp(recording_started_at) }),
    ...(recording_ended_at === null ? {} : { recordingEndedAt: timestamp(recording_ended_at) }),
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
