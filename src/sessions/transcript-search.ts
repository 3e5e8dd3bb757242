// Transcript search: finds the sessions by the index of their words, and reads the passages from their texts.
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import type { FieldsOf, StoredName } from "../db/fields.ts";
import { projectionOf, fieldsIn } from "../db/fields.ts";
import { idText, timestamp } from "../db/message.ts";
import { anyOf } from "../db/word-search.ts";
import type { PageRequest } from "../db/page.ts";
import { instantOf, rankBetween } from "../db/rank.ts";
import { read } from "../db/read.ts";
import { searchIndex } from "../db/search-index.ts";
import type { RankRange } from "../db/term-counts.ts";
import type { DeflatedText } from "../large/deflated.ts";
import { inflateText } from "../large/deflated.ts";
import { requireNotPast } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { SearchTranscriptsResponse, TranscriptPassage } from "../gen/records/v1/sessions_pb.ts";
import type { Scope } from "../call/scope.ts";
import { wordReadings } from "../search/readings.ts";
import type { SessionDocument } from "./document.ts";
import { matchTranscripts } from "./matching.ts";
import { clientOf } from "./messages.ts";
import type { Budget, Passage } from "./passages.ts";
import { findPassages } from "./passages.ts";
import { speakerAt } from "./speakers.ts";
import type { TranscriptDocument } from "./transcripts.ts";
import { lookUpTranscripts, rankIndex } from "./transcripts.ts";

