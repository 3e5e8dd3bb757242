// Contact search (contract §3.2): whole emails, phones and names first, then whole words, with timelines and sessions
// read by the same command.
import { setImmediate } from "node:timers/promises";
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import type { Contact, SearchContactsResponse } from "../gen/records/v1/contacts_pb.ts";
import { idText, timestamp } from "../db/message.ts";
import type { KnownRecord } from "../db/named.ts";
import type { PageRequest } from "../db/page.ts";
import { checkStages, cutPage, maxChecked, pageStages } from "../db/page.ts";
import { read } from "../db/read.ts";
import { termsField, withoutTerms } from "../db/search-fields.ts";
import { isWithoutIndex, listIndex, searchIndex } from "../db/search-index.ts";
import type { WordQuery } from "../db/word-search.ts";
import { anyOf, planFilters, planReadings, planUnindexed, rankOf, searchTextConditions } from "../db/word-search.ts";
import type { Scope } from "../call/scope.ts";
import { findByAnyWord } from "../db/any-word.ts";
import { previousTermsOf } from "../db/previous-terms.ts";
import { wholePhones } from "../search/phones.ts";
import type { Reading } from "../search/readings.ts";
import { contactReadings, wordsOf } from "../search/readings.ts";
import { checkPattern, CONTACT_SHAPE, emailTerm, hasWord, isPhone, wholeNameTerm } from "../search/terms.ts";
import { withoutTitles } from "../search/titles.ts";
import { nameKeys } from "../search/words.ts";
import { contactMessage } from "./messages.ts";
import type { ContactDocument } from "./document.ts";
import type { FoundInNotes } from "./in-notes.ts";
import { findInNotes } from "./in-notes.ts";
import type { FindWith } from "./hydration.ts";
import { hydrated } from "./hydration.ts";
import { findMisspelt } from "./misspelt.ts";
import { recentSessionFilter } from "./store.ts";
import { emailKeyOf, termsOf } from "./write.ts";

const resultLimit = 25;
/** The maximum number of contacts, newest first, that are checked for conditions without an index. */
const maxExamined = 20_000;
/** The maximum number of archived contacts that a query searches, and the number between yields to other requests. */
const maxArchived = 2_000;
const archivedAtOnce = 100;
/** Searches contacts. */
export interface ContactSearch {
  /**
   * Returns the active contacts that match the query, at most 25: those whose email, phone or name it is, then those
   * with its words in their names, then those with its words as whole ones, and then the others. Within each group, the
   * newest come first. If none matches, returns those whose names have other blanks or one letter misspelt.
   */
  search(scope: Scope, query: string): Promise<Contact[]>;
  /**
   * Returns a page of the contacts that match the filter. Without a query, the newest come first. With a query, active
   * contacts come before archived ones. `brief` omits long texts and lists.
   */
  list(scope: Scope, filter: ContactFilter, page: PageRequest, brief: boolean): Promise<SearchContactsResponse>;
}

/** The contacts to list. An undefined condition matches every contact. */
export interface ContactFilter {
  readonly query: string | undefined;
  readonly archived: boolean | undefined;
  readonly hasEmail: boolean | undefined;
  /** Digits with which the phone must end. */
  readonly phoneEndsWith: string | undefined;
  /** Finds active contacts with any word of the query, best match first. */
  readonly anyWord: boolean;
  /** Searches the notes and the memory of active contacts instead of their names. */
  readonly inNotes: boolean;
  /** Finds contacts whose last past session was before this instant, in milliseconds since 1970. */
  readonly metBefore: number | undefined;
}

