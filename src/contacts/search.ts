// Searching contacts (contract §3.2): whole words first, then the rest, hydrated in the same command.
import { setImmediate } from "node:timers/promises";
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { isTooLarge } from "../db/error-codes.ts";
import type { Contact, SearchContactsResponse } from "../gen/records/v1/contacts_pb.ts";
import type { KnownRecord } from "../db/named.ts";
import type { PageRequest } from "../db/page.ts";
import { checkStages, cutPage, mostChecked, pageStages } from "../db/page.ts";
import { read } from "../db/read.ts";
import { listIndex } from "../db/search-index.ts";
import type { WordPlan } from "../db/word-search.ts";
import { planFilter, planReadings, wholeFilter } from "../db/word-search.ts";
import type { Scope } from "../call/scope.ts";
import { findByAnyWord, readInOrder } from "../db/any-word.ts";
import { queryReadings } from "../search/phones.ts";
import { queryWords } from "../search/words.ts";
import { CONTACT_SHAPE, hasWord } from "../search/terms.ts";
import type { NoteRow, SessionRow } from "./messages.ts";
import { contactMessage } from "./messages.ts";
import type { ContactDocument } from "./document.ts";
import { contactRows, recentSessionStages, timelineStages } from "./store.ts";
import { termsOf } from "./write.ts";

const resultLimit = 25;
/** How many contacts are looked at for what no index has: the newest. */
const mostLooked = 20_000;
/** How many archived contacts a query looks at, and how many before other requests have their turn. */
const mostArchived = 2_000;
const archivedAtOnce = 100;

/** Finds contacts. */
export interface ContactSearch {
  /** The active contacts that match the query, at most 25, in order. */
  search(scope: Scope, query: string): Promise<Contact[]>;
  /**
   * A page of the contacts that match the filter: those that are active first, the newest first where no words are. A
   * `brief` one has neither long texts nor lists.
   */
  list(scope: Scope, filter: ContactFilter, page: PageRequest, brief: boolean): Promise<SearchContactsResponse>;
}

/** Which contacts; those of any state where it is undefined. */
export interface ContactFilter {
  readonly query: string | undefined;
  readonly archived: boolean | undefined;
  readonly hasEmail: boolean | undefined;
  /** Finds active contacts with any of the query's words, the best first. */
  readonly anyWord: boolean;
}

type FoundContact = ContactDocument & { readonly timeline: NoteRow[]; readonly sessions: SessionRow[] };

/** The search over the contacts of a database. */
export function createContactSearch(client: MongoClient): ContactSearch {
  const contacts = client.db().collection(collections.contacts);
  return {
    async search(scope, query) {
      const plans = await planReadings(contacts, scope, queryReadings(query), CONTACT_SHAPE);
      if (plans.length === 0) return [];
      const found = foundStages(contacts, scope, plans);
      return hydrated(contacts, scope, async (stages) =>
        read<FoundContact>(contacts, scope, [...found, ...stages], { canBeHuge: true }),
      );
    },
    async list(scope, filter, page, brief) {
      const ids = await findIds(contacts, scope, filter, page);
      const { rows, pagination } = cutPage(ids, page);
      const find = (stages: readonly Document[]): Promise<FoundContact[]> =>
        readInOrder<FoundContact>(contacts, scope, rows, stages);
      const found = brief
        ? (await find(briefStages)).map(foundMessage)
        : await hydrated(contacts, scope, (stages) => find([{ $project: { n: 0, g: 0 } }, ...stages]));
      return { $typeName: "records.v1.SearchContactsResponse", contacts: found, pagination };
    },
  };
}

function foundMessage(row: FoundContact): Contact {
  return contactMessage(row, row.timeline, row.sessions);
}

/**
 * The contacts that `find` returns, with their timelines and sessions: by its own command, unless those of one contact
 * are more than a document can hold. Then each contact is read by itself.
 */
async function hydrated(
  contacts: Collection<Document>,
  scope: Scope,
  find: (stages: readonly Document[]) => Promise<FoundContact[]>,
): Promise<Contact[]> {
  try {
    return (await find(hydrationStages(scope))).map(foundMessage);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
  }
  const whole: Contact[] = [];
  for (const { _id } of await find([{ $project: { _id: 1 } }])) {
    const rows = await contactRows(contacts, scope, _id);
    if (rows !== undefined) whole.push(contactMessage(rows.document, rows.notes, rows.sessions));
  }
  return whole;
}

