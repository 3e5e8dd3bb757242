// Prepares transcripts of an earlier release for their search: adds their terms and ranks in the background.
import type { MongoClient, UUID } from "mongodb";
import { findAll } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import { newRevision } from "../db/conflicts.ts";
import { isAway } from "../db/mongo.ts";
import { rankUndated } from "../db/rank.ts";
import type { Background, OnTrouble } from "../db/run-periodically.ts";
import { runPeriodically } from "../db/run-periodically.ts";
import { termsField } from "../db/search-fields.ts";
import { transaction } from "../db/write.ts";
import { deadlineIn, requireNotPast } from "../call/deadline.ts";
import { inflateText } from "../large/deflated.ts";
import type { SessionDocument } from "./document.ts";
import { spokenTerms } from "./spoken-terms.ts";
import type { TranscriptDocument } from "./transcripts.ts";
import { rankIndex } from "./transcripts.ts";

/** An instance of the previous release may still write transcripts, so the search for them never ends. */
const lookEveryMs = 10_000;
/** The number of transcripts that are read at once. */
const batch = 10;
/** The time for one transcript. */
const preparationMs = 60_000;

/** Looks for transcripts to prepare every 10 seconds. */
export function prepareTranscripts(client: MongoClient, onTrouble: OnTrouble): Background {
  return runPeriodically(
    lookEveryMs,
    (isStopped) => prepareStored(client, isStopped),
    (error) => {
      if (!isAway(error)) onTrouble("transcripts cannot be prepared for their search", error);
    },
  );
}

/**
 * Prepares all transcripts without a rank. The rank shows what is done, so another instance or a later start continues.
 * Several instances may do the same work; one write wins.
 */
export async function prepareStored(client: MongoClient, isStopped: () => boolean): Promise<void> {
  const transcripts = client.db().collection<TranscriptDocument>(collections.transcripts);
  for (let found = batch; found === batch && !isStopped(); ) {
    const unprepared = await findAll<TranscriptDocument>(
      transcripts,
      { rank: null },
      { hint: rankIndex, limit: batch, projection: { account_id: 1, text: 1 }, comment: "watch", deadline: undefined },
    );
    for (const transcript of unprepared) if (!isStopped()) await prepare(client, transcript);
    found = unprepared.length;
  }
}

/** Adds the terms and the rank to a transcript, unless it was replaced or prepared meanwhile. */
async function prepare(client: MongoClient, { _id, account_id, text }: TranscriptDocument): Promise<void> {
  const sessions = client.db().collection<SessionDocument>(collections.sessions);
  const transcripts = client.db().collection<TranscriptDocument>(collections.transcripts);
  const deadline = deadlineIn(preparationMs);
  // A damaged text has no words, and must not keep the others from being prepared.
  const said =
    text === null ? "" : await inflateText({ ...text, blocks: text.blocks.buffer }, Infinity).catch(() => "");
  const terms = await spokenTerms(said, () => requireNotPast(deadline));
  await transaction(client, deadline, async (session) => {
    // Locks the session, so that a concurrent change of its date also changes the rank of the transcript.
    const lock = { $set: { version: newRevision() } };
    const parent = await sessions.findOneAndUpdate({ _id, account_id }, lock, { session, projection: { rank: 1 } });
    await transcripts.updateOne(
      { _id, account_id, rank: { $exists: false }, text },
      // A restored backup can contain a transcript without its session, which no search returns.
      { $set: { rank: parent?.rank ?? rankUndated(new Date(0), _id as UUID), [termsField]: terms } },
      { session },
    );
  });
}