/** Creates the search over a database's contacts. */
export function createContactSearch(client: MongoClient): ContactSearch {
  const contacts = client.db().collection(collections.contacts);
  const mayHavePrevious = previousTermsOf(client).watch(collections.contacts);
  const searchOf = (query: string, index: string): ContactQuery => {
    const text = query.replace(PAGE, "$1").replace(LABEL, "");
    return {
      text,
      index,
      readings: contactReadings(text, mayHavePrevious()),
      shape: CONTACT_SHAPE,
      hasPrevious: mayHavePrevious(),
    };
  };
  const inOrder = (ids: readonly UUID[], found: readonly Contact[]): Contact[] => {
    const byId = new Map(found.map((contact) => [contact.id, contact]));
    return ids.flatMap((id) => byId.get(idText(id)) ?? []);
  };
  const findWithIds = (scope: Scope, ids: readonly UUID[]): FindWith => {
    const match = { $match: { _id: { $in: ids }, account_id: scope.accountId } };
    return (stages) => read(contacts, scope, [match, { $project: withoutTerms }, ...stages], { canBeHuge: true });
  };
  return {
    search: (scope, query) =>
      withAnyIndex(async (index) => {
        const name = withoutTitles(query);
        for (const one of name === undefined ? [query] : [query, name]) {
          const stages = await foundStages(contacts, scope, searchOf(one, index));
          const find: FindWith = (more) => read(contacts, scope, [...(stages ?? []), ...more], { canBeHuge: true });
          const found = stages === undefined ? [] : await hydrated(contacts, scope, find);
          if (found.length > 0) return found;
        }
        const ids = await findSimilar(contacts, scope, searchOf(name ?? query, index), {}, resultLimit);
        return ids.length === 0 ? [] : inOrder(ids, await hydrated(contacts, scope, findWithIds(scope, ids)));
      }),
    async list(scope, filter, page, brief) {
      const { ids, isCut } = await withAnyIndex((index) =>
        findIds(contacts, scope, filter, page, (query) => searchOf(query, index)),
      );
      const { rows, pagination } = cutPage(ids, page);
      const find = findWithIds(scope, rows);
      const found = brief
        ? (await find<BriefContact>([...briefStages, lastSessionStage(scope)])).map(briefMessage)
        : withLastSessions(await hydrated(contacts, scope, find), filter);
      return {
        $typeName: "records.v1.SearchContactsResponse",
        contacts: inOrder(rows, found),
        pagination,
        ...(isCut && { incomplete: true }),
      };
    },
  };
}

/** A query over contacts. */
interface ContactQuery extends WordQuery {
  /** The query as typed. */
  readonly text: string;
  /** The index to scan. */
  readonly index: string;
}

/** Searches with the search index or, while a large import has dropped it, by a scan of the account. */
async function withAnyIndex<T>(find: (index: string) => Promise<T>): Promise<T> {
  try {
    return await find(searchIndex);
  } catch (error) {
    if (!isWithoutIndex(error)) throw error;
    return find(listIndex);
  }
}

/** Finds contacts with a misspelt name. Without the search index, a scan for each correction would take too long. */
async function findSimilar(
  contacts: Collection<Document>,
  scope: Scope,
  { text, readings, index }: ContactQuery,
  condition: Document,
  limit: number,
  narrowing: readonly Document[] = [],
): Promise<UUID[]> {
  if (index !== searchIndex) return [];
  return findMisspelt(contacts, scope, { readings, keys: nameKeys(text) }, condition, limit, narrowing);
}

/** Returns the ids of the page, and of one more contact if there is one; and whether others were not searched. */
async function findIds(
  contacts: Collection<Document>,
  scope: Scope,
  { query, archived, anyWord, inNotes, metBefore, ...fields }: ContactFilter,
  page: PageRequest,
  searchOf: (query: string) => ContactQuery,
): Promise<FoundInNotes> {
  const pageOf = (ids: readonly UUID[], isCut = false): FoundInNotes => ({ ids: ids.slice(page.offset, end), isCut });
  const end = page.offset + page.limit + 1;
  const met = metBefore === undefined ? [] : metBeforeStages(scope, metBefore);
  const checked = fieldConditions(fields);
  if (query === undefined) {
    const state = archived === undefined ? {} : { archived_at: archived ? { $ne: null } : null };
    const stages = [
      { $match: { account_id: scope.accountId } },
      ...pageStages(page, [{ $limit: maxExamined }, { $match: { ...state, ...checked } }, ...met]),
      { $project: { _id: 1 } },
    ];
    return { ids: idsOf(await read<KnownRecord>(contacts, scope, stages, { hint: listIndex })), isCut: false };
  }
  const only = async (found: readonly UUID[]): Promise<UUID[]> => keepMatching(contacts, scope, found, met);
  if (inNotes) {
    const { ids, isCut } = await findInNotes(contacts, scope, { query, anyWord }, checked);
    return pageOf(await only(ids), isCut);
  }
  if (anyWord) {
    const search = searchOf(query);
    const words = wordsOf(search.readings.filter(({ words: own }) => !own.some(isPhone)));
    const found = await findByAnyWord(contacts, scope, words, CONTACT_SHAPE, checked, search.index);
    return pageOf(await only(found));
  }
  const narrowing = [...checkStages(checked), ...met];
  const name = withoutTitles(query);
  for (const one of name === undefined ? [query] : [query, name]) {
    const search = searchOf(one);
    const active = archived === true ? [] : await findActive(contacts, scope, search, narrowing, end);
    const others =
      archived === false || active.length >= end
        ? []
        : await only(await findArchived(contacts, scope, search, checked));
    if (active.length + others.length > 0) return pageOf([...active, ...others]);
  }
  if (archived === true) return pageOf([]);
  return pageOf(await findSimilar(contacts, scope, searchOf(name ?? query), checked, end, met));
}

