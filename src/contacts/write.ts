// Writes of a contact: derives its dependent fields, and updates the copies of its names.
import { setImmediate } from "node:timers/promises";
import type { Collection, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import { findFirst } from "../db/aggregate.ts";
import { newRevision } from "../db/conflicts.ts";
import { insertRecord } from "../db/insert.ts";
import { duplicateIndex } from "../db/mongo.ts";
import { rankAt } from "../db/rank.ts";
import type { Rebuild } from "../db/rebuild-terms.ts";
import { storedTerms, termsField, textField } from "../db/search-fields.ts";
import type { Fence, RecordedResponse, WriteOptions } from "../db/write.ts";
import { commit } from "../db/write.ts";
import { fail } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import { phoneForms, phoneWords } from "../search/phones.ts";
import type { Terms } from "../search/terms.ts";
import { contactTerms } from "../search/terms.ts";
import { nameKeys, nameWords, recordWords } from "../search/words.ts";
import type { ContactChanges, ContactDocument } from "./document.ts";
import { noContactTexts } from "./document.ts";

/** The names of a contact that are copied into its sessions and notes. */
export type ContactNames = Pick<ContactDocument, "_id" | "full_name" | "inferred_name" | "email">;

/** Updates the copies of a contact's names, in the transaction that changes them. */
export type RewriteCopies = (scope: WriteScope, contact: ContactNames, options: WriteOptions) => Promise<void>;

/** Writes contacts. `response` is stored with the request's idempotency key. */
export interface ContactWrites {
  /**
   * Inserts a contact. Fails with DUPLICATE_EMAIL. Rejects with MongoDB's error if its id or external id is already
   * used.
   */
  insert(scope: WriteScope, contact: ContactDocument, response?: RecordedResponse): Promise<void>;
  /**
   * Makes contacts and inserts them in one transaction. Rejects with MongoDB's error, and inserts none, if a unique
   * value is already used.
   */
  insertAll(scope: WriteScope, makers: readonly (() => ContactDocument)[]): Promise<void>;
  /**
   * Replaces `before` with `after`. Returns false if the contact was changed since it was read. Fails with
   * DUPLICATE_EMAIL.
   */
  replace(
    scope: WriteScope,
    before: ContactDocument,
    after: ContactDocument,
    response?: RecordedResponse,
  ): Promise<boolean>;
}

/** How many contacts are made and inserted at once. Other requests are served in between. */
const madeAtOnce = 100;

/** Creates the writes of a database's contacts. */
export function createContactWrites(
  client: MongoClient,
  contacts: Collection<ContactDocument>,
  rewriteCopies: RewriteCopies,
): ContactWrites {
  return {
    insert: (scope, contact, response) =>
      mapDuplicateEmail(contacts, scope, contact, () => insertRecord(client, scope, contacts, contact, response)),
    async insertAll(scope, makers) {
      const pieces = Array.from({ length: Math.ceil(makers.length / madeAtOnce) }, (_, at) =>
        makers.slice(at * madeAtOnce, (at + 1) * madeAtOnce),
      );
      // A repeated transaction inserts the same contacts.
      const made: ContactDocument[][] = [];
      const work = async (options: WriteOptions): Promise<void> => {
        let inserted: Promise<unknown> | undefined;
        for (const [at, piece] of pieces.entries()) {
          const next = made[at] ?? piece.map((make) => make());
          made[at] = next;
          await inserted;
          inserted = contacts.insertMany(next, options);
          inserted.catch(() => undefined);
          // MongoDB inserts these while the next ones are made.
          await setImmediate();
        }
        await inserted;
      };
      await commit(client, scope, undefined, work, { atomic: true });
    },
    replace(scope, before, after, response) {
      const renamed = (["full_name", "inferred_name", "email"] as const).some((name) => before[name] !== after[name]);
      const unchanged = { _id: before._id, account_id: scope.accountId, version: before.version };
      const work = async (options: WriteOptions, fence: Fence): Promise<boolean> => {
        const { matchedCount } = await contacts.replaceOne({ ...unchanged, ...fence }, after, options);
        if (matchedCount === 1 && renamed) await rewriteCopies(scope, after, options);
        return matchedCount === 1;
      };
      return mapDuplicateEmail(contacts, scope, after, () =>
        commit(client, scope, response, work, { atomic: renamed }),
      );
    },
  };
}

/** Returns a new active contact. Missing texts are null. */
export function newContact(accountId: UUID, texts: ContactChanges): ContactDocument {
  const now = new Date();
  return withDerivedFields({
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

/** Returns the form of a contact's email in which it is unique; undefined without an email. */
export function emailKeyOf({ email }: { readonly email?: string | null | undefined }): string | undefined {
  return email?.toLowerCase();
}

/** Returns the contact with its derived fields: rank, unique email and search terms. */
export function withDerivedFields({
  email_key: _key,
  [textField]: _text,
  [termsField]: _terms,
  ...document
}: ContactDocument): ContactDocument {
  const derived = { ...document, rank: rankAt(document.updated_at, document._id) };
  if (document.archived_at !== null) return derived;
  const key = emailKeyOf(document);
  return {
    ...derived,
    ...(key === undefined ? {} : { email_key: key }),
    ...storedTerms(termsOf(document)),
  };
}

/** Returns the search terms of an active contact (contract §3.2). */
export function termsOf(contact: Pick<ContactDocument, "full_name" | "inferred_name" | "email" | "phone">): Terms {
  const { full_name, inferred_name, email } = contact;
  const phones = phoneForms(contact.phone);
  return contactTerms({
    names: nameWords(full_name, inferred_name),
    nameKeys: [...nameKeys(full_name), ...nameKeys(inferred_name)],
    others: [...recordWords(email), ...phoneWords(contact.phone, phones)],
    email: emailKeyOf({ email }),
    phones,
  });
}

/** Returns how contacts get their search terms again. */
export const contactRebuild: Rebuild = {
  fieldsOf: (contact) => storedTerms(termsOf(contact as ContactDocument)),
  unchanged: ({ version }) => ({ version: version as number }),
};

/**
 * Writes a contact. Fails with DUPLICATE_EMAIL if the write violates the unique index on emails. The failure names the
 * contact that has the email, unless that has been archived meanwhile (contract §4).
 */
async function mapDuplicateEmail<T>(
  contacts: Collection<ContactDocument>,
  { accountId, deadline }: WriteScope,
  { email_key: key }: ContactDocument,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (key === undefined || !duplicateIndex(error)?.includes("email_key")) throw error;
    // The filter repeats the type, because the planner otherwise ignores the partial index.
    const filter = { account_id: accountId, email_key: { $eq: key, $type: "string" } };
    const holder = await findFirst<ContactDocument>(contacts, filter, { projection: { _id: 1 }, deadline });
    const taken = { field: "email", rule: "unique", message: "must not be that of another active contact" };
    fail(Reason.DUPLICATE_EMAIL, {
      violations: [{ ...taken, ...(holder && { contactId: holder._id.toHexString() }) }],
    });
  }
}
