// Contacts from outside: creates, replaces, archives and restores them.
import type { MongoClient } from "mongodb";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ContactDocument } from "../contacts/document.ts";
import { contactFields } from "../contacts/document.ts";
import type { RewriteCopies } from "../contacts/store.ts";
import { contactsCollection, derive, mapDuplicateEmail } from "../contacts/store.ts";
import { storedTexts, storedTimes } from "../db/fields.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { Fence, WriteOptions } from "../db/write.ts";
import { newRevision, retryOnConflict } from "../db/conflicts.ts";
import { commit, insertInTime } from "../db/write.ts";
import { Failure } from "../errors.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { ItemName, Outcome } from "./batch.ts";
import { alreadyExists, findNamed, identityOf } from "./batch.ts";
import { inTurn } from "./in-turn.ts";

/** Writes contacts of one account at a time. */
export interface ContactIngest {
  /** Creates or replaces contacts. An item fails with DUPLICATE_EMAIL or ALREADY_EXISTS. */
  upsert(scope: WriteScope, items: readonly ContactItem[]): Promise<Outcome[]>;
  /** Archives or restores contacts. An item fails with NOT_FOUND or DUPLICATE_EMAIL. */
  setArchived(scope: WriteScope, ids: readonly string[], archived: boolean): Promise<Outcome[]>;
}

/** How many contacts are written at the same time: each has an email to itself, so each is a write by itself. */
const width = 32;

/** Over the contacts of a database. */
export function createContactIngest(client: MongoClient, rewriteCopies: RewriteCopies): ContactIngest {
  const contacts = client.db().collection<ContactDocument>(contactsCollection);

  /** Replaces what was read, unless it was changed since: then false. */
  function replace(scope: WriteScope, before: ContactDocument, after: ContactDocument): Promise<boolean> {
    const renamed = (["full_name", "inferred_name", "email"] as const).some((name) => before[name] !== after[name]);
    const write = async (options: WriteOptions, fence: Fence): Promise<boolean> => {
      const { matchedCount } = await contacts.replaceOne(
        { _id: before._id, account_id: scope.accountId, version: before.version, ...fence },
        after,
        options,
      );
      if (matchedCount === 1 && renamed) await rewriteCopies(scope, after, options);
      return matchedCount === 1;
    };
    return mapDuplicateEmail(() => commit(client, scope, undefined, write, { atomic: renamed }));
  }

  /** Inserts, or tells what stands in the way. */
  async function insert(scope: WriteScope, contact: ContactDocument): Promise<Failure | undefined> {
    try {
      await mapDuplicateEmail(() =>
        commit(client, scope, undefined, (options, fence) => insertInTime(contacts, contact, options, fence)),
      );
      return undefined;
    } catch (error) {
      if (error instanceof Failure && error.reason === Reason.DUPLICATE_EMAIL) return error;
      if (duplicateIndex(error) !== undefined) return alreadyExists().failure;
      throw error;
    }
  }

  const named = async (scope: WriteScope, item: ItemName): Promise<ContactDocument | undefined> =>
    (await findNamed(contacts, scope, [item])).get(item);

  function put(scope: WriteScope, item: ContactItem, known: ContactDocument | undefined): Promise<Outcome> {
    let before = known;
    return retryOnConflict(scope, async () => {
      const after = documentOf(scope, item, before);
      if (before !== undefined) {
        if (await replace(scope, before, after)) return { id: after._id };
        before = await named(scope, item);
        return undefined;
      }
      const failure = await insert(scope, after);
      if (failure === undefined) return { id: after._id };
      // What stands in the way of its id, external id or email may be this very record, which another call has made
      // meanwhile.
      before = await named(scope, item);
      return before === undefined ? { failure } : undefined;
    });
  }

  function archive(
    scope: WriteScope,
    id: string,
    archived: boolean,
    known: ContactDocument | undefined,
  ): Promise<Outcome> {
    let before = known;
    return retryOnConflict(scope, async () => {
      if (before === undefined) return { failure: new Failure(Reason.NOT_FOUND) };
      if ((before.archived_at !== null) === archived) return { id: before._id };
      const after = derive({ ...before, version: newRevision(), archived_at: archived ? new Date() : null });
      if (await replace(scope, before, after)) return { id: before._id };
      before = await named(scope, { id });
      return undefined;
    });
  }

  return {
    async upsert(scope, items) {
      const known = await findNamed(contacts, scope, items);
      const names = (item: ContactItem): string[] => [...claimsOf(item), ...claimsOfRecord(known.get(item))];
      return inTurn(items, { width, names }, async (item, follows) =>
        put(scope, item, follows ? await named(scope, item) : known.get(item)),
      );
    },
    async setArchived(scope, ids, archived) {
      const known = await findNamed(
        contacts,
        scope,
        ids.map((id) => ({ id })),
      );
      const names = (id: string): string[] => [...claimsOf({ id }), ...claimsOfRecord(known.get({ id }))];
      return inTurn(ids, { width, names }, async (id, follows) =>
        archive(scope, id, archived, follows ? await named(scope, { id }) : known.get({ id })),
      );
    },
  };
}

/** The unique values that this item takes. */
function claimsOf({ id, externalId, email }: Partial<Pick<ContactItem, "id" | "externalId" | "email">>): string[] {
  const claims = { id: id?.toLowerCase(), external_id: externalId, email: email?.toLowerCase() };
  return Object.entries(claims).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
}

/** The unique values that a change of this record may free. */
function claimsOfRecord(record: ContactDocument | undefined): string[] {
  if (record === undefined) return [];
  const { _id, external_id, email } = record;
  return claimsOf({
    id: _id.toHexString(),
    ...(external_id === undefined ? {} : { externalId: external_id }),
    ...(email === null ? {} : { email }),
  });
}

function documentOf(scope: WriteScope, item: ContactItem, before: ContactDocument | undefined): ContactDocument {
  const now = new Date();
  const times = storedTimes(contactFields.times, item);
  return derive({
    ...identityOf(scope, item, before),
    ...times,
    version: newRevision(),
    ...storedTexts(contactFields.texts, item),
    created_at: times.created_at ?? before?.created_at ?? now,
    updated_at: times.updated_at ?? now,
    archived_at: times.archived_at ?? before?.archived_at ?? null,
    rank: 0,
  });
}
