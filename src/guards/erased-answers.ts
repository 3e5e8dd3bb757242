// Erases the answers kept for idempotency keys together with the records that they show (contract §5).
import type { ClientSession, Collection, Document, MongoClient, UUID } from "mongodb";
import { Binary } from "mongodb";
import type { RedisLink } from "../db/redis.ts";
import { claimsCollection } from "../db/write.ts";
import { eraseKept, reservationName } from "./reservations.ts";
import type { ClaimDocument, WriteScope } from "./scope.ts";
import { requireGrant } from "./scope.ts";

/**
 * Erases the answers that show one of these records, within the transaction that deletes the records: both or neither.
 * The keys stay taken until their 24 hours are over, so that no repeated request creates such a record again.
 */
export type EraseAnswers = (scope: WriteScope, records: readonly UUID[], session: ClientSession) => Promise<void>;

/** Nothing of the answer stays. To an instance of the release before it is the answer to another request (409). */
const erasure = { $set: { erased: "$fingerprint", fingerprint: new Binary(), message: new Binary(), body: "", records: [] } };

/** Over the claims of a database, and what Redis keeps of them. */
export function createEraseAnswers(client: MongoClient, redis: () => RedisLink | undefined): EraseAnswers {
  const claims = client.db().collection<ClaimDocument>(claimsCollection) as unknown as Collection<Document & Pick<ClaimDocument, "_id">>;

  return async (scope, records, session) => {
    requireGrant(scope);
    if (records.length === 0) return;
    const account = { "_id.account_id": scope.accountId };
    const showing = [
      { ...account, records: { $in: records }, erased: { $exists: false } },
      // The release before did not say which records an answer shows: there its body tells.
      { ...account, records: null, body: { $regex: records.map((id) => id.toHexString()).join("|") } },
    ];
    const found = await claims.find({ $or: showing }, { session }).project<Pick<ClaimDocument, "_id">>({ _id: 1 }).toArray();
    if (found.length === 0) return;
    await claims.updateMany({ _id: { $in: found.map(({ _id }) => _id) } }, [erasure], { session });
    // Before the commit: an instance that puts an answer back afterwards finds the mark, also where this one is killed.
    await eraseKept(redis(), found.map(({ _id }) => reservationName(scope.accountId, _id.key)));
  };
}
