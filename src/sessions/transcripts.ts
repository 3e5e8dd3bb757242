// Transcripts in MongoDB, compressed, in a collection of their own: they are large, and read one at a time.
import type { Collection, Document, MongoClient } from "mongodb";
import { Binary } from "mongodb";
import type { UUID } from "mongodb";
import type { Transcript } from "../gen/records/v1/sessions_pb.ts";
import { idText, present, timestamp } from "../db/message.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { recordsIndex } from "../db/mongo.ts";
import { read } from "../db/read.ts";
import { deflateText, holdDeflated } from "../deflated.ts";
import type { Scope } from "../guards/scope.ts";

/** A transcript as it is stored; `_id` is the id of its session. */
export interface TranscriptDocument {
  _id: UUID;
  account_id: UUID;
  /** The text, see `DeflatedText`; null when none has been generated yet. */
  text: { blocks: Binary; size: number; crc: number } | null;
  recording: RecordingDocument | null;
}

/** A recording as it is stored. */
export interface RecordingDocument {
  id: UUID;
  duration_seconds: number | null;
  recording_started_at: Date | null;
  recording_ended_at: Date | null;
}

/** The transcripts of all accounts. */
export interface TranscriptStore {
  /**
   * The transcript of a session, without text where there is none yet; undefined when the account has no such session.
   */
  get(scope: Scope, sessionId: UUID): Promise<Transcript | undefined>;
}

export const transcriptsCollection = "transcripts";

export const transcriptIndexes: IndexSpec = {
  collection: transcriptsCollection,
  indexes: [recordsIndex],
  retired: ["account"],
};

/** The transcripts of a database. */
export function createTranscriptStore(client: MongoClient): TranscriptStore {
  const sessions = client.db().collection("sessions") as Collection<Document>;
  return {
    async get(scope, sessionId) {
      const [session, transcript] = await read<TranscriptDocument>(sessions, scope, [
        { $match: { _id: sessionId, account_id: scope.accountId } },
        { $project: { _id: 1 } },
        {
          $unionWith: {
            coll: transcriptsCollection,
            pipeline: [{ $match: { _id: sessionId, account_id: scope.accountId } }],
          },
        },
      ]);
      if (session === undefined) return undefined;
      const text = transcript?.text ?? null;
      const message: Transcript = {
        $typeName: "records.v1.Transcript",
        sessionId: idText(sessionId),
        ...(transcript === undefined || transcript.recording === null
          ? {}
          : { recording: recordingMessage(transcript.recording) }),
      };
      return text === null ? message : holdDeflated(message, "transcript", { ...text, blocks: text.blocks.buffer });
    },
  };
}

/** A text as it is stored. */
export async function storedText(text: string): Promise<NonNullable<TranscriptDocument["text"]>> {
  const deflated = await deflateText(text);
  return { ...deflated, blocks: new Binary(deflated.blocks) };
}

/** A recording as a message. */
export function recordingMessage({
  id,
  duration_seconds,
  recording_started_at,
  recording_ended_at,
}: RecordingDocument): NonNullable<Transcript["recording"]> {
  return {
    $typeName: "records.v1.Recording",
    id: idText(id),
    ...present({ durationSeconds: duration_seconds }),
    ...(recording_started_at === null ? {} : { recordingStartedAt: timestamp(recording_started_at) }),
    ...(recording_ended_at === null ? {} : { recordingEndedAt: timestamp(recording_ended_at) }),
  };
}
