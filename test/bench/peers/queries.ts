// The queries of the peers, handwritten over the service's documents.
import type { Db, Document } from "mongodb";
import type { UUID } from "mongodb";
import { rankBetween } from "../../../src/db/rank.ts";
import { termsField, textField, withoutTerms } from "../../../src/db/search-fields.ts";
import type { ContactDocument } from "../../../src/contacts/document.ts";
import type { NoteRow, SessionRow } from "../../../src/contacts/messages.ts";
import type { NoteDocument } from "../../../src/notes/document.ts";
import type { SessionDocument } from "../../../src/sessions/document.ts";
import { contactReadings } from "../../../src/search/readings.ts";
import type { SearchShape } from "../../../src/search/terms.ts";
import {
  CONTACT_SHAPE,
  NOTE_SHAPE,
  checkPattern,
  probe,
  wholeCheckPattern,
  wholeProbe,
} from "../../../src/search/terms.ts";
import { queryWords } from "../../../src/search/words.ts";

/** A contact with its shown notes and sessions. */
export interface WholeContact {
  readonly contact: ContactDocument;
  readonly timeline: readonly NoteRow[];
  readonly sessions: readonly SessionRow[];
}

export interface Page<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}

/** The fields that a caller may set on a new contact. */
export interface ContactFields {
  readonly full_name: string;
  readonly email: string | null;
  readonly phone: string | null;
}

const newest = { rank: -1 } as const;
const noteFields = { content: 1, source: 1, created_at: 1, updated_at: 1, parent_id: 1, rank: 1 } as const;
const sessionFields = { title: 1, subtitle: 1, session_date: 1, recording_status: 1, contact_id: 1, rank: 1 } as const;
const [timelineLength, sessionsLength, searchLength, countBound] = [50, 5, 25, 200];

type OwnedNote = NoteRow & { readonly parent_id: UUID; readonly rank: number };
type OwnedSession = SessionRow & { readonly contact_id: UUID; readonly rank: number };

/** Reads a contact with three concurrent finds. */
export async function contactByFinds(db: Db, account_id: UUID, _id: UUID): Promise<WholeContact | null> {
  const [contact, timeline, sessions] = await Promise.all([
    db.collection<ContactDocument>("contacts").findOne({ _id, account_id }, { projection: withoutTerms }),
    db
      .collection("notes")
      .find<NoteRow>(
        { account_id, parent_id: _id, kind: "contact" },
        { projection: noteFields, sort: newest, limit: timelineLength, singleBatch: true },
      )
      .toArray(),
    db
      .collection("sessions")
      .find<SessionRow>(
        { account_id, contact_id: _id, rank: past() },
        { projection: sessionFields, sort: newest, limit: sessionsLength, singleBatch: true },
      )
      .toArray(),
  ]);
  return contact === null ? null : { contact, timeline, sessions };
}

export async function contactByAggregation(db: Db, account_id: UUID, _id: UUID): Promise<WholeContact | null> {
  const notes = [
    { $match: { account_id, parent_id: _id, kind: "contact" } },
    { $sort: newest },
    { $limit: timelineLength },
    { $project: noteFields },
  ];
  const sessions = [
    { $match: { account_id, contact_id: _id, rank: past() } },
    { $sort: newest },
    { $limit: sessionsLength },
    { $project: sessionFields },
  ];
  const [contact, ...others] = await db
    .collection("contacts")
    .aggregate<Document>([
      { $match: { _id, account_id } },
      { $project: withoutTerms },
      { $unionWith: { coll: "notes", pipeline: notes } },
      { $unionWith: { coll: "sessions", pipeline: sessions } },
    ])
    .toArray();
  if (contact === undefined || !("version" in contact)) return null;
  return {
    contact: contact as ContactDocument,
    timeline: others.filter((row) => "content" in row) as NoteRow[],
    sessions: others.filter((row) => "session_date" in row) as SessionRow[],
  };
}

/** A page of an account's sessions. */
export async function listSessions(
  db: Db,
  account_id: UUID,
  limit: number,
  offset: number,
): Promise<Page<SessionDocument>> {
  const rows = await db
    .collection<SessionDocument>("sessions")
    .find(
      { account_id },
      { projection: { ...withoutTerms, own: 0 }, sort: newest, skip: offset, limit: limit + 1, singleBatch: true },
    )
    .toArray();
  return pageOf(rows, limit);
}

