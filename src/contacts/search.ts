// Contact search (contract §3.2): matches of whole words first, with timelines and sessions read by the same command.
import { setImmediate } from "node:timers/promises";
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import type { Contact, SearchContactsResponse } from "../gen/records/v1/contacts_pb.ts";
import { idText } from "../db/message.ts";
import type { KnownRecord } from "../db/named.ts";
import type { PageRequest } from "../db/page.ts";
import { checkStages, cutPage, maxChecked, pageStages } from "../db/page.ts";
import { read } from "../db/read.ts";
import { withoutTerms } from "../db/search-fields.ts";
import { listIndex } from "../db/search-index.ts";
import type { WordPlan } from "../db/word-search.ts";
import { planFilter, planReadings, wholeFilter } from "../db/word-search.ts";
import type { Scope } from "../call/scope.ts";
import { findByAnyWord } from "../db/any-word.ts";
import { queryReadings } from "../search/phones.ts";
import { queryWords } from "../search/words.ts";
import { CONTACT_SHAPE, hasWord } from "../search/terms.ts";
import { contactMessage } from "./messages.ts";
import type { ContactDocument } from "./document.ts";
import type { FindWith } from "./hydration.ts";
import { hydrated } from "./hydration.ts";
import { termsOf } from "./write.ts";

const resultLimit = 25;
/** The maximum number of contacts, newest first, that are checked for conditions without an index. */
const maxExamined = 20_000;
/** The maximum number of archived contacts that a query searches, and the number between yields to other requests. */
const maxArchived = 2_000;
const archivedAtOnce = 100;

/** Searches contacts. */
export interface ContactSearch {
  /**
   * Returns the active contacts that match the query, at most 25: whole-word matches first, newest first within each
   * group.
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
  /** Finds active contacts with any word of the query, best match first. */
  readonly anyWord: boolean;
}

/** Creates the search over a database's contacts. */
export function createContactSearch(client: MongoClient): ContactSearch {
  const contacts = client.db().collection(collections.contacts);
  return {
    async search(scope, query) {
      const plans = await planReadings(contacts, scope, queryReadings(query), CONTACT_SHAPE);
      if (plans.length === 0) return [];
      const found = foundStages(contacts, scope, plans);
      return hydrated(contacts, scope, (stages) => read(contacts, scope, [...found, ...stages], { canBeHuge: true }));
    },
    async list(scope, filter, page, brief) {
      const ids = await findIds(contacts, scope, filter, page);
      const { rows, pagination } = cutPage(ids, page);
      const match = { $match: { _id: { $in: rows }, account_id: scope.accountId } };
      const find: FindWith = (stages) =>
        read(contacts, scope, [match, { $project: withoutTerms }, ...stages], { canBeHuge: true });
      const found = brief
        ? (await find<ContactDocument>(briefStages)).map((contact) => contactMessage(contact, [], []))
        : await hydrated(contacts, scope, find);
      const byId = new Map(found.map((contact) => [contact.id, contact]));
      const inOrder = rows.flatMap((id) => byId.get(idText(id)) ?? []);
      return { $typeName: "records.v1.SearchContactsResponse", contacts: inOrder, pagination };
    },
  };
}

/** Returns the ids of the page, and of one more contact if there is one. */
async function findIds(
  contacts: Collection<Document>,
  scope: Scope,
  { query, archived, hasEmail, anyWord }: ContactFilter,
  page: PageRequest,
): Promise<UUID[]> {
  const byEmail = hasEmail === undefined ? {} : { email: hasEmail ? { $ne: null } : null };
  if (query === undefined) {
    const state = archived === undefined ? {} : { archived_at: archived ? { $ne: null } : null };
    const stages = [
      { $match: { account_id: scope.accountId } },
      ...pageStages(page, [{ $limit: maxExamined }, { $match: { ...state, ...byEmail } }]),
      { $project: { _id: 1 } },
    ];
    return idsOf(await read<KnownRecord>(contacts, scope, stages, { hint: listIndex }));
  }
  const end = page.offset + page.limit + 1;
  if (anyWord) {
    const found = await findByAnyWord(contacts, scope, queryWords(query), CONTACT_SHAPE, byEmail);
    return found.slice(page.offset, end);
  }
  const active = archived === true ? [] : await findActive(contacts, scope, query, byEmail, end);
  const others = archived === false || active.length >= end ? [] : await findArchived(contacts, scope, query, byEmail);
  return [...active, ...others].slice(page.offset, end);
}

async function findActive(
  contacts: Collection<Document>,
  scope: Scope,
  query: string,
  condition: Document,
  limit: number,
): Promise<UUID[]> {
  const plans = await planReadings(contacts, scope, queryReadings(query), CONTACT_SHAPE);
  if (plans.length === 0) return [];
  const stages = [...foundStages(contacts, scope, plans, { condition, limit }), { $project: { _id: 1 } }];
  return idsOf(await read<KnownRecord>(contacts, scope, stages));
}

/** Searches the newest archived contacts by their texts, because no word index contains archived contacts. */
async function findArchived(
  contacts: Collection<Document>,
  scope: Scope,
  query: string,
  condition: Document,
): Promise<UUID[]> {
  const readings = queryReadings(query);
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
function matchesAny(searchText: string, readings: readonly (readonly string[])[]): boolean {
  const known = new Map<string, boolean>();
  const has = (word: string): boolean => {
    const found = known.get(word) ?? hasWord(searchText, word);
    known.set(word, found);
    return found;
  };
  return readings.some((words) => words.every(has));
}

function idsOf(rows: readonly KnownRecord[]): UUID[] {
  return rows.map(({ _id }) => _id);
}

/**
 * Returns the stages for both tiers, each newest first. The second tier follows the first and excludes its matches. A
 * first tier without possible matches is omitted. Nothing is sorted again, so ties keep the order of the index and each
 * page continues the previous one.
 */
function foundStages(
  contacts: Collection<Document>,
  scope: Scope,
  plans: readonly WordPlan[],
  page?: { readonly condition: Document; readonly limit: number },
): Document[] {
  // However deep a page is, each tier ends after as many contacts as can be checked.
  const limit = Math.min(page?.limit ?? resultLimit, maxChecked);
  const tier = (filters: Document[], left: Document[]): Document[] => [
    { $match: { account_id: scope.accountId, ...(filters.length === 1 ? filters[0] : { $or: filters }) } },
    { $sort: { rank: -1 } },
    ...checkStages(page?.condition ?? {}),
    { $limit: limit },
    ...left,
    // A page needs only the ids.
    { $project: page === undefined ? withoutTerms : { _id: 1 } },
  ];
  const whole = plans.flatMap((plan) => wholeFilter(plan) ?? []);
  const begun = plans.map((plan) => planFilter(plan, CONTACT_SHAPE));
  if (whole.length === 0) return tier(begun, []);
  const rest = { coll: contacts.collectionName, pipeline: tier(begun, [{ $match: { $nor: whole } }]) };
  return [...tier(whole, []), { $unionWith: rest }, { $limit: page?.limit ?? resultLimit }];
}

/** Stages that remove the long texts of a contact. */
const briefStages: readonly Document[] = [{ $set: { notes: null, memory: null } }];
