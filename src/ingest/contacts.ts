// Batches of contacts, each contact in its own write because emails are unique. Several are written concurrently.
import type { ContactDocument } from "../contacts/document.ts";
import type { ContactStore } from "../contacts/store.ts";
import type { FindMatches, Matched, Merge } from "../contacts/upsert.ts";
import type { Outcome } from "../db/named.ts";
import type { ContactItem } from "../gen/records/ingest/v1/items_pb.ts";
import type { WriteScope } from "../call/scope.ts";
import { mapConcurrently } from "./map-concurrently.ts";

/** Writes contacts of one account per call. */
export interface ContactIngest {
  /** Creates or replaces contacts. An item fails with DUPLICATE_EMAIL or ALREADY_EXISTS. */
  upsert(scope: WriteScope, items: readonly ContactItem[]): Promise<Outcome[]>;
  /**
   * Creates contacts, or changes only the fields that the source has. An item fails with CONTACT_ARCHIVED,
   * DUPLICATE_EMAIL or ALREADY_EXISTS.
   */
  merge(scope: WriteScope, items: readonly ContactItem[], how: Merge): Promise<Outcome[]>;
  /** Archives or restores contacts. An item fails with NOT_FOUND or DUPLICATE_EMAIL. */
  setArchived(scope: WriteScope, ids: readonly string[], archived: boolean): Promise<Outcome[]>;
}

/** The maximum number of contacts that are written concurrently. */
const width = 32;

/** Creates the batch writes of contacts. */
export function createContactIngest(contacts: ContactStore): ContactIngest {
  /** Writes items that each identify a contact. An item that follows another of its contact reads the contact again. */
  async function write<Item extends Matched>(
    scope: WriteScope,
    items: readonly Item[],
    find: FindMatches,
    writeOne: (item: Item, known: ContactDocument | undefined) => Promise<Outcome>,
  ): Promise<Outcome[]> {
    const known = await find(scope, items);
    const names = (item: Item): string[] => [...claimsOf(item), ...claimsOfRecord(known.get(item))];
    return mapConcurrently(items, { width, names }, async (item, follows) =>
      writeOne(item, (follows ? await find(scope, [item]) : known).get(item)),
    );
  }

  return {
    upsert: (scope, items) => write(scope, items, contacts.named, (item, known) => contacts.put(scope, item, known)),
    merge: (scope, items, how) =>
      write(scope, items, how.byEmail ? contacts.matching : contacts.named, (item, known) =>
        contacts.merge(scope, item, known, how),
      ),
    setArchived: (scope, ids, archived) =>
      write(
        scope,
        ids.map((id) => ({ id })),
        contacts.named,
        ({ id }, known) => contacts.setArchived(scope, id, archived, known),
      ),
  };
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
