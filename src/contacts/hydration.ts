// Adds timelines and recent sessions to found contacts, by the command that finds them.
import type { Collection, Document, UUID } from "mongodb";
import type { Scope } from "../call/scope.ts";
import { collections } from "../db/collections.ts";
import { isTooLarge } from "../db/error-codes.ts";
import type { Tables } from "../db/fields.ts";
import { projectionOf } from "../db/fields.ts";
import { idText } from "../db/message.ts";
import type { Contact } from "../gen/records/v1/contacts_pb.ts";
import { contactNoteFields } from "../notes/document.ts";
import type { ContactDocument } from "./document.ts";
import type { NoteRow, SessionRow } from "./messages.ts";
import { contactMessage, recentSessionFields } from "./messages.ts";
import {
  contactRows,
  recentSessionFilter,
  recentSessionsLength,
  recentSessionStages,
  timelineFilter,
  timelineLength,
  timelineStages,
} from "./store.ts";

/**
 * The maximum numbers of notes and sessions that one look-up reads for all contacts together. They bound what is read
 * of a contact that shows few of many. Notes can be long, but sessions cannot.
 */
const maxNotes = 300;
const maxSessions = 1_250;

/** Runs the pipeline that finds the contacts, followed by these stages. */
export type FindWith = <Row extends Document>(stages: readonly Document[]) => Promise<Row[]>;

/** A contact with its newest notes and sessions. */
type WholeContact = ContactDocument & {
  readonly timeline: readonly NoteRow[];
  readonly sessions: readonly SessionRow[];
};

/** The newest rows of a contact, and the number of rows that were read. */
interface Newest<Row> {
  readonly _id: UUID;
  readonly rows: readonly Row[];
  readonly count: number;
}

/** All found contacts, and the notes and sessions of those that have any. */
interface Together {
  readonly contacts: readonly ContactDocument[];
  readonly timeline: readonly Newest<NoteRow>[];
  readonly sessions: readonly Newest<SessionRow>[];
}

/**
 * Returns the contacts of `find` with their timelines and sessions, in the order of `find`.
 *
 * A look-up for all contacts together takes MongoDB half of the time of one for each, but must read all their notes
 * and sessions. If there are more than `maxNotes` or `maxSessions`, a look-up for each contact reads only the newest.
 * If the result is too large for MongoDB, a command reads each contact.
 */
export async function hydrated(contacts: Collection<Document>, scope: Scope, find: FindWith): Promise<Contact[]> {
  const found =
    (await unlessTooLarge(() => findTogether(scope, find))) ?? (await unlessTooLarge(() => findEach(scope, find)));
  if (found !== undefined) return found;
  const whole: Contact[] = [];
  for (const { _id } of await find<ContactDocument>([{ $project: { _id: 1 } }])) {
    const rows = await contactRows(contacts, scope, _id);
    if (rows !== undefined) whole.push(contactMessage(rows.document, rows.notes, rows.sessions));
  }
  return whole;
}

async function unlessTooLarge<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (isTooLarge(error)) return undefined;
    throw error;
  }
}

/** Finds contacts by one look-up for all. Returns undefined if they have too many notes or sessions. */
async function findTogether(scope: Scope, find: FindWith): Promise<Contact[] | undefined> {
  const [found] = await find<Together>([
    { $group: { _id: null, contacts: { $push: "$$ROOT" } } },
    lookUpAll(
      collections.notes,
      "parent_id",
      timelineFilter(scope),
      contactNoteFields,
      [timelineLength, maxNotes],
      "timeline",
    ),
    lookUpAll(
      collections.sessions,
      "contact_id",
      recentSessionFilter(scope),
      recentSessionFields,
      [recentSessionsLength, maxSessions],
      "sessions",
    ),
  ]);
  if (found === undefined) return [];
  const { contacts, timeline, sessions } = found;
  if (countOf(timeline) > maxNotes || countOf(sessions) > maxSessions) return undefined;
  const notesOf = byContact(timeline);
  const sessionsOf = byContact(sessions);
  const whole: Contact[] = [];
  for (const contact of contacts) {
    const id = idText(contact._id);
    whole.push(contactMessage(contact, notesOf.get(id) ?? [], sessionsOf.get(id) ?? [], id));
  }
  return whole;
}

/**
 * Returns the look-up of the newest rows of every contact, which reads one row more than is allowed. The sort is the
 * order of the index on owners. Without it, MongoDB may choose another index and scan the account.
 */
function lookUpAll(
  from: string,
  foreignField: string,
  filter: Document,
  fields: Tables,
  [length, maximum]: readonly [length: number, maximum: number],
  as: string,
): Document {
  const pipeline = [
    { $match: filter },
    { $sort: { [foreignField]: 1, rank: -1 } },
    { $limit: maximum + 1 },
    // The owner groups the rows below.
    { $project: { ...projectionOf(fields), [foreignField]: 1 } },
    {
      $group: {
        _id: `$${foreignField}`,
        rows: { $firstN: { input: "$$ROOT", n: length } },
        count: { $sum: 1 },
      },
    },
  ];
  return { $lookup: { from, localField: "contacts._id", foreignField, pipeline, as } };
}

function countOf(found: readonly Newest<unknown>[]): number {
  return found.reduce((sum, { count }) => sum + count, 0);
}

/** Returns the rows by the contact's id. */
function byContact<Row>(found: readonly Newest<Row>[]): ReadonlyMap<string, readonly Row[]> {
  return new Map(found.map(({ _id, rows }) => [idText(_id), rows]));
}

/** Finds contacts by a look-up for each of them. */
async function findEach(scope: Scope, find: FindWith): Promise<Contact[]> {
  const lookUp = (from: string, foreignField: string, pipeline: Document[], as: string): Document => ({
    $lookup: { from, localField: "_id", foreignField, pipeline, as },
  });
  const found = await find<WholeContact>([
    lookUp(collections.notes, "parent_id", timelineStages(scope, {}), "timeline"),
    lookUp(collections.sessions, "contact_id", recentSessionStages(scope, {}), "sessions"),
  ]);
  return found.map((contact) => contactMessage(contact, contact.timeline, contact.sessions));
}
