// Store of notes, those of contacts and sessions in one collection: indexes, searching, appending and deleting.
import type { Collection, Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import type { AppendContactNoteResponse } from "../gen/records/v1/contacts_pb.ts";
import type { NoteSearchResult, SearchNotesResponse } from "../gen/records/v1/notes_pb.ts";
import { NoteKind } from "../gen/records/v1/notes_pb.ts";
import { countUpTo } from "../db/aggregate.ts";
import { idText, omitNulls, timestamp } from "../db/message.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { recordsIndex } from "../db/mongo.ts";
import type { KnownRecord, NamedRecords, RecordName } from "../db/named.ts";
import { externalIdIndex, findNamed, removeFound } from "../db/named.ts";
import type { PageRequest } from "../db/page.ts";
import { checkStages, cutPage, pageStages } from "../db/page.ts";
import { rankAt, rankBetween } from "../db/rank.ts";
import { read } from "../db/read.ts";
import type { Rebuild } from "../db/rebuild-terms.ts";
import type { StoredTerms } from "../db/search-fields.ts";
import { storedTerms } from "../db/search-fields.ts";
import { isWithoutIndex, listIndex, searchIndex, termsIndex } from "../db/search-index.ts";
import { findByAnyWord, readInOrder } from "../db/any-word.ts";
import type { WordPlan, WordQuery } from "../db/word-search.ts";
import { anyOf, indexOf, planFilters, readingsFilter, searchPage } from "../db/word-search.ts";
import type { WriteOptions } from "../db/write.ts";
import { commit } from "../db/write.ts";
import type { Scope, WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";
import { displayName } from "../text/display-name.ts";
import { previousTermsIndex, previousTermsOf } from "../db/previous-terms.ts";
import { mapInPieces } from "../large/pieces.ts";
import { excerptBeyond } from "../search/excerpt.ts";
import type { Reading } from "../search/readings.ts";
import { wordReadings, wordsOf } from "../search/readings.ts";
import type { Terms } from "../search/terms.ts";
import { marked, NOTE_SHAPE, terms } from "../search/terms.ts";
import { recordWords } from "../search/words.ts";
import { endOfCodePoints } from "../text/text.ts";
import type { NoteDocument } from "./document.ts";
import { noTexts } from "./document.ts";

/** The names of a contact that owns notes. */
export interface LabelledContact {
  readonly full_name: string | null;
  readonly inferred_name: string | null;
  readonly email: string | null;
}

/** Locks a contact within a transaction and returns its names, as `ContactStore.lock` does. */
export type LockContact = (scope: WriteScope, id: UUID, options: WriteOptions) => Promise<LabelledContact>;

/** The notes to find. Instants are in milliseconds since 1970, both inclusive. */
export interface NoteFilter {
  readonly query: string | undefined;
  readonly kind: NoteDocument["kind"] | undefined;
  /** The stored type. */
  readonly type: string | undefined;
  readonly ownerId: UUID | undefined;
  /** True if the owner is a contact, and the notes of its newest sessions are searched instead of its own. */
  readonly ofSessions: boolean;
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Finds notes with any word of the query, best match first. */
  readonly anyWord: boolean;
  /** Adds the part of a long note around the first match that its excerpt lacks. */
  readonly withSnippets: boolean;
}

/** The notes of all accounts. Each method works within one account. */
export interface NoteStore {
  /** Returns a page of the matching notes, newest first unless `anyWord` is set. */
  search(scope: Scope, filter: NoteFilter, page: PageRequest): Promise<SearchNotesResponse>;
  /** Appends a manual note to a contact, which `lock` must find active. Fails as `lock` does. */
  append(scope: WriteScope, contactId: UUID, content: string, lock: LockContact): Promise<AppendContactNoteResponse>;
  /** Updates the owner's name in its notes. */
  relabel(
    scope: WriteScope,
    kind: NoteDocument["kind"],
    parentId: UUID,
    label: string | null,
    options: WriteOptions,
  ): Promise<void>;
  /** Finds all named notes of a kind by one command. Reads only their names. */
  ids(scope: WriteScope, kind: NoteDocument["kind"], names: readonly RecordName[]): Promise<NamedRecords<KnownRecord>>;
  /** Counts the notes of owners, up to `limit`. */
  countOf(scope: WriteScope, owners: NoteOwners, limit: number): Promise<number>;
  /** Deletes notes, or the notes of owners, within a transaction; at most `limit` if given. Returns their ids. */
  remove(
    scope: WriteScope,
    which: NoteOwners | { readonly _id: { readonly $in: readonly UUID[] } },
    options: WriteOptions,
    limit?: number,
  ): Promise<UUID[]>;
}

/** The owners of notes. */
export type NoteOwners = Pick<NoteDocument, "kind"> & { readonly parent_id: { readonly $in: readonly UUID[] } };

const parentIndex = "parent";
/** The maximum number of a contact's sessions, newest first, whose notes are searched. */
export const maxSessionsOfOwner = 50;
/** The maximum length of a note in search results, in code points. */
const excerptLength = 1_000;
/** The length of a snippet, in UTF-16 units. */
const snippetLength = 400;

export const noteCollection: CollectionSpec = {
  collection: collections.notes,
  erasure: { key: "rank", hint: listIndex },
  deferred: searchIndex,
  indexes: [
    termsIndex,
    previousTermsIndex,
    { key: { account_id: 1, parent_id: 1, rank: -1 }, name: parentIndex },
    { key: { account_id: 1, rank: -1 }, name: listIndex },
    recordsIndex,
    { ...externalIdIndex, key: { ...externalIdIndex.key, kind: 1 } },
  ],
};

/** Creates the store of a database's notes. */
export function createNoteStore(client: MongoClient): NoteStore {
  const notes = client.db().collection<NoteDocument>(collections.notes);
  const untyped = notes as unknown as Collection<Document>;
  const sessions = client.db().collection(collections.sessions);
  const mayHavePrevious = previousTermsOf(client).watch(collections.notes);
  const searchOf = (query: string): WordQuery => ({
    readings: wordReadings(query, mayHavePrevious()),
    shape: NOTE_SHAPE,
    hasPrevious: mayHavePrevious(),
  });

  return {
    async search(scope, filter, page) {
      const parents = await parentsOf(sessions, scope, filter);
      const { rows, pagination } = cutPage(await find(untyped, scope, filter, parents, page, searchOf), page);
      const readings = filter.withSnippets && filter.query !== undefined ? searchOf(filter.query).readings : [];
      const messages = await mapInPieces(rows, scope.deadline, (note) => withSnippet(note, readings));
      return { $typeName: "records.v1.SearchNotesResponse", notes: messages, pagination };
    },

    async append(scope, contactId, content, lock) {
      const document = newContactNote(scope.accountId, contactId, content);
      const response: AppendContactNoteResponse = {
        $typeName: "records.v1.AppendContactNoteResponse",
        note: {
          $typeName: "records.v1.ContactTimelineNote",
          id: idText(document._id),
          content,
          source: "api",
          createdAt: timestamp(document.created_at),
          updatedAt: timestamp(document.updated_at),
        },
      };
      const work = async (options: WriteOptions): Promise<void> => {
        const label = contactLabel(await lock(scope, contactId, options));
        await notes.insertOne({ ...document, label }, options);
      };
      await commit(client, scope, { message: response, records: [document._id, contactId] }, work, { atomic: true });
      return response;
    },

    async relabel(scope, kind, parentId, label, options) {
      requireGrant(scope);
      const filter = { account_id: scope.accountId, parent_id: parentId, kind };
      await notes.updateMany(filter, { $set: { label } }, options);
    },

    ids: (scope, kind, names) => findNamed<KnownRecord>(notes as never, scope, names, { fields: {}, kind }),
    countOf: (scope, owners, limit) =>
      countUpTo(notes, limit, { account_id: scope.accountId, ...owners }, { deadline: scope.deadline }),
    remove: (scope, which, options, limit) => removeFound(notes, scope, which, options, limit),
  };
}

/** Returns the owners whose notes the filter selects; undefined for all owners. */
async function parentsOf(
  sessions: Collection,
  scope: Scope,
  { ownerId, ofSessions }: NoteFilter,
): Promise<readonly UUID[] | undefined> {
  if (ownerId === undefined) return undefined;
  if (!ofSessions) return [ownerId];
  const newest = [
    { $match: { account_id: scope.accountId, contact_id: ownerId } },
    { $sort: { rank: -1 } },
    { $limit: maxSessionsOfOwner },
    { $project: { _id: 1 } },
  ];
  return (await read<KnownRecord>(sessions, scope, newest, { hint: "contact" })).map(({ _id }) => _id);
}

/** Returns the notes of the page, and one more if there is one. */
async function find(
  notes: Collection<Document>,
  scope: Scope,
  { query, kind, type, first, last, anyWord }: NoteFilter,
  parents: readonly UUID[] | undefined,
  page: PageRequest,
  searchOf: (query: string) => WordQuery,
): Promise<NoteDocument[]> {
  if (parents?.length === 0 || (first !== undefined && last !== undefined && first > last)) return [];
  const within = first === undefined && last === undefined ? {} : { rank: rankBetween(first, last) };
  const owner = parents && { parent_id: { $in: [...parents] } };
  const ofKind = { ...(kind && { kind }), ...(type !== undefined && { type }) };
  const fields = { $project: { kind: 1, parent_id: 1, label: 1, type: 1, content: 1, created_at: 1 } };
  const run = (hint: string, condition: Document): Promise<NoteDocument[]> => {
    const filter = { account_id: scope.accountId, ...owner, ...within, ...condition };
    const stages = [{ $match: filter }, ...pageStages(page, checkStages(ofKind)), fields];
    return read<NoteDocument>(notes, scope, stages, { hint });
  };
  const search = query === undefined ? undefined : searchOf(query);
  if (search?.readings.length === 0) return [];
  if (anyWord && search !== undefined) {
    const words = wordsOf(search.readings);
    try {
      const ids = await findByAnyWord(notes, scope, words, NOTE_SHAPE, { ...owner, ...ofKind, ...within });
      return await readInOrder(notes, scope, ids.slice(page.offset, page.offset + page.limit + 1), [fields]);
    } catch (error) {
      if (!isWithoutIndex(error)) throw error;
      const single = words.map((word) => ({ words: [word], ofPrevious: false }));
      return run(listIndex, readingsFilter(single, NOTE_SHAPE));
    }
  }
  // An owner has few notes, so the index on owners finds them and every word is checked.
  if (parents !== undefined)
    return run(parentIndex, search === undefined ? {} : readingsFilter(search.readings, NOTE_SHAPE));
  if (search === undefined) return run(listIndex, {});
  const byWords = (plans: readonly WordPlan[]): Promise<NoteDocument[]> =>
    run(indexOf(plans), anyOf(planFilters(plans, "begun", search, within)));
  return searchPage(notes, scope, search, { page, within, run: byWords });
}

/** Returns a note as a search shows it, with the part around the first match that is not in the excerpt. */
function withSnippet(note: NoteDocument, readings: readonly Reading[]): NoteSearchResult {
  const message = resultMessage(note);
  if (!message.truncated || readings.length === 0) return message;
  const snippet = excerptBeyond(note.content ?? "", message.content.length, readings, snippetLength);
  return snippet === undefined ? message : { ...message, snippet };
}

/** Returns a new manual note of a contact, without its label. */
function newContactNote(accountId: UUID, contactId: UUID, content: string): NoteDocument {
  const now = new Date();
  return deriveNote({
    _id: new UUID(),
    account_id: accountId,
    kind: "contact",
    parent_id: contactId,
    label: null,
    type: "user_manual",
    ...noTexts,
    position: 0,
    content,
    source: "api",
    created_at: now,
    updated_at: now,
  });
}

/** Returns the note with its derived fields: rank and search terms. */
export function deriveNote(
  document: Omit<NoteDocument, "rank" | keyof StoredTerms>,
  found: Terms = noteTerms(document),
): NoteDocument {
  return { ...document, rank: rankAt(document.created_at, document._id), ...storedTerms(found) };
}

/** Returns the search terms of a note. */
export function noteTerms({ content }: { readonly content?: string | null | undefined }): Terms {
  return marked(terms(recordWords(content), NOTE_SHAPE));
}

/** Returns how notes get their search terms again. */
export const noteRebuild: Rebuild = {
  fieldsOf: (note) => storedTerms(noteTerms(note)),
  unchanged: ({ updated_at }) => ({ updated_at: updated_at as Date }),
};

/** Returns the label that a contact gives its notes (contract §3.4). */
export function contactLabel({ full_name, inferred_name, email }: LabelledContact): string | null {
  return displayName({ full_name, inferred_name, email }) ?? null;
}

/** Returns a note as a search shows it. */
export function resultMessage({ kind, parent_id, label, type, content, created_at }: NoteDocument): NoteSearchResult {
  const text = content ?? "";
  const excerpt = text.slice(0, endOfCodePoints(text, excerptLength));
  return {
    $typeName: "records.v1.NoteSearchResult",
    kind: kind === "contact" ? NoteKind.CONTACT : NoteKind.SESSION,
    parentId: idText(parent_id),
    ...omitNulls({ parentLabel: label }),
    noteType: type,
    content: excerpt,
    truncated: excerpt.length < text.length,
    createdAt: timestamp(created_at),
  };
}
