// One item at a time: finds the record that an item names, writes it, and turns what went wrong into its result.
import type { Collection, Filter } from "mongodb";
import { UUID } from "mongodb";
import type { ItemResult } from "../gen/records/ingest/v1/ingest_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { duplicateIndex, uuid } from "../db/mongo.ts";
import { Failure, fail } from "../errors.ts";

/** What every record kind has. */
export interface KnownRecord {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
}

/** How an item says which record it is. */
export interface ItemName {
  readonly id?: string | undefined;
  readonly externalId?: string | undefined;
}

/** How many items of a batch are written at the same time. */
const width = 16;

/** Writes every item and answers item by item, in the same order; one that fails leaves the others untouched. */
export async function eachItem<Item>(items: readonly Item[], nameOf: (item: Item) => ItemName, write: (item: Item) => Promise<UUID>): Promise<ItemResult[]> {
  const results: ItemResult[] = new Array<ItemResult>(items.length);
  let next = 0;
  async function work(): Promise<void> {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at] as Item;
      const { id, externalId } = nameOf(item);
      const named = externalId === undefined ? {} : { externalId };
      results[at] = await write(item).then(
        (written) => ({ $typeName: "records.ingest.v1.ItemResult", id: written.toHexString(), ...named }),
        (error: unknown) => ({ $typeName: "records.ingest.v1.ItemResult", id: id ?? "", ...named, error: itemError(error) }),
      );
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}

/** The record of this account that the item names, by its id or else its external id. */
export async function findNamed<T extends KnownRecord>(collection: Collection<T>, accountId: UUID, name: ItemName): Promise<T | undefined> {
  const filter = name.id !== undefined ? { _id: uuid(name.id) } : name.externalId !== undefined ? { external_id: name.externalId } : undefined;
  if (filter === undefined) return undefined;
  return ((await collection.findOne({ ...filter, account_id: accountId } as Filter<T>)) as T | null) ?? undefined;
}

/** The id of a new record. */
export function idOf({ id }: ItemName): UUID {
  return id === undefined ? new UUID() : uuid(id);
}

/** The record that another one belongs to; fails with INVALID_REQUEST when it is not named, NOT_FOUND when it is not there. */
export async function requireParent<T extends KnownRecord>(collection: Collection<T>, accountId: UUID, kind: string, name: ItemName): Promise<T> {
  if (name.id === undefined && name.externalId === undefined) {
    fail(Reason.INVALID_REQUEST, { message: `${kind}_id or ${kind}_external_id is required` });
  }
  return (await findNamed(collection, accountId, name)) ?? fail(Reason.NOT_FOUND, { message: `${kind}: there is no such record in this account` });
}

function itemError(error: unknown): NonNullable<ItemResult["error"]> {
  const failure = asFailure(error);
  return { $typeName: "records.ingest.v1.ItemError", reason: failure.reason, message: failure.message };
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (duplicateIndex(error) === undefined) throw error;
  return new Failure(Reason.ALREADY_EXISTS, { message: "the id or external_id belongs to another record" });
}
