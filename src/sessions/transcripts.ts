// Transcripts in MongoDB, compressed, in a collection of their own: they are large, and read one at a time.
import { constants, deflateRaw, inflateRaw } from "node:zlib";
import { promisify } from "node:util";
import type { Collection, Document, MongoClient } from "mongodb";
import { Binary } from "mongodb";
import type { UUID } from "mongodb";
import type { Transcript } from "../gen/records/v1/sessions_pb.ts";
import { present, timestamp } from "../db/message.ts";
import { read } from "../db/read.ts";
import type { Scope } from "../guards/scope.ts";

/** A transcript as it is stored; `_id` is the id of its session. */
export interface TranscriptDocument {
  _id: UUID;
  account_id: UUID;
  /** The text, deflated (RFC 1951); null when none has been generated yet. */
  text: Binary | null;
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
  /** The transcript of a session, without text where there is none yet; undefined when the account has no such session. */
  get(scope: Scope, sessionId: UUID): Promise<Transcript | undefined>;
}

export const transcriptsCollection = "transcripts";
/** Fast enough for a request that writes, and within a few percent of the densest on speech. */
const level = constants.Z_DEFAULT_COMPRESSION;

const deflate = promisify<Buffer, { level: number }, Buffer>(deflateRaw);
const inflate = promisify<Uint8Array, Buffer>(inflateRaw);

/** The transcripts of a database. */
export function createTranscriptStore(client: MongoClient): TranscriptStore {
  const sessions = client.db().collection("sessions") as Collection<Document>;
  return {
    async get(scope, sessionId) {
      const [session, transcript] = await read<TranscriptDocument>(sessions, scope, [
        { $match: { _id: sessionId, account_id: scope.accountId } },
        { $project: { _id: 1 } },
        { $unionWith: { coll: transcriptsCollection, pipeline: [{ $match: { _id: sessionId, account_id: scope.accountId } }] } },
      ]);
      if (session === undefined) return undefined;
      const text = transcript?.text ?? null;
      return {
        $typeName: "records.v1.Transcript",
        sessionId: sessionId.toHexString(),
        ...(text === null ? {} : { transcript: await expand(text) }),
        ...(transcript === undefined || transcript.recording === null ? {} : { recording: recordingMessage(transcript.recording) }),
      };
    },
  };
}

/** Compresses a text, off the main thread. */
export async function compress(text: string): Promise<Binary> {
  return new Binary(await deflate(Buffer.from(text), { level }));
}

async function expand(text: Binary): Promise<string> {
  return (await inflate(text.buffer)).toString();
}

function recordingMessage({ id, duration_seconds, recording_started_at, recording_ended_at }: RecordingDocument): NonNullable<Transcript["recording"]> {
  return {
    $typeName: "records.v1.Recording",
    id: id.toHexString(),
    ...present({ durationSeconds: duration_seconds }),
    ...(recording_started_at === null ? {} : { recordingStartedAt: timestamp(recording_started_at) }),
    ...(recording_ended_at === null ? {} : { recordingEndedAt: timestamp(recording_ended_at) }),
  };
}