/** The zeros of the scripts whose digits phones have. */
const zeros = ["0", "\u0660", "\u06f0", "\u0966", "\u09e6", "\u0e50", "\uff10"].map((zero) => zero.charCodeAt(0));

/** Returns the pattern of phones that end with these digits, in any script, before an extension if there is one. */
function endPattern(digits: string): string {
  const inScripts = [...digits].map(
    (digit) => `[${zeros.map((zero) => String.fromCharCode(zero + Number(digit))).join("")}]`,
  );
  return `${inScripts.join("\\P{Nd}*")}\\P{Nd}*((ext|x|#)\\P{Nd}*\\p{Nd}{1,7}\\P{Nd}*)?$`;
}

/** Returns the conditions on fields that no index covers. */
function fieldConditions({ hasEmail, phoneEndsWith }: Pick<ContactFilter, "hasEmail" | "phoneEndsWith">): Document {
  return {
    ...(hasEmail === undefined ? {} : { email: hasEmail ? { $ne: null } : null }),
    ...(phoneEndsWith === undefined ? {} : { phone: { $regex: endPattern(phoneEndsWith), $options: "i" } }),
  };
}

async function findActive(
  contacts: Collection<Document>,
  scope: Scope,
  search: ContactQuery,
  narrowing: readonly Document[],
  limit: number,
): Promise<UUID[]> {
  const stages = await foundStages(contacts, scope, search, { narrowing, limit });
  return stages === undefined
    ? []
    : idsOf(await read<KnownRecord>(contacts, scope, [...stages, { $project: { _id: 1 } }]));
}

/** Returns the contacts that the stages keep, in their order. */
async function keepMatching(
  contacts: Collection<Document>,
  scope: Scope,
  found: readonly UUID[],
  stages: readonly Document[],
): Promise<UUID[]> {
  if (stages.length === 0 || found.length === 0) return [...found];
  const match = { $match: { _id: { $in: found }, account_id: scope.accountId } };
  const kept = idsOf(await read<KnownRecord>(contacts, scope, [match, ...stages, { $project: { _id: 1 } }]));
  const ids = new Set(kept.map(idText));
  return found.filter((id) => ids.has(idText(id)));
}

/** Returns the stages that keep contacts whose last past session was before an instant. */
function metBeforeStages(scope: Scope, instant: number): Document[] {
  return [
    { $limit: maxChecked },
    lastSessionStage(scope),
    { $match: { last_sessions: { $ne: [] }, "last_sessions.session_date": { $lt: new Date(instant) } } },
  ];
}

/** Returns the stage that looks up the date of the last past session, which the index on contacts begins with. */
function lastSessionStage(scope: Scope): Document {
  const pipeline = [
    { $match: recentSessionFilter(scope) },
    { $sort: { rank: -1 } },
    { $limit: 1 },
    { $project: { _id: 0, session_date: 1 } },
  ];
  return {
    $lookup: {
      from: collections.sessions,
      localField: "_id",
      foreignField: "contact_id",
      pipeline,
      as: "last_sessions",
    },
  };
}

/** A contact with the date of its last past session. */
type BriefContact = ContactDocument & { readonly last_sessions: readonly { readonly session_date: Date }[] };

function briefMessage(contact: BriefContact): Contact {
  const [last] = contact.last_sessions;
  const message = contactMessage(contact, [], []);
  return last === undefined ? message : { ...message, lastSessionDate: timestamp(last.session_date) };
}

/** Adds the date of the last session to contacts that are selected by it. */
function withLastSessions(contacts: readonly Contact[], { metBefore }: ContactFilter): readonly Contact[] {
  if (metBefore === undefined) return contacts;
  return contacts.map((contact) => {
    const last = contact.recentSessions[0]?.sessionDate;
    return last === undefined ? contact : { ...contact, lastSessionDate: last };
  });
}

/** Searches the newest archived contacts by their texts, because no word index contains archived contacts. */
async function findArchived(
  contacts: Collection<Document>,
  scope: Scope,
  { readings }: ContactQuery,
  condition: Document,
): Promise<UUID[]> {
  const names = { full_name: 1, inferred_name: 1, email: 1, phone: 1 };
  const stages = [
    { $match: { account_id: scope.accountId } },
    { $sort: { rank: -1 } },
    { $limit: maxExamined },
    { $match: { archived_at: { $ne: null }, ...condition } },
    { $limit: maxArchived },
    { $project: names },
  ];
  const found: UUID[] = [];
  for (const [at, contact] of (await read<ContactDocument>(contacts, scope, stages, { hint: listIndex })).entries()) {
    if (at % archivedAtOnce === archivedAtOnce - 1) await setImmediate();
    const { searchText } = termsOf(contact);
    if (matchesAny(searchText, readings)) found.push(contact._id);
  }
  return found;
}

