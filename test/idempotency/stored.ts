// What the database holds of an account: how a test sees what was written, whatever the service says.
import type { Document, MongoClient } from "mongodb";
import { UUID } from "mongodb";
import type { TestAccount } from "../support/service.ts";

/** Counts the records of an account. */
export async function recordsOf(
  client: MongoClient,
  account: TestAccount,
): Promise<{ contacts: number; notes: number; claims: number }> {
  const account_id = new UUID(account.id);
  const [contacts, notes, claims] = await Promise.all([
    client.db().collection("contacts").countDocuments({ account_id }),
    client.db().collection("notes").countDocuments({ account_id }),
    client.db().collection("idempotency").countDocuments({ "_id.account_id": account_id }),
  ]);
  return { contacts, notes, claims };
}

/** Archives a contact behind the service's back. */
export async function archive(client: MongoClient, contactId: string): Promise<void> {
  const change = { $set: { archived_at: new Date() }, $unset: { email_key: 1, n: 1, g: 1 } };
  await client
    .db()
    .collection<Document & { _id: UUID }>("contacts")
    .updateOne({ _id: new UUID(contactId) }, change);
}

/** Makes the claim of a key older, by the database's clock. */
export async function ageClaim(client: MongoClient, account: TestAccount, key: string, ms: number): Promise<void> {
  const claims = client.db().collection<Document & { _id: { account_id: UUID; key: string } }>("idempotency");
  const aged = [{ $set: { created_at: { $dateSubtract: { startDate: "$$NOW", unit: "millisecond", amount: ms } } } }];
  const { matchedCount } = await claims.updateOne({ _id: { account_id: new UUID(account.id), key } }, aged);
  if (matchedCount !== 1) throw new Error(`no claim of the key ${key}`);
}