/** Finds matching contacts, those with whole words first, then all of their notes and sessions with two finds. */
export async function contactsByFinds(db: Db, account_id: UUID, query: string): Promise<WholeContact[]> {
  const find = (filter: Document) =>
    db
      .collection("contacts")
      .find<ContactDocument>(
        { account_id, ...filter },
        { projection: withoutTerms, sort: newest, limit: searchLength, singleBatch: true },
      )
      .toArray();
  const filters = contactFilters(query);
  if (filters === undefined) return [];
  const [whole, beginning] = await Promise.all([find(filters.whole), find(filters.beginning)]);
  const found = new Map([...whole, ...beginning].map((contact) => [contact._id.toHexString(), contact]));
  const contacts = [...found.values()].slice(0, searchLength);
  const ids = { $in: contacts.map(({ _id }) => _id) };
  const [notes, sessions] = await Promise.all([
    db
      .collection("notes")
      .find<OwnedNote>({ account_id, parent_id: ids, kind: "contact" }, { projection: noteFields })
      .toArray(),
    db
      .collection("sessions")
      .find<OwnedSession>({ account_id, contact_id: ids, rank: past() }, { projection: sessionFields })
      .toArray(),
  ]);
  const notesOf = newestOf(notes, ({ parent_id }) => parent_id, timelineLength);
  const sessionsOf = newestOf(sessions, ({ contact_id }) => contact_id, sessionsLength);
  return contacts.map((contact) => ({ contact, timeline: notesOf(contact._id), sessions: sessionsOf(contact._id) }));
}

/** A page of matching notes. */
export async function searchNotes(
  db: Db,
  account_id: UUID,
  query: string,
  limit: number,
  offset: number,
): Promise<Page<NoteDocument>> {
  const notes = db.collection<NoteDocument>("notes");
  const words = queryWords(query);
  const counts =
    words.length < 2
      ? [0]
      : await Promise.all(
          words.map((word) =>
            notes.countDocuments(
              { account_id, [termsField]: probe(word, NOTE_SHAPE)?.term ?? "" },
              { limit: countBound },
            ),
          ),
        );
  const driver = counts.indexOf(Math.min(...counts));
  const fields = { kind: 1, parent_id: 1, label: 1, type: 1, content: 1, created_at: 1 } as const;
  const filter = { account_id, ...filterOf(words, driver, NOTE_SHAPE) };
  const rows = await notes
    .find(filter, {
      projection: fields,
      sort: newest,
      skip: offset,
      limit: limit + 1,
      singleBatch: true,
      hint: "search",
    })
    .toArray();
  return pageOf(rows, limit);
}

function past() {
  return rankBetween(undefined, Date.now());
}

function pageOf<T>(rows: readonly T[], limit: number): Page<T> {
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** The bench's queries only have one reading. */
function contactFilters(query: string): { whole: Document; beginning: Document } | undefined {
  const words = contactReadings(query, false)[0]?.words;
  if (words === undefined) return undefined;
  const [first = "", ...others] = words;
  const checks = others.map((word) => ({ [textField]: { $regex: wholeCheckPattern(word) } }));
  return {
    whole: { [termsField]: wholeProbe(first).term, ...(checks.length === 0 ? {} : { $and: checks }) },
    beginning: filterOf(words, 0, CONTACT_SHAPE),
  };
}

/** Matches one word by the index, and the other words and the rest of a long one by the text. */
function filterOf(words: readonly string[], driver: number, shape: SearchShape): Document {
  const driving = probe(words[driver] ?? "", shape);
  const checked = words.filter((_, at) => at !== driver || !driving.exact);
  return {
    [termsField]: driving.term,
    ...(checked.length === 0
      ? {}
      : { $and: checked.map((word) => ({ [textField]: { $regex: checkPattern(word, shape) } })) }),
  };
}

function newestOf<T extends { readonly rank: number }>(
  rows: readonly T[],
  ownerOf: (row: T) => UUID,
  limit: number,
): (owner: UUID) => T[] {
  const owned = new Map<string, T[]>();
  for (const row of rows) {
    const owner = ownerOf(row).toHexString();
    const known = owned.get(owner);
    if (known === undefined) owned.set(owner, [row]);
    else known.push(row);
  }
  return (owner) => (owned.get(owner.toHexString()) ?? []).sort((a, b) => b.rank - a.rank).slice(0, limit);
}