/** The words and the sessions to search. Instants are in milliseconds since 1970, both inclusive. */
export interface SpokenFilter {
  readonly query: string;
  readonly contactId: UUID | undefined;
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** Searches transcripts. */
export interface TranscriptSearch {
  /** Returns the passages of one session. Fails with NOT_FOUND if the account has no such session. */
  inSession(scope: Scope, sessionId: UUID, query: string): Promise<SearchTranscriptsResponse>;
  /** Returns the passages of a page of the matching sessions, newest first. */
  search(scope: Scope, filter: SpokenFilter, page: PageRequest): Promise<SearchTranscriptsResponse>;
}

/** The fields of a session that its passages show. */
const sessionFields = {
  texts: { sessionTitle: "title" },
  times: { sessionDate: "session_date" },
} as const satisfies FieldsOf<TranscriptPassage, "sessionId" | "offset" | "text" | "client" | "speaker" | "hasMore">;
const sessionProjection = { contact_id: 1, client: 1, ...projectionOf(sessionFields) };

type SpokenSession = Pick<SessionDocument, "_id" | "contact_id" | "client" | StoredName<typeof sessionFields>>;

/** A transcript that matches by its search terms, and its session. */
interface Candidate {
  readonly _id: UUID;
  readonly size: number;
  /** Empty without a session, as a restored backup can contain it, and for the session of another contact. */
  readonly session: readonly SpokenSession[];
}

/** The maximum number of a contact's sessions that are searched, newest first. */
const maxOfContact = 500;
/** The maximum number of passages in a session, in a search of one session and of several. */
const maxInSession = 20;
const maxInEach = 3;
/**
 * The maximum number of bytes of JSON that are searched for a page, about 30 hours of speech. The text of the page's
 * first session may exceed it.
 */
const maxBytes = 2_000_000;
const maxFirstBytes = 8_000_000;
/** The maximum size of a page's passages, so that it fits in the result of a tool. */
const maxPageBytes = 40_000;
/** The maximum number of pieces of a text whose words are compared one by one. Each takes about 100 microseconds. */
const maxPieces = { inSession: 1_000, inEach: 300, ofWord: 100 } as const;
/** The maximum number of readings of a query, as each has look-ups of its own. */
const maxReadings = 4;
/** The maximum number of words that are searched for separately, if no passage has all of them. */
const maxSeparate = 8;

/** Creates the search over a database's transcripts. */
export function createTranscriptSearch(client: MongoClient): TranscriptSearch {
  const sessions: Collection<Document> = client.db().collection(collections.sessions);
  const transcripts: Collection<Document> = client.db().collection(collections.transcripts);

  /**
   * Returns the page of the transcripts with all words of a reading by their terms, and the rank at which the search
   * ended.
   */
  async function candidatesOf(scope: Scope, readings: Readings, filter: SpokenFilter, page: PageRequest) {
    const nothing = { rows: [], endedAt: undefined };
    const { first, last, contactId } = filter;
    if (readings.length === 0 || (first !== undefined && last !== undefined && first > last)) return nothing;
    const within = first === undefined && last === undefined ? {} : { rank: rankBetween(first, last) };
    const ranks = contactId === undefined ? undefined : await ranksOfContact(sessions, scope, contactId, within);
    if (ranks?.length === 0) return nothing;
    const among = ranks === undefined ? within : { rank: { $in: ranks.slice(0, maxOfContact) } };
    const found = readings.map((words) => matchTranscripts(transcripts, scope, words, among, page));
    const matching = (await Promise.all(found)).flatMap((one) => one ?? []);
    const endOfContact = ranks?.[maxOfContact];
    if (matching.length === 0) return { ...nothing, endedAt: endOfContact };
    const ends = matching.flatMap(({ endedAt }) => endedAt ?? []);
    const endedAt = ends.length === 0 ? undefined : Math.max(...ends);
    const stages = [
      { $match: { account_id: scope.accountId, ...anyOf(matching.map(({ condition }) => condition)) } },
      // Of older ones, some readings would find all and others none.
      ...(endedAt === undefined ? [] : [{ $match: { rank: { $gte: endedAt } } }]),
      { $sort: { rank: -1 } },
      ...(page.offset === 0 ? [] : [{ $skip: page.offset }]),
      { $limit: page.limit + 1 },
      { $project: { size: "$text.size" } },
      lookUpSession(scope, contactId),
    ];
    const rows = await read<Candidate>(transcripts, scope, stages, { hint: searchIndex });
    return { rows, endedAt: rows.length > page.limit ? undefined : (endedAt ?? endOfContact) };
  }

  async function isPreparing(scope: Scope): Promise<boolean> {
    const unprepared = [
      { $match: { rank: null, account_id: scope.accountId } },
      { $limit: 1 },
      { $project: { _id: 1 } },
    ];
    return (await read(transcripts, scope, unprepared, { hint: rankIndex })).length > 0;
  }

  return {
    async inSession(scope, sessionId, query) {
      const stages = [
        { $match: { _id: sessionId, account_id: scope.accountId } },
        { $project: sessionProjection },
        lookUpTranscripts(scope, { _id: 0, size: "$text.size" }),
      ];
      const [session] = await read<SpokenSession & { spoken: readonly { size: number }[] }>(sessions, scope, stages);
      if (session === undefined) return fail(Reason.NOT_FOUND);
      const readings = readingsOf(query);
      const texts = await textsOfSessions(transcripts, scope, readings.length === 0 ? [] : [sessionId]);
      const text = texts.get(sessionId.toHexString());
      if (text === undefined) return response([], true);
      const budget = { passages: maxInSession + 1, pieces: maxPieces.inSession };
      const inflated = await inflateText(text, maxFirstBytes);
      const found = await findPassages(inflated, readings, budget, () => requireNotPast(scope.deadline));
      const isWhole = found.length <= maxInSession && budget.pieces > 0 && text.size <= maxFirstBytes;
      const shown = found.slice(0, maxInSession);
      return response(messagesOf(session, inflated, { shown, hasMore: !isWhole }), isWhole);
    },

    async search(scope, filter, page) {
      const readings = readingsOf(filter.query);
      const [{ rows, endedAt }, preparing] = await Promise.all([
        candidatesOf(scope, readings, filter, page),
        isPreparing(scope),
      ]);
      const { passages, taken } = await passagesOf(transcripts, scope, readings, rows.slice(0, page.limit));
      const hasMore = rows.length > taken;
      const isWhole = !hasMore && !preparing && endedAt === undefined && !passages.some((one) => one.hasMore);
      return {
        ...response(passages, isWhole),
        preparing,
        pagination: {
          $typeName: "records.v1.Pagination",
          ...page,
          hasMore,
          ...(hasMore ? { nextOffset: page.offset + taken } : {}),
        },
        ...(hasMore || endedAt === undefined ? {} : searchedBackTo(endedAt)),
      };
    },
  };
}

/** The ways to read a query, each with its words. */
type Readings = readonly (readonly string[])[];

function readingsOf(query: string): Readings {
  return wordReadings(query, false)
    .slice(0, maxReadings)
    .map(({ words }) => words);
}

/** Returns the ranks of a contact's newest sessions, and of the first one after these, if there is one. */
async function ranksOfContact(
  sessions: Collection<Document>,
  scope: Scope,
  contactId: UUID,
  within: RankRange,
): Promise<readonly number[]> {
  const newest = [
    { $match: { account_id: scope.accountId, contact_id: contactId, ...within } },
    { $sort: { rank: -1 } },
    { $limit: maxOfContact + 1 },
    { $project: { _id: 0, rank: 1 } },
  ];
  return (await read<{ rank: number }>(sessions, scope, newest, { hint: "contact" })).map(({ rank }) => rank);
}

/** Returns the stage that adds its session to a transcript, unless that belongs to another contact of the same rank. */
function lookUpSession(scope: Scope, contactId: UUID | undefined): Document {
  const ofContact = contactId === undefined ? {} : { contact_id: contactId };
  const pipeline = [{ $match: { account_id: scope.accountId, ...ofContact } }, { $project: sessionProjection }];
  return {
    $lookup: { from: collections.sessions, localField: "_id", foreignField: "_id", pipeline, as: "session" },
  };
}

/** Returns the passages of the candidates, and the number of candidates that were searched before the page was full. */
async function passagesOf(
  transcripts: Collection<Document>,
  scope: Scope,
  readings: Readings,
  candidates: readonly Candidate[],
): Promise<{ readonly passages: readonly TranscriptPassage[]; readonly taken: number }> {
  const chosen = withinBytes(candidates);
  const texts = await textsOfSessions(
    transcripts,
    scope,
    chosen.map(({ _id }) => _id),
  );
  const passages: TranscriptPassage[] = [];
  let bytes = 0;
  for (const [at, { _id, session }] of chosen.entries()) {
    const deflated = texts.get(_id.toHexString());
    const [of] = session;
    // No match, or deleted since the candidates were read.
    if (deflated === undefined || of === undefined) continue;
    const text = await inflateText(deflated, maxFirstBytes);
    const found = await passagesIn(text, readings, () => requireNotPast(scope.deadline));
    const hasMore = found.hasMore || (deflated.size > maxFirstBytes && found.shown.length > 0);
    const messages = messagesOf(of, text, { shown: found.shown, hasMore });
    bytes += messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message.text)), 0);
    if (bytes > maxPageBytes && passages.length > 0) return { passages, taken: at };
    passages.push(...messages);
  }
  return { passages, taken: chosen.length };
}

