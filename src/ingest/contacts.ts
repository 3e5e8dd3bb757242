// Contacts from outside: creates, replaces, archives and restores them.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import type { ContactItem } from "../gen/records/ingest/v1/ingest_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ContactDocument, RewriteCopies } from "../contacts/store.ts";
import { contactsCollection, derive, uniquely } from "../contacts/store.ts";
import { dateOf } from "../db/message.ts";
import { commit } from "../db/write.ts";
import { fail } from "../errors.ts";
import type { WriteScope } from "../guards/scope.ts";
import { findNamed, idOf } from "./items.ts";

/** Writes contacts of one account at a time. */
export interface ContactIngest {
  /** Creates or replaces a contact. Fails with DUPLICATE_EMAIL or ALREADY_EXISTS. */
  upsert(scope: WriteScope, item: ContactItem): Promise<UUID>;
  /** Archives or restores a contact. Fails with NOT_FOUND or DUPLICATE_EMAIL. */
  setArchived(scope: WriteScope, id: UUID, archived: boolean): Promise<UUID>;
}

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

  return {
    async upsert(scope, item) {
      for (;;) {
        const before = await findNamed(contacts, scope.accountId, item);
        const after = documentOf(scope.accountId, item, before);
        if (before === undefined) {
          await uniquely(() => commit(client, scope, undefined, () => contacts.insertOne(after)));
          return after._id;
        }
        if (await replace(scope, before, after)) return after._id;
      }
    },
    async setArchived(scope, id, archived) {
      for (;;) {
        const before = await contacts.findOne({ _id: id, account_id: scope.accountId });
        if (before === null) return fail(Reason.NOT_FOUND);
        if ((before.archived_at !== null) === archived) return id;
        const archivedAt = archived ? new Date() : null;
        if (await replace(scope, before, derive({ ...before, version: before.version + 1, archived_at: archivedAt }))) return id;
      }
    },
  };
}

function documentOf(accountId: UUID, item: ContactItem, before: ContactDocument | undefined): ContactDocument {
  const now = new Date();
  const externalId = item.externalId ?? before?.external_id;
  return derive({
    _id: before?._id ?? idOf(item),
    account_id: accountId,
    ...(externalId === undefined ? {} : { external_id: externalId }),
    version: (before?.version ?? 0) + 1,
    full_name: item.fullName ?? null,
    email: item.email ?? null,
    phone: item.phone ?? null,
    notes: item.notes ?? null,
    memory: item.memory ?? null,
    inferred_name: item.inferredName ?? null,
    created_at: dateOf(item.createdAt) ?? before?.created_at ?? now,
    updated_at: dateOf(item.updatedAt) ?? now,
    archived_at: dateOf(item.archivedAt) ?? null,
    rank: 0,
  });
}
