// Searching contacts (contract §3.2): whole words first, then the rest, hydrated in the same command.
import type { Collection, Document, MongoClient } from "mongodb";
import { collections } from "../db/collections.ts";
import type { Contact } from "../gen/records/v1/contacts_pb.ts";
import { read } from "../db/read.ts";
import type { WordPlan } from "../db/word-search.ts";
import { planFilter, planWords, wholeFilter } from "../db/word-search.ts";
import type { Scope } from "../guards/scope.ts";
import { queryReadings } from "../search/phones.ts";
import { CONTACT_SHAPE } from "../search/terms.ts";
import type { NoteRow, SessionRow } from "./messages.ts";
import { contactMessage } from "./messages.ts";
import type { ContactDocument } from "./document.ts";
import { recentSessionStages, timelineStages } from "./store.ts";

const resultLimit = 25;

/** Finds contacts. */
export interface ContactSearch {
  /** The active contacts that match the query, at most 25, in order. */
  search(scope: Scope, query: string): Promise<Contact[]>;
}

type FoundContact = ContactDocument & { readonly timeline: NoteRow[]; readonly sessions: SessionRow[] };

/** The search over the contacts of a database. */
export function createContactSearch(client: MongoClient): ContactSearch {
  const contacts = client.db().collection(collections.contacts);
  return {
    async search(scope, query) {
      const plans: WordPlan[] = [];
      for (const words of queryReadings(query)) {
        const plan = await planWords(contacts, scope, words, CONTACT_SHAPE);
        if (plan !== undefined) plans.push(plan);
      }
      if (plans.length === 0) return [];
      const rows = await read<FoundContact>(contacts, scope, [
        ...foundStages(contacts, scope, plans),
        ...hydrationStages(scope),
      ]);
      return rows.map((row) => contactMessage(row, row.timeline, row.sessions));
    },
  };
}

/**
 * Both tiers, each newest first, and from them the first 25: those of the first tier stand in the second as well. A
 * first that can have none is left out.
 */
function foundStages(contacts: Collection<Document>, scope: Scope, plans: readonly WordPlan[]): Document[] {
  const tier = (number: number, filters: Document[]): Document[] => [
    { $match: { account_id: scope.accountId, ...(filters.length === 1 ? filters[0] : { $or: filters }) } },
    { $sort: { rank: -1 } },
    { $limit: resultLimit },
    { $project: { n: 0, g: 0 } },
    { $set: { tier: number } },
  ];
  const whole = plans.flatMap((plan) => wholeFilter(plan) ?? []);
  const begun = tier(
    1,
    plans.map((plan) => planFilter(plan, CONTACT_SHAPE)),
  );
  return [
    ...(whole.length === 0
      ? begun
      : [...tier(0, whole), { $unionWith: { coll: contacts.collectionName, pipeline: begun } }]),
    { $group: { _id: "$_id", tier: { $min: "$tier" }, contact: { $first: "$$ROOT" } } },
    { $sort: { tier: 1, "contact.rank": -1, _id: 1 } },
    { $limit: resultLimit },
    { $replaceWith: "$contact" },
  ];
}

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
