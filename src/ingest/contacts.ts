// Contacts from outside: creates, replaces, archives and restores them.
import type { ClientSession, MongoClient } from "mongodb";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ContactDocument } from "../contacts/document.ts";
import type { RewriteCopies } from "../contacts/store.ts";
import { contactsCollection, derive, uniquely } from "../contacts/store.ts";
import { dateOf } from "../db/message.ts";
import { duplicateIndex } from "../db/mongo.ts";
import { commit, withoutInterference } from "../db/write.ts";
import { Failure } from "../errors.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { Outcome } from "./batch.ts";
import { alreadyExists, findNamed, identityOf } from "./batch.ts";
import { inTurn } from "./in-turn.ts";

/** Writes contacts of one account at a time. */
export interface ContactIngest {
  /** Creates or replaces contacts. An item fails with DUPLICATE_EMAIL or ALREADY_EXISTS. */
  upsert(scope: WriteScope, items: readonly ContactItem[]): Promise<Outcome<ContactDocument>[]>;
  /** Archives or restores contacts. An item fails with NOT_FOUND or DUPLICATE_EMAIL. */
  setArchived(scope: WriteScope, ids: readonly string[], archived: boolean): Promise<Outcome<ContactDocument>[]>;
}

/** How many contacts are written at the same time: each has an email to itself, so each is a write by itself. */
const width = 32;

/** Over the contacts of a database. */
export function createContactIngest(client: MongoClient, rewriteCopies: RewriteCopies): ContactIngest {
  const contacts = client.db().collection<ContactDocument>(contactsCollection);

  /** Replaces what was read, unless it was changed since: then false. */
  function replace(scope: WriteScope, before: ContactDocument, after: ContactDocument): Promise<boolean> {
    const renamed = (["full_name", "inferred_name", "email"] as const).some((name) => before[name] !== after[name]);
    const write = async (session: ClientSession | undefined): Promise<boolean> => {
      const options = session === undefined ? {} : { session };
      const { matchedCount } = await contacts.replaceOne({ _id: before._id, account_id: scope.accountId, version: before.version }, after, options);
      if (matchedCount === 1 && renamed) await rewriteCopies(scope, after, session);
      return matchedCount === 1;
    };
    return uniquely(() => commit(client, scope, undefined, write, { atomic: renamed }));
  }

  /** Inserts, unless there is a record with this id or external id by now: then false. */
  async function insert(scope: WriteScope, contact: ContactDocument): Promise<boolean> {
    try {
      await uniquely(() => commit(client, scope, undefined, () => contacts.insertOne(contact)));
      return true;
    } catch (error) {
      if (duplicateIndex(error) !== undefined) return false;
      throw error;
    }
  }

  function put(scope: WriteScope, item: ContactItem, known: ContactDocument | undefined): Promise<Outcome<ContactDocument>> {
    let before = known;
    return withoutInterference(async () => {
      const after = documentOf(scope, item, before);
      if (await (before === undefined ? insert(scope, after) : replace(scope, before, after))) return { id: after._id };
      const wasThere = before !== undefined;
      before = (await findNamed(contacts, scope, [item])).get(item);
      // What stands in the way is no record that the item names: another account's, or another contact's external id.
      return before === undefined && !wasThere ? alreadyExists() : undefined;
    });
  }

  function archive(scope: WriteScope, id: string, archived: boolean, known: ContactDocument | undefined): Promise<Outcome<ContactDocument>> {
    let before = known;
    return withoutInterference(async () => {
      if (before === undefined) return { failure: new Failure(Reason.NOT_FOUND) };
      if ((before.archived_at !== null) === archived) return { id: before._id };
      const after = derive({ ...before, version: before.version + 1, archived_at: archived ? new Date() : null });
      if (await replace(scope, before, after)) return { id: before._id };
      before = (await findNamed(contacts, scope, [{ id }])).get({ id });
      return undefined;
    });
  }

  return {
    async upsert(scope, items) {
      const known = await findNamed(contacts, scope, items);
      return inTurn(items, width, (item) => put(scope, item, known.get(item)));
    },
    async setArchived(scope, ids, archived) {
      const known = await findNamed(contacts, scope, ids.map((id) => ({ id })));
      return inTurn(ids, width, (id) => archive(scope, id, archived, known.get({ id })));
    },
  };
}

function documentOf(scope: WriteScope, item: ContactItem, before: ContactDocument | undefined): ContactDocument {
  const now = new Date();
  return derive({
    ...identityOf(scope, item, before),
    version: (before?.version ?? 0) + 1,
    full_name: item.fullName ?? null,
    email: item.email ?? null,
    phone: item.phone ?? null,
    notes: item.notes ?? null,
    memory: item.memory ?? null,
    inferred_name: item.inferredName ?? null,
    created_at: dateOf(item.createdAt) ?? before?.created_at ?? now,
    updated_at: dateOf(item.updatedAt) ?? now,
    archived_at: dateOf(item.archivedAt) ?? before?.archived_at ?? null,
    rank: 0,
  });
}
