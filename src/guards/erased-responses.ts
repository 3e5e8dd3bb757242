// Erases the stored responses of idempotency keys when the records that they show are deleted (contract §5).
import type { ClientSession, Collection, Document, MongoClient, UUID } from "mongodb";
import { Binary } from "mongodb";
import { collections } from "../db/collections.ts";
import type { RedisLink } from "../db/redis.ts";
import { eraseCachedResponses } from "./erased-marks.ts";
import { reservationName } from "./reservations.ts";
import type { ClaimDocument, WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";

/**
 * Erases the stored responses that show one of these records, in the transaction that deletes the records. The keys
 * stay in use for their 24 hours, so that no repeated request recreates a record.
 */
export type EraseResponses = (scope: WriteScope, records: readonly UUID[], session: ClientSession) => Promise<void>;

/** Removes the whole response. An instance of the previous release treats it as another request's response (409). */
const erasure = {
  $set: { erased: "$fingerprint", fingerprint: new Binary(), message: new Binary(), body: "", records: [] },
};

/** Returns a function that erases responses from the claims in MongoDB and from their copies in Redis. */
export function createEraseResponses(client: MongoClient, redis: () => RedisLink | undefined): EraseResponses {
  const claims = client.db().collection<ClaimDocument>(collections.claims) as unknown as Collection<
    Document & Pick<ClaimDocument, "_id">
  >;

  return async (scope, records, session) => {
    requireGrant(scope);
    if (records.length === 0) return;
    const account = { "_id.account_id": scope.accountId };
    const showing = [
      { ...account, records: { $in: records }, erased: { $exists: false } },
      // The previous release did not store the records that a response shows, so its body is searched.
      { ...account, records: null, body: { $regex: records.map((id) => id.toHexString()).join("|") } },
    ];
    const found = await claims
      .find({ $or: showing }, { session })
      .project<Pick<ClaimDocument, "_id">>({ _id: 1 })
      .toArray();
    if (found.length === 0) return;
    await claims.updateMany({ ...account, _id: { $in: found.map(({ _id }) => _id) } }, [erasure], { session });
    // Marked before the commit: an instance that stores a copy later finds the mark, even if this instance is killed.
    await eraseCachedResponses(
      redis(),
      found.map(({ _id }) => reservationName(scope.accountId, _id.key)),
    );
  };
}
