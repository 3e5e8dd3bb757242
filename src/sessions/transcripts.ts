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
import { termsOfBatch } from "../db/batch-terms.ts";
import { putBatch } from "../db/put-batch.ts";
import { termsField } from "../db/search-fields.ts";
import { termsIndex } from "../db/search-index.ts";
import type { WriteOptions } from "../db/write.ts";
import { commit } from "../db/write.ts";
import type { TranscriptItem } from "../gen/records/ingest/v1/items_pb.ts";
import { read } from "../db/read.ts";
import { deflateText, defineDeflatedField } from "../large/deflated.ts";
import type { Scope, WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";
import { requireNotPast } from "../call/deadline.ts";
import type { SessionDocument } from "./document.ts";
import { spokenTerms } from "./spoken-terms.ts";

/** A stored transcript. `_id` is the id of its session. */
export interface TranscriptDocument {
  _id: UUID;
  account_id: UUID;
  /** The text (see `DeflatedText`); null if none has been generated yet. */
  text: { blocks: Binary; size: number; crc: number } | null;
  recording: RecordingDocument | null;
  /**
   * The rank of the session, copied from it. Missing until `transcript-preparation.ts` has added it, with the terms, to
   * a transcript of an earlier release.
   */
  rank?: number;
  /** The search terms (`spoken-terms.ts`). They come last, because only the index reads them. */
  [termsField]?: string[];
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
   * Creates or replaces transcripts. An item fails with NOT_FOUND if the account has no such session. All fail with
   * INVALID_REQUEST if several items together have more than `maxTerms` search terms.
   */
  put(scope: WriteScope, items: readonly TranscriptItem[], maxTerms?: number): Promise<Outcome[]>;
  /** Updates the copy of the session's rank in its transcript, within a transaction. */
  move(scope: WriteScope, sessionId: UUID, rank: number, options: WriteOptions): Promise<void>;
  /** Deletes the transcript of a session. Returns false if there is no transcript. */
  remove(scope: WriteScope, sessionId: UUID): Promise<boolean>;
}

/** The index that finds transcripts by their rank, and first those that have none. */
export const rankIndex = "rank";

export const transcriptCollection: CollectionSpec = {
  collection: collections.transcripts,
  // A transcript has thousands of search terms, each with an entry of the index.
  erasure: { key: "_id", hint: recordsIndex.name, batchSize: 5 },
  indexes: [recordsIndex, termsIndex, { key: { rank: 1, account_id: 1 }, name: rankIndex }],
  retired: ["account"],
};

/** Creates the store of a database's transcripts. */
export function createTranscriptStore(
  client: MongoClient,
  lockSessions: LockNamed<KnownRecord & Pick<SessionDocument, "rank">>,
): TranscriptStore {
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
            pipeline: [
              { $match: { _id: sessionId, account_id: scope.accountId } },
              { $project: { text: 1, recording: 1 } },
            ],
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

    async put(scope, items, maxTerms) {
      const sessionOf = ({ sessionId: id, sessionExternalId: externalId }: TranscriptItem) => ({ id, externalId });
      const texts = await Promise.all(
        items.map(({ transcript }) => (transcript === undefined ? null : storedText(transcript))),
      );
      const terms = await termsOfTexts(scope, items, maxTerms);
      return putBatch(client, scope, transcripts, {
        names: items.map(() => ({})),
        find: undefined,
        async prepare(session) {
          const known = await lockSessions(scope, items.map(sessionOf), session);
          return (at) => {
            const item = items[at] as TranscriptItem;
            const { _id, rank } = parentOf("session", sessionOf(item), known);
            const [text = null, searchTerms = []] = [texts[at], terms[at]];
            const recording = recordingDocument(item);
            return { _id, account_id: scope.accountId, text, recording, rank, [termsField]: searchTerms };
          };
        },
      });
    },

    async move(scope, sessionId, rank, options) {
      requireGrant(scope);
      const prepared = { _id: sessionId, account_id: scope.accountId, rank: { $exists: true } };
      await transcripts.updateOne(prepared, { $set: { rank } }, options);
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

/** Returns the search terms of each item. Fails with INVALID_REQUEST if several have more than `maxTerms` together. */
async function termsOfTexts(
  scope: WriteScope,
  items: readonly TranscriptItem[],
  maxTerms: number | undefined,
): Promise<readonly string[][]> {
  const terms: string[][] = [];
  for (const { transcript = "" } of items)
    terms.push(await spokenTerms(transcript, () => requireNotPast(scope.deadline)));
  await termsOfBatch(scope, terms, maxTerms, (searchTerms) => ({ searchTerms, searchText: "" }));
  return terms;
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
