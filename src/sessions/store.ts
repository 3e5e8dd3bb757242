// Store of sessions: indexes, listing, searching, reading and deleting, and the copies of contacts' names.
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { countUpTo } from "../db/aggregate.ts";
import { projectionOf } from "../db/fields.ts";
import type { ListSessionsResponse, SessionDetail, SessionSummary } from "../gen/records/v1/sessions_pb.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { recordsIndex } from "../db/mongo.ts";
import type { KnownRecord, LockNamed, NamedRecords, RecordName } from "../db/named.ts";
import { externalIdIndex, findNamed, lockNamed, removeFound } from "../db/named.ts";
import type { PageRequest } from "../db/page.ts";
import { checkStages, cutPage, pageStages } from "../db/page.ts";
import { findByAnyWord, readInOrder } from "../db/any-word.ts";
import { rankAt, rankBetween, rankUndated } from "../db/rank.ts";
import { read } from "../db/read.ts";
import type { Rebuild } from "../db/rebuild-terms.ts";
import type { StoredTerms } from "../db/search-fields.ts";
import { storedTerms, termsField, textField, withoutTerms } from "../db/search-fields.ts";
import type { WriteOptions } from "../db/write.ts";
import { listIndex, termsIndex } from "../db/search-index.ts";
import type { WordPlan, WordQuery } from "../db/word-search.ts";
import { anyOf, indexOf, planFilters, readingsFilter, searchPage } from "../db/word-search.ts";
import type { Scope, WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";
import { previousTermsIndex, previousTermsOf } from "../db/previous-terms.ts";
import type { Reading } from "../search/readings.ts";
import { sessionReadings, wordsOf } from "../search/readings.ts";
import type { Terms } from "../search/terms.ts";
import { checkPattern, marked, SESSION_SHAPE, terms } from "../search/terms.ts";
import { nameWords, recordWords, spellingsOfName } from "../search/words.ts";
import { sessionNoteFields } from "../notes/document.ts";
import type { SessionClientNames, SessionDocument } from "./document.ts";
import type { SessionNoteRow, SummaryRow } from "./messages.ts";
import { sessionDetail, sessionSummary, summaryProjection } from "./messages.ts";
import { lookUpTranscripts } from "./transcripts.ts";

/** The sessions to list. Instants are in milliseconds since 1970, both inclusive. */
export interface SessionFilter {
  readonly query: string | undefined;
  readonly contactId: UUID | undefined;
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly hasTranscript: boolean | undefined;
  readonly hasNotes: boolean | undefined;
  /** Words that the contact's name must contain. */
  readonly contactName: string | undefined;
  /** Finds sessions with any word of the query, best match first. */
  readonly anyWord: boolean;
  /** Lists dated sessions, the earliest first. */
  readonly soonest: boolean;
}

/** The sessions of all accounts. Each method works within one account. */
export interface SessionStore {
  /**
   * Returns a page of the matching sessions, newest first and undated ones last. With `anyWord`, the best match comes
   * first, and with `soonest` the earliest.
   */
  list(scope: Scope, filter: SessionFilter, page: PageRequest): Promise<ListSessionsResponse>;
  /** Returns those of the sessions that the account has, as a list shows them, in no order. */
  summaries(scope: Scope, ids: readonly UUID[]): Promise<readonly SessionSummary[]>;
  /** Returns the session with its notes. Returns undefined if the account has no such session. */
  get(scope: Scope, id: UUID): Promise<SessionDetail | undefined>;
  /** Updates the contact's names in all its sessions. */
  renameClient(scope: WriteScope, contactId: UUID, names: SessionClientNames, options: WriteOptions): Promise<void>;
  /** Counts the sessions of contacts, up to `limit`. */
  countOfClients(scope: WriteScope, contactIds: readonly UUID[], limit: number): Promise<number>;
  /** Detaches sessions from contacts within a transaction: all of them, or at most `limit`. */
  detachClients(scope: WriteScope, contactIds: readonly UUID[], options: WriteOptions, limit?: number): Promise<void>;
  /** Finds all named sessions by one command. Reads only their names. */
  ids(scope: WriteScope, names: readonly RecordName[]): Promise<NamedRecords<KnownRecord>>;
  /** Finds the named sessions, and locks them, so that no concurrent deletion can commit. */
  readonly lockNamed: LockNamed<KnownRecord & Pick<SessionDocument, "title" | "rank">>;
  /** Deletes sessions and their transcripts, within a transaction. Returns the ids of the sessions that existed. */
  remove(scope: WriteScope, ids: readonly UUID[], options: WriteOptions): Promise<UUID[]>;
}

export const sessionCollection: CollectionSpec = {
  collection: collections.sessions,
  erasure: { key: "rank", hint: listIndex },
  indexes: [
    termsIndex,
    previousTermsIndex,
    { key: { account_id: 1, rank: -1 }, name: listIndex },
    recordsIndex,
    { key: { account_id: 1, contact_id: 1, rank: -1 }, name: "contact" },
    externalIdIndex,
  ],
};

/** The maximum number of sessions whose transcripts or notes are looked up, which bounds the time of a list. */
export const maxLookedUp = 2_000;

/** Creates the store of a database's sessions. */
export function createSessionStore(client: MongoClient): SessionStore {
  const sessions = client.db().collection<SessionDocument>(collections.sessions);
  const transcripts = client.db().collection<KnownRecord>(collections.transcripts);
  const untyped = sessions as unknown as Collection<Document>;
  const mayHavePrevious = previousTermsOf(client).watch(collections.sessions);
  const searchOf = (query: string): WordQuery => ({
    readings: sessionReadings(query, mayHavePrevious()),
    shape: SESSION_SHAPE,
    hasPrevious: mayHavePrevious(),
  });

  return {
    ...clientCopies(sessions),
    ids: (scope, names) => findNamed<KnownRecord>(sessions as never, scope, names, { fields: {} }),
    lockNamed: (scope, names, session) => lockNamed(sessions, scope, names, { fields: { title: 1, rank: 1 }, session }),

    async remove(scope, ids, options) {
      const found = await removeFound(sessions, scope, { _id: { $in: ids } }, options);
      await transcripts.deleteMany({ _id: { $in: found }, account_id: scope.accountId }, options);
      return found;
    },

    async list(scope, filter, page) {
      if (filter.anyWord && filter.query !== undefined) return listByAnyWord(untyped, scope, filter, page, searchOf);
      const { rows, pagination } = cutPage(await find(untyped, scope, filter, page, searchOf), page);
      return { $typeName: "records.v1.ListSessionsResponse", sessions: rows.map(sessionSummary), pagination };
    },

    async summaries(scope, ids) {
      const match = { $match: { _id: { $in: [...ids] }, account_id: scope.accountId } };
      return (await read<SummaryRow>(untyped, scope, [match, { $project: summaryProjection }])).map(sessionSummary);
    },

    async get(scope, id) {
      const [document, ...notes] = await read<SessionDocument | SessionNoteRow>(
        untyped,
        scope,
        [
          { $match: { _id: id, account_id: scope.accountId } },
          { $project: { ...withoutTerms, own: 0 } },
          {
            $unionWith: {
              coll: collections.notes,
              pipeline: [
                { $match: { account_id: scope.accountId, parent_id: id, kind: "session" } },
                { $project: { position: 1, type: 1, ...projectionOf(sessionNoteFields) } },
              ],
            },
          },
        ],
        { canBeHuge: true },
      );
      if (document === undefined || !("contact_id" in document)) return undefined;
      return sessionDetail(document, notes as SessionNoteRow[]);
    },
  };
}

async function listByAnyWord(
  sessions: Collection<Document>,
  scope: Scope,
  filter: SessionFilter,
  page: PageRequest,
  searchOf: (query: string) => WordQuery,
): Promise<ListSessionsResponse> {
  const { indexed, checked, isEmpty } = conditionOf(filter);
  const words = wordsOf(searchOf(filter.query ?? "").readings);
  const condition = { ...indexed, ...checked };
  const ids = isEmpty ? [] : await findByAnyWord(sessions, scope, words, SESSION_SHAPE, condition);
  const stages = [...lookUpStages(scope, filter), { $project: summaryProjection }];
  // Cut here, best first: a `$limit` in the stages would keep arbitrary sessions.
  const found = await readInOrder<SummaryRow>(sessions, scope, ids.slice(0, maxLookedUp), stages);
  const { rows, pagination } = cutPage(found.slice(page.offset, page.offset + page.limit + 1), page);
  return { $typeName: "records.v1.ListSessionsResponse", sessions: rows.map(sessionSummary), pagination };
}

/** Returns the conditions of a filter other than its words: those that an index covers, and those that are checked. */
function conditionOf({ contactId, first, last, contactName, soonest }: SessionFilter): {
  readonly indexed: { readonly contact_id?: UUID; readonly rank?: Document };
  readonly checked: Document;
  /** Whether no session can match. */
  readonly isEmpty: boolean;
} {
  return {
    indexed: {
      ...(contactId === undefined ? {} : { contact_id: contactId }),
      ...(first === undefined && last === undefined && !soonest ? {} : { rank: rankBetween(first, last) }),
    },
    checked: contactName === undefined ? {} : nameFilter(contactName),
    isEmpty:
      (first !== undefined && last !== undefined && first > last) ||
      (contactName !== undefined && sessionReadings(contactName, false).length === 0),
  };
}

/** Returns the sessions of the page, and one more if there is one. */
async function find(
  sessions: Collection<Document>,
  scope: Scope,
  filter: SessionFilter,
  page: PageRequest,
  searchOf: (query: string) => WordQuery,
): Promise<SummaryRow[]> {
  const { query, contactId, contactName, soonest } = filter;
  const { indexed, checked, isEmpty } = conditionOf(filter);
  const searches = [query, contactName].flatMap((text) => (text === undefined ? [] : [searchOf(text)]));
  if (isEmpty || searches.some(({ readings }) => readings.length === 0)) return [];
  const run = (hint: string, words: Document, alsoChecked: Document = {}): Promise<SummaryRow[]> => {
    const match = { $match: { account_id: scope.accountId, ...indexed, ...words } };
    const narrowing = [...checkStages({ ...alsoChecked, ...checked }), ...lookUpStages(scope, filter)];
    const stages = [match, ...pageStages(page, narrowing, soonest ? 1 : -1), { $project: summaryProjection }];
    return read<SummaryRow>(sessions, scope, stages, { hint });
  };
  const search = searches.reduce<WordQuery | undefined>(bothOf, undefined);
  const within = indexed.rank === undefined ? {} : { rank: indexed.rank };
  // A contact has few sessions, so the index on contacts finds them and every word is checked.
  if (contactId !== undefined)
    return run("contact", search === undefined ? {} : readingsFilter(search.readings, SESSION_SHAPE));
  if (search === undefined) return run(listIndex, {});
  // A search by words begins with the newest sessions.
  if (soonest) return run(listIndex, {}, readingsFilter(search.readings, SESSION_SHAPE));
  const byWords = (plans: readonly WordPlan[]): Promise<SummaryRow[]> =>
    run(indexOf(plans), anyOf(planFilters(plans, "begun", search, within)));
  return searchPage(sessions, scope, search, { page, within, run: byWords });
}

/** Returns the query of two, whose readings combine one of each. */
function bothOf(one: WordQuery | undefined, other: WordQuery): WordQuery {
  if (one === undefined) return other;
  const readings = one.readings.flatMap((first) =>
    other.readings.map(
      ({ words, ofPrevious }): Reading => ({
        words: [...new Set([...first.words, ...words])],
        ofPrevious: first.ofPrevious || ofPrevious,
      }),
    ),
  );
  return { ...other, readings };
}

/** Returns the stages that keep only sessions with a transcript or notes, or only those without. */
function lookUpStages(scope: Scope, { hasTranscript, hasNotes }: SessionFilter): Document[] {
  if (hasTranscript === undefined && hasNotes === undefined) return [];
  const found = (has: boolean): Document => (has ? { $ne: [] } : { $eq: [] });
  return [
    { $limit: maxLookedUp },
    { $project: summaryProjection },
    ...(hasTranscript === undefined
      ? []
      : [lookUpTranscripts(scope, { _id: 1 }), { $match: { spoken: found(hasTranscript) } }]),
    ...(hasNotes === undefined ? [] : [lookUpNote(scope), { $match: { noted: found(hasNotes) } }]),
  ];
}

/** Returns the stage that adds to each session, as `noted`, the id of one of its notes if it has any. */
function lookUpNote(scope: Scope): Document {
  const pipeline = [
    { $match: { account_id: scope.accountId, kind: "session" } },
    { $limit: 1 },
    { $project: { _id: 1 } },
  ];
  return { $lookup: { from: collections.notes, localField: "_id", foreignField: "parent_id", pipeline, as: "noted" } };
}

const ownTextPath = `$own.${textField}`;
const ownTermsPath = `$own.${termsField}`;

/** Returns the condition on the contact's name. Its words end the search text, after those of the session's own. */
function nameFilter(contactName: string): Document {
  const name = { $substrBytes: [`$${textField}`, { $strLenBytes: ownTextPath }, -1] };
  const conditions = sessionReadings(contactName, true).map(({ words }) => ({
    $and: words.map((word) => ({ $regexMatch: { input: name, regex: checkPattern(word, SESSION_SHAPE) } })),
  }));
  return { $expr: { $or: conditions } };
}

/** Creates the methods that maintain the copies of a contact in its sessions. */
function clientCopies(
  sessions: Collection<SessionDocument>,
): Pick<SessionStore, "renameClient" | "countOfClients" | "detachClients"> {
  const hint = "contact";
  return {
    countOfClients: ({ accountId, deadline }, contactIds, limit) =>
      countUpTo(sessions, limit, { account_id: accountId, contact_id: { $in: contactIds } }, { hint, deadline }),

    async renameClient(scope, contactId, names, options) {
      requireGrant(scope);
      const client = clientTerms(names);
      await sessions.updateMany(
        { account_id: scope.accountId, contact_id: contactId },
        [
          {
            $set: {
              client: { $literal: names },
              [textField]: { $concat: [ownTextPath, { $literal: client.searchText }] },
              [termsField]: { $setUnion: [ownTermsPath, { $literal: client.searchTerms }] },
            },
          },
        ],
        options,
      );
    },

    async detachClients(scope, contactIds, options, limit = 0) {
      requireGrant(scope);
      const found = await sessions
        .find(
          { account_id: scope.accountId, contact_id: { $in: contactIds } },
          { projection: { _id: 1 }, limit, hint, ...options },
        )
        .toArray();
      if (found.length === 0) return;
      await sessions.updateMany(
        { _id: { $in: found.map(({ _id }) => _id) }, account_id: scope.accountId },
        [{ $set: { contact_id: null, client: null, [textField]: ownTextPath, [termsField]: ownTermsPath } }],
        options,
      );
    },
  };
}

/** Returns the session with its derived fields: rank and search terms. */
export function deriveSession(
  document: Omit<SessionDocument, "rank" | "own" | keyof StoredTerms>,
  own: Terms = ownTerms(document),
): SessionDocument {
  const { _id, session_date, created_at, client } = document;
  const named = client === null ? { searchTerms: [], searchText: "" } : clientTerms(client);
  return {
    ...document,
    rank: session_date === null ? rankUndated(created_at, _id) : rankAt(session_date, _id),
    ...storedTerms({
      searchTerms: [...new Set([...own.searchTerms, ...named.searchTerms])],
      searchText: own.searchText + named.searchText,
    }),
    own: storedTerms(own),
  };
}

/** Returns how sessions get their search terms again. A new name of the client does not change the version. */
export const sessionRebuild: Rebuild = {
  fieldsOf(session) {
    const { own, ...derived } = deriveSession(session as SessionDocument);
    return { own, [textField]: derived[textField], [termsField]: derived[termsField] };
  },
  unchanged: ({ version, client }) => ({ version: version as number, client: client as SessionClientNames | null }),
};

/** The searchable texts of a session or an item. */
interface Titles {
  readonly title?: string | null | undefined;
  readonly subtitle?: string | null | undefined;
}

/** Returns the search terms of a session, without those of its client. */
export function ownTerms({ title, subtitle }: Titles): Terms {
  return marked(
    terms([title, subtitle].flatMap((text) => spellingsOfName(text ?? "")).flatMap(recordWords), SESSION_SHAPE),
  );
}

/** Returns the search terms of the name that a session shows for its client (contract §3.3). */
function clientTerms({ full_name, inferred_name }: SessionClientNames): Terms {
  const { words, endings } = nameWords(full_name ?? inferred_name);
  return terms(words, SESSION_SHAPE, endings);
}
