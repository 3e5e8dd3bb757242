// Upserts of contacts: creates, replaces, merges, archives or restores one contact.
import { newRevision, retryOnConflict } from "../db/conflicts.ts";
import { storedTexts, storedTimes } from "../db/fields.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { Outcome, RecordName } from "../db/named.ts";
import { alreadyExists, identityOf } from "../db/named.ts";
import { Failure } from "../call/errors.ts";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import type { ContactDocument } from "./document.ts";
import { contactFields } from "./document.ts";
import type { ContactWrites } from "./write.ts";
import { withDerivedFields } from "./write.ts";

/** Writes contacts. `known` is the contact found for an item, if any. */
export interface ContactUpserts {
  /** Creates or replaces a contact. Fails with DUPLICATE_EMAIL or ALREADY_EXISTS. */
  put(scope: WriteScope, item: ContactItem, known: ContactDocument | undefined): Promise<Outcome>;
  /**
   * Creates the contacts of items whose names match none, in one transaction. An item has no outcome if it must be
   * written by itself, because another contact may have one of its unique values. No two items share such a value.
   */
  createAll(scope: WriteScope, items: readonly ContactItem[]): Promise<readonly (Outcome | undefined)[]>;
  /**
   * Creates a contact, or changes the fields that the source has. Fails with CONTACT_ARCHIVED, DUPLICATE_EMAIL or
   * ALREADY_EXISTS.
   */
  merge(scope: WriteScope, item: ContactItem, known: ContactDocument | undefined, how: Merge): Promise<Outcome>;
  /** Archives or restores a contact. Fails with NOT_FOUND or DUPLICATE_EMAIL. */
  setArchived(scope: WriteScope, id: string, archived: boolean, known: ContactDocument | undefined): Promise<Outcome>;
}

/** How items change existing contacts. */
export interface Merge {
  /** Whether an item whose names match no contact may identify one by its email. */
  readonly byEmail: boolean;
  /**
   * The stored fields that the source has. One that an item does not set is cleared. Without it, an item changes only
   * the fields that it sets, and fails if its contact is archived.
   */
  readonly fields: ReadonlySet<string> | undefined;
}

/** The values by which an item identifies its contact. */
export type Matched = RecordName & { readonly email?: string | undefined };

/** Finds the contacts that items identify. */
export type FindMatches = (
  scope: WriteScope,
  items: readonly Matched[],
) => Promise<{ get(item: Matched): ContactDocument | undefined }>;

/** How contacts are found: by their names, by their email, or by the email of items whose names match none. */
export interface ContactFinders {
  readonly named: FindMatches;
  readonly byEmail: FindMatches;
  readonly matching: FindMatches;
}

/** Creates the upserts. */
export function createContactUpserts(
  writes: ContactWrites,
  { named, byEmail, matching }: ContactFinders,
): ContactUpserts {
  return {
    async createAll(scope, items) {
      const holders = await byEmail(scope, items);
      const outcomes = new Map<ContactItem, Outcome>();
      const makers = items
        .filter((item) => holders.get(item) === undefined)
        .map((item) => () => {
          const contact = documentOf(scope, item);
          outcomes.set(item, { id: contact._id, change: "created" });
          return contact;
        });
      if (makers.length === 0) return [];
      try {
        await writes.insertAll(scope, makers);
      } catch (error) {
        if (duplicateIndex(error) === undefined) throw error;
        return [];
      }
      return items.map((item) => outcomes.get(item));
    },

    put: (scope, item, known) =>
      write(writes, scope, known, {
        find: async () => (await named(scope, [item])).get(item),
        make: (before) => documentOf(scope, item, before),
      }),

    merge: (scope, item, known, how) =>
      write(writes, scope, known, {
        find: async () => (await (how.byEmail ? matching : named)(scope, [item])).get(item),
        make: (before) => (before === undefined ? documentOf(scope, item) : merged(item, before, how)),
      }),

    setArchived(scope, id, archived, known) {
      const name = { id };
      let before = known;
      return retryOnConflict(scope, async () => {
        if (before === undefined) return { failure: new Failure(Reason.NOT_FOUND) };
        if ((before.archived_at !== null) === archived) return { id: before._id };
        const after = withDerivedFields({
          ...before,
          version: newRevision(),
          archived_at: archived ? new Date() : null,
        });
        if (await writes.replace(scope, before, after)) return { id: before._id };
        before = (await named(scope, [name])).get(name);
        return undefined;
      });
    },
  };
}

function documentOf(scope: WriteScope, item: ContactItem, before?: ContactDocument): ContactDocument {
  const now = new Date();
  const times = storedTimes(contactFields.times, item);
  return withDerivedFields({
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

/** The steps of a write. */
interface Change {
  /** Reads the contact again. */
  find(): Promise<ContactDocument | undefined>;
  /**
   * Returns the contact to write, or an outcome if nothing is to be written. `before` is the existing contact, if any.
   */
  make(before: ContactDocument | undefined): ContactDocument | Outcome;
}

/** Inserts or replaces a contact, and retries on conflict. */
function write(
  writes: ContactWrites,
  scope: WriteScope,
  known: ContactDocument | undefined,
  { find, make }: Change,
): Promise<Outcome> {
  let before = known;
  return retryOnConflict(scope, async () => {
    const after = make(before);
    if (!("_id" in after)) return after;
    if (before !== undefined) {
      if (await writes.replace(scope, before, after)) return { id: after._id, change: "updated" };
      before = await find();
      return undefined;
    }
    const failure = await insert(writes, scope, after);
    if (failure === undefined) return { id: after._id, change: "created" };
    // The contact with this id, external id or email may be the same record, which another call has created meanwhile.
    before = await find();
    return before === undefined ? { failure } : undefined;
  });
}

/** Inserts a contact. Returns the failure if its id, external id or email is already used. */
async function insert(
  writes: ContactWrites,
  scope: WriteScope,
  contact: ContactDocument,
): Promise<Failure | undefined> {
  try {
    await writes.insert(scope, contact);
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.reason === Reason.DUPLICATE_EMAIL) return error;
    if (duplicateIndex(error) !== undefined) return alreadyExists().failure;
    throw error;
  }
}

/** The fields that every contact has. */
const alwaysSet: ReadonlySet<string> = new Set<keyof ContactDocument>(["created_at", "updated_at"]);

/** Returns the contact with the changes of the item, or an outcome if nothing is to be written. */
function merged(item: ContactItem, before: ContactDocument, { fields }: Merge): ContactDocument | Outcome {
  const given = { ...storedTexts(contactFields.texts, item), ...storedTimes(contactFields.times, item) };
  const set = Object.entries(given).filter(
    ([name, value]) => value !== null || (fields?.has(name) === true && !alwaysSet.has(name)),
  );
  const current = new Map<string, unknown>(Object.entries(before));
  // Keeps an existing external id, because another system uses it.
  const externalId = before.external_id ?? item.externalId;
  const differs = set.some(
    ([name, value]) => value?.valueOf() !== (current.get(name) as Date | string | null)?.valueOf(),
  );
  if (!differs && externalId === before.external_id) return { id: before._id, change: "unchanged" };
  if (before.archived_at !== null && fields === undefined) return { failure: new Failure(Reason.CONTACT_ARCHIVED) };
  return withDerivedFields({
    ...before,
    ...(externalId === undefined ? {} : { external_id: externalId }),
    updated_at: new Date(),
    ...Object.fromEntries(set),
    version: newRevision(),
  });
}