/** Whether a search text has all words of at least one reading. A word of several readings is checked once. */
function matchesAny(searchText: string, readings: readonly Reading[]): boolean {
  const known = new Map<string, boolean>();
  const has = (word: string): boolean => {
    const found = known.get(word) ?? hasWord(searchText, word);
    known.set(word, found);
    return found;
  };
  return readings.some(({ words, ofPrevious }) => !ofPrevious && words.every(has));
}

function idsOf(rows: readonly KnownRecord[]): UUID[] {
  return rows.map(({ _id }) => _id);
}

/** The address of a page, of which only the host can be that of an email; or a link to an address. */
const PAGE = /^\s*(?:https?:\/\/(?:www\.)?|www\.|mailto: *)([^\s/?#]+)\S*/i;
/** What is before a value that is copied from a link or a form, or that names its field. */
const LABEL = /^\s*(?:e-?mail|name|contact|from): */i;
/** What can be around an address that is copied from a list or a sentence. */
const AROUND_ADDRESS = /[\s<>()"[\],;]+|\.$/g;

/** Returns the filters of the contacts whose email, phone or, if its words match any, name is the query. */
function wholeFilters({ text, readings }: ContactQuery, canMatch: boolean): Document[] {
  const email = text.includes("@") ? emailKeyOf({ email: text.replace(AROUND_ADDRESS, "") }) : undefined;
  const terms = [...(email === undefined ? [] : [emailTerm(email)]), ...wholePhones(text)];
  // The term of a name does not say where its words begin.
  const divided = readings
    .filter(({ words, ofPrevious }) => !ofPrevious && !words.some(isPhone))
    .map(({ words }) => searchTextConditions(words.map((word) => checkPattern(word, CONTACT_SHAPE))));
  const name = { [termsField]: { $in: nameKeys(text).map(wholeNameTerm) }, ...anyOf(divided) };
  return [...terms.map((term) => ({ [termsField]: term })), ...(canMatch ? [name] : [])];
}

/**
 * Returns the stages for all tiers, each newest first; undefined if nothing can match. Each tier excludes the matches
 * of those before it. A tier without possible matches is omitted. The first tier has look-ups of its own, so that no
 * number of other matches hides what it finds. If there are few other matches, one scan finds and ranks them.
 * Otherwise each tier has a scan, which ends with the page.
 */
async function foundStages(
  contacts: Collection<Document>,
  scope: Scope,
  search: ContactQuery,
  page?: { readonly narrowing: readonly Document[]; readonly limit: number },
): Promise<Document[] | undefined> {
  if (search.readings.length === 0) return undefined;
  const hasIndex = search.index === searchIndex;
  const { plans, areShort } = hasIndex
    ? await planReadings(contacts, scope, search)
    : { plans: planUnindexed(search), areShort: false };
  const matches = areShort ? (["begun"] as const) : (["ofName", "whole", "begun"] as const);
  const ranked = areShort
    ? [{ $set: { tier: rankOf(plans, CONTACT_SHAPE) } }, { $sort: { tier: 1, rank: -1, _id: 1 } }, { $unset: "tier" }]
    : [];
  const tiers = [
    { filters: wholeFilters(search, plans.length > 0), order: [] },
    ...matches.map((match) => ({ filters: planFilters(plans, match, search), order: ranked })),
  ].filter(({ filters }) => filters.length > 0);
  if (tiers.length === 0) return undefined;
  // However deep a page is, each tier ends after as many contacts as can be checked.
  const limit = Math.min(page?.limit ?? resultLimit, maxChecked);
  const [first = [], ...others] = tiers.map(({ filters, order }, at): Document[] => {
    const before = tiers.slice(0, at).flatMap((tier) => tier.filters);
    return [
      { $match: { account_id: scope.accountId, ...anyOf(filters) } },
      { $sort: { rank: -1 } },
      ...(page?.narrowing ?? []),
      ...order,
      { $limit: limit },
      ...(before.length === 0 ? [] : [{ $match: { $nor: before } }]),
      // A page needs only the ids.
      { $project: page === undefined ? withoutTerms : { _id: 1 } },
    ];
  });
  const unions = others.map((pipeline) => ({ $unionWith: { coll: contacts.collectionName, pipeline } }));
  return unions.length === 0 ? first : [...first, ...unions, { $limit: page?.limit ?? resultLimit }];
}

/** Stages that remove the long texts of a contact. */
const briefStages: readonly Document[] = [{ $set: { notes: null, memory: null } }];
