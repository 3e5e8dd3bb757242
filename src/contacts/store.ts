// Contacts in MongoDB: the document, its indexes, reading one, creating and changing it.
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
import { read } from "../db/read.ts";
import { listIndex, termsIndex } from "../db/search-index.ts";
import type { KnownRecord, LockNamed, NamedRecords, RecordName } from "../db/named.ts";
import { externalIdIndex, findNamed, lockNamed } from "../db/named.ts";
import type { WriteOptions } from "../db/write.ts";
import { fail } from "../errors.ts";
import type { Scope, WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";
import { contactNoteFields } from "../notes/document.ts";
import type { ContactChanges, ContactDocument } from "./document.ts";
import type { NoteRow, SessionRow } from "./messages.ts";
import { contactMessage, recentSessionFields } from "./messages.ts";
import type { ContactUpserts, FindMatches, Matched } from "./upsert.ts";
import { createContactUpserts } from "./upsert.ts";
import type { ContactNames, RewriteCopies } from "./write.ts";
import { createContactWrites, derive, newContact } from "./write.ts";

/** The contacts of all accounts, each method within one. */
export interface ContactStore extends ContactUpserts {
  /** The contact, archived or not, with its timeline and sessions; undefined when the account has none with this id. */
  get(scope: Scope, id: UUID): Promise<Contact | undefined>;
  /** Creates a contact. Fails with DUPLICATE_EMAIL. */
  create(scope: WriteScope, texts: ContactChanges): Promise<CreateContactResponse>;
  /** Changes a contact. Fails with NOT_FOUND, CONTACT_ARCHIVED or DUPLICATE_EMAIL. */
  update(scope: WriteScope, id: UUID, changes: ContactChanges): Promise<UpdateContactResponse>;
  /**
   * Marks the contact within a transaction, so that no archiving or deletion can commit beside it.
   * Fails with NOT_FOUND or CONTACT_ARCHIVED.
   */
  lock(scope: WriteScope, id: UUID, options: WriteOptions): Promise<ContactNames>;
  /** The contacts that any of the names means, by one command. */
  named(scope: WriteScope, names: readonly RecordName[]): Promise<NamedRecords<ContactDocument>>;
  /** The same; an item whose names mean none means the active contact with its email. */
  readonly matching: FindMatches;
  /** The same by their names, of which only these are read. */
  ids(scope: WriteScope, names: readonly RecordName[]): Promise<NamedRecords<KnownRecord>>;
  /** Finds the contacts that any of the names means, and marks them as `lock` does. */
  readonly lockNamed: LockNamed<ContactNames & KnownRecord>;
  /** Deletes the contact alone, within a transaction; false when there is none. */
  remove(scope: WriteScope, id: UUID, options: WriteOptions): Promise<boolean>;
}

/** How much of its timeline and sessions a contact shows (contract §3.5). */
const timelineLength = 50;
const recentSessionsLength = 5;

export const contactCollection: CollectionSpec = {
  collection: collections.contacts,
  erasure: { key: "rank", hint: listIndex },
  indexes: [
    termsIndex,
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

/** The contacts of a database. */
export function createContactStore(client: MongoClient, rewriteCopies: RewriteCopies): ContactStore {
  const contacts = client.db().collection<ContactDocument>(collections.contacts);
  const writes = createContactWrites(client, contacts, rewriteCopies);
  const named: ContactStore["named"] = (scope, names) => findNamed(contacts, scope, names);
  const matching = createMatching(contacts, named);

  return {
    ...createContactUpserts(writes, named, matching),
    named,
    matching,
    ids: (scope, names) => findNamed<KnownRecord>(contacts as never, scope, names, { fields: {} }),
    lockNamed: (scope, names, session) => lockNamed(contacts, scope, names, { fields: nameFields, session }),

    async remove(scope, id, options) {
      requireGrant(scope);
      return (await contacts.deleteOne({ _id: id, account_id: scope.accountId }, options)).deletedCount === 1;
    },

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
        const after = derive({
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

function createMatching(contacts: Collection<ContactDocument>, named: FindMatches): FindMatches {
  return async (scope, items) => {
    const byName = await named(scope, items);
    const unnamed = items.filter((item) => byName.get(item) === undefined);
    const byEmail = await findByEmail(contacts, scope, unnamed);
    return { get: (item) => byName.get(item) ?? byEmail.get(emailKeyOf(item) ?? "") };
  };
}

/** The active contacts with the emails of the items, by their key. */
async function findByEmail(
  contacts: Collection<ContactDocument>,
  { accountId, deadline }: WriteScope,
  items: readonly Matched[],
): Promise<ReadonlyMap<string, ContactDocument>> {
  const keys = items.flatMap((item) => emailKeyOf(item) ?? []);
  if (keys.length === 0) return new Map();
  // The type is said again for the planner, who does not take the partial index without.
  const filter = { account_id: accountId, email_key: { $in: keys, $type: "string" } } as const;
  const found = await findAll<ContactDocument>(contacts, filter, { deadline });
  return new Map(found.map((contact) => [contact.email_key ?? "", contact]));
}

function emailKeyOf({ email }: Matched): string | undefined {
  return email?.toLowerCase();
}

/** A contact with the rows of its notes and sessions, by one command. */
export async function contactRows(
  contacts: ReadCollection,
  scope: Scope,
  id: UUID,
): Promise<{ document: ContactDocument; notes: NoteRow[]; sessions: SessionRow[] } | undefined> {
  const rows = await read<ContactDocument | NoteRow | SessionRow>(contacts, scope, [
    { $match: { _id: id, account_id: scope.accountId } },
    { $project: { g: 0, n: 0 } },
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

/** The newest notes of the contact that the filter names, as rows. */
export function timelineStages(scope: Scope, parent: Document): Document[] {
  return [
    { $match: { account_id: scope.accountId, ...parent, kind: "contact" } },
    { $sort: { rank: -1 } },
    { $limit: timelineLength },
    { $project: projectionOf(contactNoteFields) },
  ];
}

/** The newest past sessions of the contact that the filter names, as rows. */
export function recentSessionStages(scope: Scope, client: Document): Document[] {
  return [
    { $match: { account_id: scope.accountId, ...client, rank: rankBetween(undefined, Date.now()) } },
    { $sort: { rank: -1 } },
    { $limit: recentSessionsLength },
    { $project: projectionOf(recentSessionFields) },
  ];
}

/** Now, or just after a time that is still to come. */
function laterThan(time: Date): Date {
  return new Date(Math.min(Math.max(Date.now(), time.getTime() + 1), lastInstant));
}
