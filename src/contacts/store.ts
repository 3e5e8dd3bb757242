// Contacts in MongoDB: the document, its indexes, reading one, creating and changing it.
import type { Db, Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { Contact, CreateContactResponse, UpdateContactResponse } from "../gen/records/v1/contacts_pb.ts";
import { duplicateIndex, recordsIndex } from "../db/mongo.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { rankAt, rankBetween } from "../db/rank.ts";
import { newRevision, retryOnConflict } from "../db/conflicts.ts";
import { read } from "../db/read.ts";
import { listIndex, searchIndex } from "../db/word-search.ts";
import type { Fence, WriteOptions } from "../db/write.ts";
import { commit, insertInTime } from "../db/write.ts";
import { fail } from "../errors.ts";
import type { Scope, WriteScope } from "../guards/scope.ts";
import { requireGrant } from "../guards/scope.ts";
import { contactTerms } from "../search/phones.ts";
import { recordWords } from "../search/words.ts";
import type { ContactDocument, ContactTexts } from "./document.ts";
import { noContactTexts } from "./document.ts";
import type { NoteRow, SessionRow } from "./messages.ts";
import { contactMessage } from "./messages.ts";

/** What a contact is called in copies of it: in its sessions, and over its notes. */
export interface ContactNames {
  readonly _id: UUID;
  readonly full_name: string | null;
  readonly inferred_name: string | null;
  readonly email: string | null;
}

/** Brings the copies of a contact's names up to date, in the transaction that changes them. */
export type RewriteCopies = (scope: WriteScope, contact: ContactNames, options: WriteOptions) => Promise<void>;

/** Some texts of a contact. */
export type ContactChanges = Partial<ContactTexts>;

/** The contacts of all accounts, each method within one. */
export interface ContactStore {
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
}

export const contactsCollection = "contacts";
/** How much of its timeline and sessions a contact shows (contract §3.5). */
export const timelineLength = 50;
export const recentSessionsLength = 5;

export const contactIndexes: IndexSpec = {
  collection: contactsCollection,
  indexes: [
    {
      key: { account_id: 1, g: 1, rank: -1 },
      name: searchIndex,
      storageEngine: { wiredTiger: { configString: "block_compressor=zstd" } },
    },
    {
      key: { account_id: 1, email_key: 1 },
      name: "email",
      unique: true,
      partialFilterExpression: { email_key: { $type: "string" } },
    },
    {
      key: { account_id: 1, external_id: 1 },
      name: "external_id",
      unique: true,
      partialFilterExpression: { external_id: { $type: "string" } },
    },
    { key: { account_id: 1, rank: -1 }, name: listIndex },
    recordsIndex,
  ],
};

/** The contacts of a database. */
export function createContactStore(client: MongoClient, rewriteCopies: RewriteCopies): ContactStore {
  const db: Db = client.db();
  const contacts = db.collection<ContactDocument>(contactsCollection);

  async function rowsOf(
    scope: Scope,
    id: UUID,
  ): Promise<{ document: ContactDocument; notes: NoteRow[]; sessions: SessionRow[] } | undefined> {
    const rows = await read<ContactDocument | NoteRow | SessionRow>(contacts, scope, [
      { $match: { _id: id, account_id: scope.accountId } },
      { $project: { g: 0, n: 0 } },
      { $unionWith: { coll: "notes", pipeline: timelineStages(scope, { parent_id: id }) } },
      { $unionWith: { coll: "sessions", pipeline: recentSessionStages(scope, { contact_id: id }) } },
    ]);
    const [document, ...others] = rows;
    if (document === undefined || !("version" in document)) return undefined;
    return {
      document,
      notes: others.filter((row): row is NoteRow => "content" in row),
      sessions: others.filter((row): row is SessionRow => "session_date" in row),
    };
  }

  return {
    async get(scope, id) {
      const rows = await rowsOf(scope, id);
      return rows === undefined ? undefined : contactMessage(rows.document, rows.notes, rows.sessions);
    },

    async create(scope, texts) {
      const document = newContact(scope.accountId, texts);
      const answer: CreateContactResponse = {
        $typeName: "records.v1.CreateContactResponse",
        contact: contactMessage(document, [], []),
      };
      await mapDuplicateEmail(() =>
        commit(client, scope, { message: answer, records: [document._id] }, (options, fence) =>
          insertInTime(contacts, document, options, fence),
        ),
      );
      return answer;
    },

    update(scope, id, changes) {
      return retryOnConflict(scope, async () => {
        const rows = await rowsOf(scope, id);
        if (rows === undefined) return fail(Reason.NOT_FOUND);
        if (rows.document.archived_at !== null) return fail(Reason.CONTACT_ARCHIVED);
        const before = rows.document;
        const after = derive({
          ...before,
          ...changes,
          version: newRevision(),
          updated_at: laterThan(before.updated_at),
        });
        const answer: UpdateContactResponse = {
          $typeName: "records.v1.UpdateContactResponse",
          contact: contactMessage(after, rows.notes, rows.sessions),
        };
        const renamed = after.full_name !== before.full_name || after.email !== before.email;
        const write = async (options: WriteOptions, fence: Fence): Promise<boolean> => {
          const unchanged = { _id: id, account_id: scope.accountId, version: before.version, archived_at: null };
          const { matchedCount } = await contacts.replaceOne({ ...unchanged, ...fence }, after, options);
          if (matchedCount === 1 && renamed) await rewriteCopies(scope, after, options);
          return matchedCount === 1;
        };
        return (await mapDuplicateEmail(() =>
          commit(client, scope, { message: answer, records: [id] }, write, { atomic: renamed }),
        ))
          ? answer
          : undefined;
      });
    },

    async lock(scope, id, options) {
      requireGrant(scope);
      const names = { full_name: 1, inferred_name: 1, email: 1, archived_at: 1 } as const;
      const found = await contacts.findOneAndUpdate(
        { _id: id, account_id: scope.accountId, archived_at: null },
        { $set: { version: newRevision() } },
        { projection: names, ...options },
      );
      if (found !== null) return found;
      const archived = await contacts.findOne(
        { _id: id, account_id: scope.accountId },
        { projection: { _id: 1 }, ...options },
      );
      return fail(archived === null ? Reason.NOT_FOUND : Reason.CONTACT_ARCHIVED);
    },
  };
}

/** A new active contact; null for the other texts. */
export function newContact(accountId: UUID, texts: ContactChanges): ContactDocument {
  const now = new Date();
  return derive({
    _id: new UUID(),
    account_id: accountId,
    version: newRevision(),
    ...noContactTexts,
    ...texts,
    created_at: now,
    updated_at: now,
    archived_at: null,
    rank: 0,
  });
}

/** Sets what follows from the other fields: rank, the unique email, the terms of the search. */
export function derive({ email_key: _key, n: _n, g: _g, ...document }: ContactDocument): ContactDocument {
  const derived = { ...document, rank: rankAt(document.updated_at, document._id) };
  if (document.archived_at !== null) return derived;
  const { full_name, inferred_name, email, phone } = document;
  const words = [...recordWords(full_name), ...recordWords(inferred_name), ...recordWords(email)];
  return { ...derived, ...(email === null ? {} : { email_key: email.toLowerCase() }), ...contactTerms(words, phone) };
}

/** The newest notes of the contact that the filter names, as rows. */
export function timelineStages(scope: Scope, parent: Document): Document[] {
  return [
    { $match: { account_id: scope.accountId, ...parent, kind: "contact" } },
    { $sort: { rank: -1 } },
    { $limit: timelineLength },
    { $project: { content: 1, source: 1, created_at: 1, updated_at: 1 } },
  ];
}

/** The newest past sessions of the contact that the filter names, as rows. */
export function recentSessionStages(scope: Scope, client: Document): Document[] {
  return [
    { $match: { account_id: scope.accountId, ...client, rank: rankBetween(undefined, Date.now()) } },
    { $sort: { rank: -1 } },
    { $limit: recentSessionsLength },
    { $project: { title: 1, subtitle: 1, session_date: 1, recording_status: 1 } },
  ];
}

/** Runs a write, and says so when it runs into the unique email. */
export async function mapDuplicateEmail<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (duplicateIndex(error)?.includes("email_key")) fail(Reason.DUPLICATE_EMAIL);
    throw error;
  }
}

function laterThan(time: Date): Date {
  return new Date(Math.max(Date.now(), time.getTime() + 1));
}
