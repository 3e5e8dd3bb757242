// Batches of contacts. New ones are written together, and each other one in its own write, because emails are unique.
import type { ContactDocument } from "../contacts/document.ts";
import { contactFields } from "../contacts/document.ts";
import type { ContactStore } from "../contacts/store.ts";
import type { FindMatches, Matched, Merge } from "../contacts/upsert.ts";
import { termsOf } from "../contacts/write.ts";
import { termsOfBatch } from "../db/batch-terms.ts";
import { storedTexts } from "../db/fields.ts";
import type { Outcome } from "../db/named.ts";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import { termWeight } from "../search/words.ts";
import { mapConcurrently } from "./map-concurrently.ts";

/** Writes contacts of one account per call. */
export interface ContactIngest {
  /**
   * Creates or replaces contacts. An item fails with DUPLICATE_EMAIL or ALREADY_EXISTS. All fail with INVALID_REQUEST if
   * several items together have more than `maxTerms` search terms.
   */
  upsert(scope: WriteScope, items: readonly ContactItem[], maxTerms?: number): Promise<Outcome[]>;
  /**
   * Creates contacts, or changes only the fields that the source has. An item fails with CONTACT_ARCHIVED,
   * DUPLICATE_EMAIL or ALREADY_EXISTS.
   */
  merge(scope: WriteScope, items: readonly ContactItem[], how: Merge): Promise<Outcome[]>;
  /** Archives or restores contacts. An item fails with NOT_FOUND or DUPLICATE_EMAIL. */
  setArchived(scope: WriteScope, ids: readonly string[], archived: boolean): Promise<Outcome[]>;
}

/** The maximum number of contacts that are written concurrently. */
const maxWidth = 32;
/**
 * The maximum number of search terms that concurrent writes change, approximately. Each of their transactions holds the
 * index pages of its terms in MongoDB's cache. If the cache is full of them, MongoDB cannot even end the transactions.
 */
const maxTermsAtOnce = 10_000;

/** How many of these contacts may be written concurrently. */
function widthFor(items: readonly Partial<ContactItem>[]): number {
  const weightOf = ({ fullName = "", inferredName = "", email = "" }: Partial<ContactItem>): number =>
    termWeight(fullName) + termWeight(inferredName) + termWeight(email);
  const heaviest = items.reduce((most, item) => Math.max(most, weightOf(item)), 1);
  return Math.max(1, Math.min(maxWidth, Math.floor(maxTermsAtOnce / heaviest)));
}

/** Creates the batch writes of contacts. */
export function createContactIngest(contacts: ContactStore): ContactIngest {
  /** Writes items that each identify a contact. An item that follows another of its contact reads the contact again. */
  async function write<Item extends Matched>(
    scope: WriteScope,
    items: readonly Item[],
    { find, createAll, writeOne }: How<Item>,
  ): Promise<Outcome[]> {
    const known = await find(scope, items);
    const names = (item: Item): string[] => [...claimsOf(item), ...claimsOfRecord(known.get(item))];
    const taken = new Set<string>();
    const fresh = items.filter((item) => {
      const own = names(item);
      const isFirst = own.every((name) => !taken.has(name));
      for (const name of own) taken.add(name);
      return isFirst && known.get(item) === undefined;
    });
    const created = (await createAll?.(fresh)) ?? [];
    const outcomes = new Map(fresh.map((item, at) => [item, created[at]]));
    // Created items stay in their groups, because an item after them may free a value that the next one claims.
    return mapConcurrently(items, { width: widthFor(items), names }, async (item, follows) => {
      return outcomes.get(item) ?? writeOne(item, (follows ? await find(scope, [item]) : known).get(item));
    });
  }

  return {
    async upsert(scope, items, maxTerms) {
      if (maxTerms !== undefined)
        await termsOfBatch(scope, items, maxTerms, (item) => termsOf(storedTexts(contactFields.texts, item)));
      return write(scope, items, {
        find: contacts.named,
        createAll: (fresh) => contacts.createAll(scope, fresh),
        writeOne: (item, known) => contacts.put(scope, item, known),
      });
    },
    merge: (scope, items, how) =>
      write(scope, items, {
        find: how.byEmail ? contacts.matching : contacts.named,
        createAll: (fresh) => contacts.createAll(scope, fresh),
        writeOne: (item, known) => contacts.merge(scope, item, known, how),
      }),
    setArchived: (scope, ids, archived) =>
      write(
        scope,
        ids.map((id) => ({ id })),
        { find: contacts.named, writeOne: ({ id }, known) => contacts.setArchived(scope, id, archived, known) },
      ),
  };
}

/** How the items of a batch are written. */
interface How<Item> {
  readonly find: FindMatches;
  /** Creates contacts that do not exist. An item without an outcome is then written by itself. */
  createAll?(items: readonly Item[]): Promise<readonly (Outcome | undefined)[]>;
  writeOne(item: Item, known: ContactDocument | undefined): Promise<Outcome>;
}

/** Returns the unique values that an item claims. */
function claimsOf({ id, externalId, email }: Matched): string[] {
  const claims = { id: id?.toLowerCase(), external_id: externalId, email: email?.toLowerCase() };
  return Object.entries(claims).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
}

/** Returns the unique values that a change of this record may free. */
function claimsOfRecord(record: ContactDocument | undefined): string[] {
  if (record === undefined) return [];
  const { _id, external_id, email } = record;
  return claimsOf({ id: _id.toHexString(), externalId: external_id, email: email ?? undefined });
}
