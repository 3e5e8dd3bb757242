// Gives contacts that were found their timelines and sessions (contract §3.2): those of all at once, unless they have
// very many.
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { findAll } from "../db/aggregate.ts";
import { readInOrder } from "../db/any-word.ts";
import { collections } from "../db/collections.ts";
import type { Contact } from "../gen/records/v1/contacts_pb.ts";
import type { Scope } from "../guards/scope.ts";
import type { ContactDocument } from "./document.ts";
import type { NoteRow, SessionRow } from "./messages.ts";
import { contactMessage } from "./messages.ts";
import {
  pastOf,
  recentSessionFields,
  recentSessionStages,
  recentSessionsLength,
  timelineFields,
  timelineLength,
  timelineStages,
} from "./store.ts";

/** Shows these contacts whole, in their order. */
export type Hydrate = (scope: Scope, contacts: readonly ContactDocument[]) => Promise<Contact[]>;

/**
 * Up to so many notes and sessions are read for all contacts at once, for half the work of two look-ups for each. Where
 * there are more, each contact gets its newest by itself, so that a long timeline is not read whole.
 */
const mostFor = (contacts: number): number => 100 + 16 * contacts;

type OwnedNote = NoteRow & { readonly parent_id: UUID; readonly rank: number };
type OwnedSession = SessionRow & { readonly contact_id: UUID; readonly rank: number };
type Whole = ContactDocument & { readonly timeline: NoteRow[]; readonly sessions: SessionRow[] };

const ownedNote = { ...timelineFields, parent_id: 1, rank: 1 } as const;
const ownedSession = { ...recentSessionFields, contact_id: 1, rank: 1 } as const;

/** Over the records of a database. */
export function createHydrate(client: MongoClient): Hydrate {
  const contacts = client.db().collection(collections.contacts);
  const notes = client.db().collection(collections.notes);
  const sessions = client.db().collection(collections.sessions);
  return async (scope, found) => {
    if (found.length === 0) return [];
    const ids = found.map(({ _id }) => _id);
    const most = mostFor(ids.length);
    // The read of the contacts has proven the scope. Without the hints the planner takes an index that has others' too.
    const read = { limit: most + 1, deadline: scope.deadline, canBeHuge: true } as const;
    const ofNotes = { account_id: scope.accountId, parent_id: { $in: ids }, kind: "contact" };
    const ofSessions = { account_id: scope.accountId, contact_id: { $in: ids }, ...pastOf() };
    const [timelines, recent] = await Promise.all([
      findAll<OwnedNote>(notes, ofNotes, { ...read, projection: ownedNote, hint: "parent" }),
      findAll<OwnedSession>(sessions, ofSessions, { ...read, projection: ownedSession, hint: "contact" }),
    ]);
    if (timelines.length > most || recent.length > most) return eachByItself(contacts, scope, ids);
    const timelineOf = newestOf(timelines, ({ parent_id }) => parent_id, timelineLength);
    const sessionsOf = newestOf(recent, ({ contact_id }) => contact_id, recentSessionsLength);
    return found.map((contact) => contactMessage(contact, timelineOf(contact._id), sessionsOf(contact._id)));
  };
}

/** The newest of each contact, by two look-ups for each. */
async function eachByItself(contacts: Collection<Document>, scope: Scope, ids: readonly UUID[]): Promise<Contact[]> {
  const stages = [{ $project: { n: 0, g: 0 } }, ...eachStages(scope)];
  const whole = await readInOrder<Whole>(contacts, scope, ids, stages);
  return whole.map((row) => contactMessage(row, row.timeline, row.sessions));
}

function eachStages(scope: Scope): Document[] {
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

function newestOf<T extends { readonly rank: number }>(
  rows: readonly T[],
  ownerOf: (row: T) => UUID,
  most: number,
): (owner: UUID) => readonly T[] {
  const owned = new Map<string, T[]>();
  for (const row of rows) {
    const owner = ownerOf(row).toHexString();
    const others = owned.get(owner);
    if (others === undefined) owned.set(owner, [row]);
    else others.push(row);
  }
  return (owner) => (owned.get(owner.toHexString()) ?? []).sort((a, b) => b.rank - a.rank).slice(0, most);
}
