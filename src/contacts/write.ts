// Writes of one contact: what follows from its fields is derived, and copies of its names are brought up to date.
import type { Collection, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { newRevision } from "../db/conflicts.ts";
import { insertRecord } from "../db/insert.ts";
import { duplicateIndex } from "../db/mongo.ts";
import { rankAt } from "../db/rank.ts";
import type { Fence, RecordedResponse, WriteOptions } from "../db/write.ts";
import { commit } from "../db/write.ts";
import { fail } from "../errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import { contactTerms } from "../search/phones.ts";
import type { Terms } from "../search/terms.ts";
import { recordWords } from "../search/words.ts";
import type { ContactChanges, ContactDocument } from "./document.ts";
import { noContactTexts } from "./document.ts";

/** What a contact is called in copies of it: in its sessions, and over its notes. */
export type ContactNames = Pick<ContactDocument, "_id" | "full_name" | "inferred_name" | "email">;

/** Brings the copies of a contact's names up to date, in the transaction that changes them. */
export type RewriteCopies = (scope: WriteScope, contact: ContactNames, options: WriteOptions) => Promise<void>;

/** Writes contacts; `response` is stored with the idempotency key of a request. Both fail with DUPLICATE_EMAIL. */
export interface ContactWrites {
  /** Inserts a contact. Rejects with MongoDB's error when its id or external id is taken. */
  insert(scope: WriteScope, contact: ContactDocument, response?: RecordedResponse): Promise<void>;
  /** Replaces what was read; false when it was changed since. */
  replace(
    scope: WriteScope,
    before: ContactDocument,
    after: ContactDocument,
    response?: RecordedResponse,
  ): Promise<boolean>;
}

/** Over the contacts of a database. */
export function createContactWrites(
  client: MongoClient,
  contacts: Collection<ContactDocument>,
  rewriteCopies: RewriteCopies,
): ContactWrites {
  return {
    insert: (scope, contact, response) =>
      mapDuplicateEmail(() => insertRecord(client, scope, contacts, contact, response)),
    replace(scope, before, after, response) {
      const renamed = (["full_name", "inferred_name", "email"] as const).some((name) => before[name] !== after[name]);
      const unchanged = { _id: before._id, account_id: scope.accountId, version: before.version };
      const work = async (options: WriteOptions, fence: Fence): Promise<boolean> => {
        const { matchedCount } = await contacts.replaceOne({ ...unchanged, ...fence }, after, options);
        if (matchedCount === 1 && renamed) await rewriteCopies(scope, after, options);
        return matchedCount === 1;
      };
      return mapDuplicateEmail(() => commit(client, scope, response, work, { atomic: renamed }));
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
  const { email } = document;
  return { ...derived, ...(email === null ? {} : { email_key: email.toLowerCase() }), ...termsOf(document) };
}

/** The terms by which an active contact is found (contract §3.2). */
export function termsOf(contact: Pick<ContactDocument, "full_name" | "inferred_name" | "email" | "phone">): Terms {
  const { full_name, inferred_name, email, phone } = contact;
  return contactTerms([...recordWords(full_name), ...recordWords(inferred_name), ...recordWords(email)], phone);
}

/** Runs a write, and says so when it runs into the unique email. */
async function mapDuplicateEmail<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (duplicateIndex(error)?.includes("email_key")) fail(Reason.DUPLICATE_EMAIL);
    throw error;
  }
}
