// The account that the bench writes to. It is filled before the measurements and cleared afterwards.
import type { MongoClient, UUID } from "mongodb";
import { collections } from "../../../src/db/collections.ts";
import { newContact } from "../../../src/contacts/write.ts";
import { keptCollection } from "../peers/promised-writes.ts";

/** Adds contacts to the account and returns their ids. */
export async function addContacts({
  client,
  accountId,
  count,
}: {
  client: MongoClient;
  accountId: UUID;
  count: number;
}): Promise<string[]> {
  const contacts = Array.from({ length: count }, (_, at) =>
    newContact(accountId, { full_name: `Note Taker ${at}`, email: null, phone: null }),
  );
  await client.db().collection<{ _id: UUID }>(collections.contacts).insertMany(contacts);
  return contacts.map(({ _id }) => _id.toHexString());
}

/** Removes everything that was written to the account. */
export async function clearWritten(client: MongoClient, accountId: UUID): Promise<void> {
  const db = client.db();
  await db.collection(collections.contacts).deleteMany({ account_id: accountId });
  await db.collection(collections.notes).deleteMany({ account_id: accountId });
  await db.collection(collections.claims).deleteMany({ "_id.account_id": accountId });
  await db.collection(keptCollection).deleteMany({});
}
