// Transcript search: scans a bounded number of bytes of the stored texts, which saves an index of them.
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import type { FieldsOf, StoredName } from "../db/fields.ts";
import { projectionOf, textsOf, timesOf } from "../db/fields.ts";
import { idText } from "../db/message.ts";
import { read } from "../db/read.ts";
import type { DeflatedText } from "../deflated.ts";
import { inflateText } from "../deflated.ts";
import { requireNotPast } from "../deadline.ts";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { SearchTranscriptsResponse, TranscriptPassage } from "../gen/records/v1/sessions_pb.ts";
import type { Scope } from "../call/scope.ts";
import { queryWords } from "../search/words.ts";
import type { SessionDocument } from "./document.ts";
import { findPassages } from "./passages.ts";
import type { TranscriptDocument } from "./transcripts.ts";
import { lookUpTranscripts } from "./transcripts.ts";

/** Searches transcripts. */
export interface TranscriptSearch {
  /** Returns the passages of one session. Fails with NOT_FOUND if the account has no such session. */
  inSession(scope: Scope, sessionId: UUID, query: string): Promise<SearchTranscriptsResponse>;
  /** Returns passages, newest session first, from the newest 50 transcripts among a contact's newest 500 sessions. */
  ofContact(scope: Scope, contactId: UUID, query: string): Promise<SearchTranscriptsResponse>;
}

/** The fields of a session that its passages show. */
const sessionFields = {
  texts: { sessionTitle: "title" },
  times: { sessionDate: "session_date" },
} as const satisfies FieldsOf<TranscriptPassage, "sessionId" | "offset" | "text">;

/** A session with the size of its transcript, if it has one. */
interface SpokenSession extends Pick<SessionDocument, "_id" | StoredName<typeof sessionFields>> {
  readonly spoken: readonly { readonly size: number }[];
}

/**
 * The maximum numbers of a contact's sessions whose transcripts are looked up, and of transcripts that are searched.
 */
const maxSessions = 500;
const maxTranscripts = 50;
/** The maximum number of bytes of JSON that are searched: about 30 hours of speech. */
const maxBytes = 2_000_000;
const maxPassages = 20;
/** The maximum number of pieces whose words are compared one by one. Each takes about 100 microseconds. */
const maxPieces = 1_000;

/** Creates the search over a database's transcripts. */
export function createTranscriptSearch(client: MongoClient): TranscriptSearch {
  const sessions = client.db().collection(collections.sessions);
  const transcripts = client.db().collection(collections.transcripts);
  return {
    async inSession(scope, sessionId, query) {
      const session = [{ $match: { _id: sessionId, account_id: scope.accountId } }, ...spokenStages(scope)];
      const rows = await read<SpokenSession>(sessions, scope, session);
      if (rows.length === 0) return fail(Reason.NOT_FOUND);
      const spoken = rows.filter((row) => row.spoken.length > 0);
      return searchIn(transcripts, scope, spoken, query);
    },
    async ofContact(scope, contactId, query) {
      const ofContact = [{ $match: { account_id: scope.accountId, contact_id: contactId } }, { $sort: { rank: -1 } }];
      const newest = [
        ...ofContact,
        { $limit: maxSessions },
        ...spokenStages(scope),
        { $match: { spoken: { $ne: [] } } },
        // One more than is searched, to detect further transcripts.
        { $limit: maxTranscripts + 1 },
      ];
      const older = [...ofContact, { $skip: maxSessions }, { $limit: 1 }, { $project: { _id: 1 } }];
      const [spoken, others] = await Promise.all([
        read<SpokenSession>(sessions, scope, newest, { hint: "contact" }),
        read(sessions, scope, older, { hint: "contact" }),
      ]);
      const found = await searchIn(transcripts, scope, spoken, query);
      return { ...found, complete: found.complete && others.length === 0 };
    },
  };
}

async function searchIn(
  transcripts: Collection,
  scope: Scope,
  sessions: readonly SpokenSession[],
  query: string,
): Promise<SearchTranscriptsResponse> {
  const words = queryWords(query);
  const chosen = words.length === 0 ? [] : withinBytes(sessions.slice(0, maxTranscripts));
  const texts = await textsOfSessions(transcripts, scope, chosen);
  const passages: TranscriptPassage[] = [];
  // One more than is shown, to detect further passages.
  const budget = { passages: maxPassages + 1, pieces: maxPieces };
  let left = maxBytes;
  for (const session of chosen) {
    const text = texts.get(session._id.toHexString());
    if (text === undefined || budget.passages === 0) continue;
    const found = await findPassages(await inflateText(text, left), words, budget, () =>
      requireNotPast(scope.deadline),
    );
    left -= text.size;
    passages.push(...found.map((passage) => passageMessage(session, passage)));
  }
  const isWhole = passages.length <= maxPassages && budget.pieces > 0 && left >= 0 && chosen.length === sessions.length;
  return {
    $typeName: "records.v1.SearchTranscriptsResponse",
    passages: passages.slice(0, maxPassages),
    complete: isWhole || words.length === 0,
  };
}

async function textsOfSessions(
  transcripts: Collection,
  scope: Scope,
  chosen: readonly SpokenSession[],
): Promise<ReadonlyMap<string, DeflatedText>> {
  if (chosen.length === 0) return new Map();
  const rows = await read<TranscriptDocument>(transcripts, scope, [
    { $match: { _id: { $in: chosen.map(({ _id }) => _id) }, account_id: scope.accountId } },
    { $project: { text: 1 } },
  ]);
  return new Map(
    rows.flatMap(({ _id, text }) =>
      text === null ? [] : [[_id.toHexString(), { ...text, blocks: text.blocks.buffer }] as const],
    ),
  );
}

/** Returns the stages that project sessions and add the sizes of their transcripts. */
function spokenStages(scope: Scope): Document[] {
  return [{ $project: projectionOf(sessionFields) }, lookUpTranscripts(scope, { _id: 0, size: "$text.size" })];
}

/**
 * Returns the first sessions whose transcripts begin within `maxBytes` in total. The last transcript may extend
 * beyond.
 */
function withinBytes(rows: readonly SpokenSession[]): readonly SpokenSession[] {
  let before = 0;
  return rows.filter(({ spoken }) => {
    const begins = before < maxBytes;
    before += spoken[0]?.size ?? 0;
    return begins;
  });
}

function passageMessage(
  session: SpokenSession,
  { offset, text }: { readonly offset: number; readonly text: string },
): TranscriptPassage {
  return {
    $typeName: "records.v1.TranscriptPassage",
    sessionId: idText(session._id),
    ...textsOf(sessionFields.texts, session),
    ...timesOf(sessionFields.times, session),
    offset,
    text,
  };
}
