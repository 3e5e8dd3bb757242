// Store of contacts: indexes, reading, creating and changing a contact.
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import type { ReadCollection } from "../db/aggregate.ts";
import { findAll } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import { projectionOf } from "../db/fields.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Contact, CreateContactResponse, UpdateContactResponse } from "../gen/records/v1/contacts_pb.ts";
import { lastInstant } from "../db/message.ts";
import { recordsIndex } from "../db/mongo.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { rankBetween } from "../db/rank.ts";
import { newRevision, retryOnConflict } from "../db/conflicts.ts";
import { previousTermsIndex } from "../db/previous-terms.ts";
import { read } from "../db/read.ts";
import { withoutTerms } from "../db/search-fields.ts";
import { listIndex, searchIndex, termsIndex } from "../db/search-index.ts";
import type { KnownRecord, LockNamed, NamedRecords, RecordName } from "../db/named.ts";
import { externalIdIndex, findNamed, lockNamed, removeFound } from "../db/named.ts";
import type { WriteOptions } from "../db/write.ts";
import { fail } from "../call/errors.ts";
import type { Scope, WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";
import { contactNoteFields } from "../notes/document.ts";
import type { ContactChanges, ContactDocument } from "./document.ts";
import type { NoteRow, SessionRow } from "./messages.ts";
import { contactMessage, recentSessionFields } from "./messages.ts";
import type { ContactUpserts, FindMatches, Matched } from "./upsert.ts";
import { createContactUpserts } from "./upsert.ts";
import type { ContactNames, RewriteCopies } from "./write.ts";
import { createContactWrites, emailKeyOf, newContact, withDerivedFields } from "./write.ts";

/** The contacts of all accounts. Each method works within one account. */
export interface ContactStore extends ContactUpserts {
  /**
   * Returns the contact, archived or not, with its timeline and sessions; undefined if the account has none with this
   * id.
   */
  get(scope: Scope, id: UUID): Promise<Contact | undefined>;
  /** Creates a contact. Fails with DUPLICATE_EMAIL. */
  create(scope: WriteScope, texts: ContactChanges): Promise<CreateContactResponse>;
  /** Changes a contact. Fails with NOT_FOUND, CONTACT_ARCHIVED or DUPLICATE_EMAIL. */
  update(scope: WriteScope, id: UUID, changes: ContactChanges): Promise<UpdateContactResponse>;
  /**
   * Locks an active contact within a transaction, so that no concurrent archiving or deletion can commit. Fails with
   * NOT_FOUND or CONTACT_ARCHIVED.
   */
  lock(scope: WriteScope, id: UUID, options: WriteOptions): Promise<ContactNames>;
  /** Finds all named contacts by one command. */
  named(scope: WriteScope, names: readonly RecordName[]): Promise<NamedRecords<ContactDocument>>;
  /** Finds contacts as `named` does. An item whose names match no contact matches the active contact with its email. */
  readonly matching: FindMatches;
  /** Finds contacts as `named` does, but reads only their names. */
  ids(scope: WriteScope, names: readonly RecordName[]): Promise<NamedRecords<KnownRecord>>;
  /** Finds the named contacts, and locks them against concurrent changes and deletions. */
  readonly lockNamed: LockNamed<ContactNames & KnownRecord>;
  /** Deletes only the contacts, within a transaction. Returns the ids of those that existed. */
  remove(scope: WriteScope, ids: readonly UUID[], options: WriteOptions): Promise<UUID[]>;
}

/** The maximum numbers of notes and sessions that a contact shows (contract §3.5). */
export const timelineLength = 50;
export const recentSessionsLength = 5;

export const contactCollection: CollectionSpec = {
  collection: collections.contacts,
  erasure: { key: "rank", hint: listIndex },
  deferred: searchIndex,
  indexes: [
    termsIndex,
    previousTermsIndex,
    {
      key: { account_id: 1, email_key: 1 },
      name: "email",
      unique: true,
      partialFilterExpression: { email_key: { $type: "string" } },
    },
    externalIdIndex,
    { key: { account_id: 1, rank: -1 }, name: listIndex },
    recordsIndex,
  ],
};

const nameFields = { full_name: 1, inferred_name: 1, email: 1 } as const;

/** Creates the store of a database's contacts. */
export function createContactStore(client: MongoClient, rewriteCopies: RewriteCopies): ContactStore {
  const contacts = client.db().collection<ContactDocument>(collections.contacts);
  const writes = createContactWrites(client, contacts, rewriteCopies);
  const named: ContactStore["named"] = (scope, names) => findNamed(contacts, scope, names);
  const byEmail: FindMatches = (scope, items) => findByEmail(contacts, scope, items);
  const matching: FindMatches = async (scope, items) => {
    const byName = await named(scope, items);
    const others = await byEmail(
      scope,
      items.filter((item) => byName.get(item) === undefined),
    );
    return { get: (item) => byName.get(item) ?? others.get(item) };
  };

  return {
    ...createContactUpserts(writes, { named, byEmail, matching }),
    named,
    matching,
    ids: (scope, names) => findNamed<KnownRecord>(contacts as never, scope, names, { fields: {} }),
    lockNamed: (scope, names, session) => lockNamed(contacts, scope, names, { fields: nameFields, session }),

    remove: (scope, ids, options) => removeFound(contacts, scope, { _id: { $in: ids } }, options),

    async get(scope, id) {
      const rows = await contactRows(contacts, scope, id);
      return rows === undefined ? undefined : contactMessage(rows.document, rows.notes, rows.sessions);
    },

    async create(scope, texts) {
      const document = newContact(scope.accountId, texts);
      const response: CreateContactResponse = {
        $typeName: "records.v1.CreateContactResponse",
        contact: contactMessage(document, [], []),
      };
      await writes.insert(scope, document, { message: response, records: [document._id] });
      return response;
    },

    update(scope, id, changes) {
      return retryOnConflict(scope, async () => {
        const rows = await contactRows(contacts, scope, id);
        if (rows === undefined) return fail(Reason.NOT_FOUND);
        if (rows.document.archived_at !== null) return fail(Reason.CONTACT_ARCHIVED);
        const before = rows.document;
        const after = withDerivedFields({
          ...before,
          ...changes,
          version: newRevision(),
          updated_at: laterThan(before.updated_at),
        });
        const response: UpdateContactResponse = {
          $typeName: "records.v1.UpdateContactResponse",
          contact: contactMessage(after, rows.notes, rows.sessions),
        };
        return (await writes.replace(scope, before, after, { message: response, records: [id] }))
          ? response
          : undefined;
      });
    },

    lock: (scope, id, options) => lockActive(contacts, scope, id, options),
  };
}

/** Finds the active contacts with the emails of the items. */
async function findByEmail(
  contacts: Collection<ContactDocument>,
  { accountId, deadline }: WriteScope,
  items: readonly Matched[],
): ReturnType<FindMatches> {
  const keys = items.flatMap((item) => emailKeyOf(item) ?? []);
  if (keys.length === 0) return { get: () => undefined };
  // The filter repeats the type, because the planner otherwise ignores the partial index.
  const filter = { account_id: accountId, email_key: { $in: keys, $type: "string" } } as const;
  const found = await findAll<ContactDocument>(contacts, filter, { deadline });
  const holders = new Map(found.map((contact) => [contact.email_key, contact]));
  return { get: (item) => holders.get(emailKeyOf(item)) };
}

/**
 * Reads a contact with the rows of its notes and sessions by one command. Returns undefined if there is no such
 * contact.
 */
export async function contactRows(
  contacts: ReadCollection,
  scope: Scope,
  id: UUID,
): Promise<{ document: ContactDocument; notes: NoteRow[]; sessions: SessionRow[] } | undefined> {
  const rows = await read<ContactDocument | NoteRow | SessionRow>(contacts, scope, [
    { $match: { _id: id, account_id: scope.accountId } },
    { $project: withoutTerms },
    { $unionWith: { coll: collections.notes, pipeline: timelineStages(scope, { parent_id: id }) } },
    { $unionWith: { coll: collections.sessions, pipeline: recentSessionStages(scope, { contact_id: id }) } },
  ]);
  const [document, ...others] = rows;
  if (document === undefined || !("version" in document)) return undefined;
  return {
    document,
    notes: others.filter((row): row is NoteRow => "content" in row),
    sessions: others.filter((row): row is SessionRow => "session_date" in row),
  };
}

async function lockActive(
  contacts: Collection<ContactDocument>,
  scope: WriteScope,
  id: UUID,
  options: WriteOptions,
): Promise<ContactNames> {
  requireGrant(scope);
  const found = await contacts.findOneAndUpdate(
    { _id: id, account_id: scope.accountId, archived_at: null },
    { $set: { version: newRevision() } },
    { projection: nameFields, ...options },
  );
  if (found !== null) return found;
  const archived = await contacts.findOne(
    { _id: id, account_id: scope.accountId },
    { projection: { _id: 1 }, ...options },
  );
  return fail(archived === null ? Reason.NOT_FOUND : Reason.CONTACT_ARCHIVED);
}

/** Returns the filter for the notes of timelines. */
export function timelineFilter({ accountId }: Scope): Document {
  return { account_id: accountId, kind: "contact" };
}

/** Returns the filter for the sessions that contacts show: past ones. */
export function recentSessionFilter({ accountId }: Scope): Document {
  return { account_id: accountId, rank: rankBetween(undefined, Date.now()) };
}

const timelineProjection = projectionOf(contactNoteFields);
const recentSessionProjection = projectionOf(recentSessionFields);

/** Returns the stages for the newest notes of a contact, as rows. `parent` selects the contact. */
export function timelineStages(scope: Scope, parent: Document): Document[] {
  return [
    { $match: { ...timelineFilter(scope), ...parent } },
    { $sort: { rank: -1 } },
    { $limit: timelineLength },
    { $project: timelineProjection },
  ];
}

/** Returns the stages for the newest past sessions of a contact, as rows. `client` selects the contact. */
export function recentSessionStages(scope: Scope, client: Document): Document[] {
  return [
    { $match: { ...recentSessionFilter(scope), ...client } },
    { $sort: { rank: -1 } },
    { $limit: recentSessionsLength },
    { $project: recentSessionProjection },
  ];
}

/** Returns the current time, or 1 ms after `time` if that is later, but at most `lastInstant`. */
function laterThan(time: Date): Date {
  return new Date(Math.min(Math.max(Date.now(), time.getTime() + 1), lastInstant));
}