/** The ids of the page and of one contact more. */
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
      ...pageStages(page, checkStages({ ...state, ...byEmail }, mostLooked)),
      { $project: { _id: 1 } },
    ];
    return idsOf(await read<KnownRecord>(contacts, scope, stages, { hint: listIndex }));
  }
  const most = page.offset + page.limit + 1;
  if (anyWord) {
    const found = await findByAnyWord(contacts, scope, queryWords(query), CONTACT_SHAPE, byEmail);
    return found.slice(page.offset, most);
  }
  const active = archived === true ? [] : await findActive(contacts, scope, query, byEmail, most);
  const others = archived === false || active.length >= most ? [] : await findArchived(contacts, scope, query, byEmail);
  return [...active, ...others].slice(page.offset, most);
}

async function findActive(
  contacts: Collection<Document>,
  scope: Scope,
  query: string,
  condition: Document,
  most: number,
): Promise<UUID[]> {
  const plans = await planReadings(contacts, scope, queryReadings(query), CONTACT_SHAPE);
  if (plans.length === 0) return [];
  const stages = [...foundStages(contacts, scope, plans, { condition, most }), { $project: { _id: 1 } }];
  return idsOf(await read<KnownRecord>(contacts, scope, stages));
}

/** Archived contacts are in no index of words: the words are looked for in the newest ones themselves. */
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
    { $limit: mostLooked },
    { $match: { archived_at: { $ne: null }, ...condition } },
    { $limit: mostArchived },
    { $project: names },
  ];
  const found: UUID[] = [];
  for (const [at, contact] of (await read<ContactDocument>(contacts, scope, stages, { hint: listIndex })).entries()) {
    if (at % archivedAtOnce === archivedAtOnce - 1) await setImmediate();
    const { n } = termsOf(contact);
    if (matchesAny(n, readings)) found.push(contact._id);
  }
  return found;
}

/** Whether every word of some reading is found. Each word is looked for once, however many readings have it. */
function matchesAny(n: string, readings: readonly (readonly string[])[]): boolean {
  const known = new Map<string, boolean>();
  const has = (word: string): boolean => {
    const found = known.get(word) ?? hasWord(n, word);
    known.set(word, found);
    return found;
  };
  return readings.some((words) => words.every(has));
}

function idsOf(rows: readonly KnownRecord[]): UUID[] {
  return rows.map(({ _id }) => _id);
}

/**
 * Both tiers, each newest first: the second begins where the first ends, and leaves out what that has. A first that can
 * have none is left out. Nothing is sorted again, so ties stand as the index has them, however many are read: each page
 * continues the one before.
 */
function foundStages(
  contacts: Collection<Document>,
  scope: Scope,
  plans: readonly WordPlan[],
  page?: { readonly condition: Document; readonly most: number },
): Document[] {
  // However deep a page is, each tier ends after as many contacts as can be checked.
  const most = Math.min(page?.most ?? resultLimit, mostChecked);
  const tier = (filters: Document[], left: Document[]): Document[] => [
    { $match: { account_id: scope.accountId, ...(filters.length === 1 ? filters[0] : { $or: filters }) } },
    { $sort: { rank: -1 } },
    ...checkStages(page?.condition ?? {}),
    { $limit: most },
    ...left,
    // A page needs no more than the ids.
    { $project: page === undefined ? { n: 0, g: 0 } : { _id: 1 } },
  ];
  const whole = plans.flatMap((plan) => wholeFilter(plan) ?? []);
  const begun = plans.map((plan) => planFilter(plan, CONTACT_SHAPE));
  if (whole.length === 0) return tier(begun, []);
  const rest = { coll: contacts.collectionName, pipeline: tier(begun, [{ $match: { $nor: whole } }]) };
  return [...tier(whole, []), { $unionWith: rest }, { $limit: page?.most ?? resultLimit }];
}

/** A contact without what may be long. */
const briefStages: readonly Document[] = [
  { $project: { n: 0, g: 0 } },
  { $set: { notes: null, memory: null, timeline: [], sessions: [] } },
];

function hydrationStages(scope: Scope): Document[] {
  return [
    {
      $lookup: {
        from: collections.notes,
        localField: "_id",
        foreignField: "parent_id",
        pipeline: timelineStages(scope, {}),
        as: "timeline",
      },
    },
    {
      $lookup: {
        from: collections.sessions,
        localField: "_id",
        foreignField: "contact_id",
        pipeline: recentSessionStages(scope, {}),
        as: "sessions",
      },
    },
  ];
}
