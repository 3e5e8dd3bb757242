// What the database holds of a stream of writes, against what was acknowledged: nothing lost, nothing twice, nothing
// unasked.
import type { Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";

/** A write that was acknowledged to its client. */
export interface Acknowledged {
  readonly name: string;
  readonly id: string;
  readonly collection: "contacts" | "notes";
}

/** What the database says of a stream; all but the first are 0 when every write happened exactly once. */
export interface StreamVerdict {
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  readonly unasked: number;
}

/** Compares what was acknowledged with what a majority of the database holds of the account. */
export async function judge(
  client: MongoClient,
  accountId: string,
  acknowledged: readonly Acknowledged[],
): Promise<StreamVerdict> {
  const held = {
    contacts: await namesOf(client, accountId, "contacts", "full_name"),
    notes: await namesOf(client, accountId, "notes", "content"),
  };
  const lost = acknowledged.filter(({ name, id, collection }) => held[collection].get(name)?.includes(id) !== true);
  const asked = new Set(acknowledged.map(({ name }) => name));
  const all = [...held.contacts, ...held.notes];
  return {
    acknowledged: acknowledged.length,
    lost: lost.length,
    doubled: all.filter(([, ids]) => ids.length > 1).length,
    unasked: all.filter(([name]) => !asked.has(name)).length,
  };
}

async function namesOf(
  client: MongoClient,
  accountId: string,
  collection: string,
  field: string,
): Promise<Map<string, string[]>> {
  const options = { readConcern: { level: "majority" as const }, projection: { [field]: 1 } };
  const names = new Map<string, string[]>();
  for await (const document of client
    .db()
    .collection<Document & { _id: UUID }>(collection)
    .find({ account_id: new UUID(accountId) }, options)) {
    const name = String(document[field]);
    names.set(name, [...(names.get(name) ?? []), document._id.toHexString()]);
  }
  return names;
}