/** Passages of one session, and whether more match. */
interface Shown {
  readonly shown: readonly Passage[];
  readonly hasMore: boolean;
}

/**
 * Returns the first passages with all words of a reading. If no passage has them all, returns the first passage with
 * each word. If a word was not said at all, which its term alone does not show, returns none.
 */
async function passagesIn(text: string, readings: Readings, requireInTime: () => void): Promise<Shown> {
  const budget: Budget = { passages: maxInEach + 1, pieces: maxPieces.inEach };
  const together = await findPassages(text, readings, budget, requireInTime);
  if (together.length > 0)
    return { shown: together.slice(0, maxInEach), hasMore: together.length > maxInEach || budget.pieces === 0 };
  for (const words of readings.filter(({ length }) => length > 1)) {
    const separate = words.slice(0, maxSeparate);
    const firsts: Passage[] = [];
    for (const word of separate) {
      const [first] = await findPassages(text, [[word]], { passages: 1, pieces: maxPieces.ofWord }, requireInTime);
      if (first === undefined) break;
      firsts.push(first);
    }
    if (firsts.length < separate.length) continue;
    const apart = new Map(firsts.map((first) => [first.offset, first]));
    const shown = [...apart.values()].sort((a, b) => a.offset - b.offset).slice(0, maxInEach);
    return { shown, hasMore: true };
  }
  return { shown: [], hasMore: false };
}

/** Returns the first candidates whose texts have at most `maxBytes` in total, and at least one. */
function withinBytes(candidates: readonly Candidate[]): readonly Candidate[] {
  let bytes = 0;
  return candidates.filter(({ size }, at) => {
    bytes += size;
    return at === 0 || bytes <= maxBytes;
  });
}

async function textsOfSessions(
  transcripts: Collection<Document>,
  scope: Scope,
  ids: readonly UUID[],
): Promise<ReadonlyMap<string, DeflatedText>> {
  if (ids.length === 0) return new Map();
  const rows = await read<TranscriptDocument>(transcripts, scope, [
    { $match: { _id: { $in: [...ids] }, account_id: scope.accountId } },
    { $project: { text: 1 } },
  ]);
  return new Map(
    rows.flatMap(({ _id, text }) =>
      text === null ? [] : [[_id.toHexString(), { ...text, blocks: text.blocks.buffer }] as const],
    ),
  );
}

function messagesOf(session: SpokenSession, text: string, { shown, hasMore }: Shown): TranscriptPassage[] {
  return shown.map(({ offset, text: words, place }, at) => {
    const speaker = speakerAt(text, place);
    return {
      $typeName: "records.v1.TranscriptPassage",
      sessionId: idText(session._id),
      ...fieldsIn(sessionFields, session),
      offset,
      text: words,
      ...clientOf(session),
      ...(speaker !== undefined && { speaker }),
      hasMore: hasMore && at === shown.length - 1,
    };
  });
}

function response(passages: readonly TranscriptPassage[], complete: boolean): SearchTranscriptsResponse {
  return {
    $typeName: "records.v1.SearchTranscriptsResponse",
    passages: [...passages],
    complete,
    preparing: false,
  };
}

function searchedBackTo(rank: number): Pick<SearchTranscriptsResponse, "searchedBackTo"> {
  const instant = instantOf(rank);
  return instant === undefined ? {} : { searchedBackTo: timestamp(new Date(instant)) };
}
