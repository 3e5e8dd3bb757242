// Reads the API keys and the document of an account at one point in time.
import type { Binary, Document, UUID } from "mongodb";
import { BSON } from "mongodb";
import type { ApiKeyDocument } from "../api-keys/store.ts";
import { keysByAge } from "../api-keys/store.ts";
import { collections } from "../db/collections.ts";
import type { Deadline } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { ReadDocumentsResponse } from "../gen/records/admin/v1/backup_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";

/** Documents as they are stored. */
export type Documents = ReadDocumentsResponse["documents"];

/** Reads documents of a collection: a page that is cut at a size if there is a hint, otherwise all at once. */
export type ReadPage = (
  collection: string,
  stages: Document[],
  hint: string | undefined,
  deadline: Deadline,
) => Promise<{ readonly documents: Documents; readonly isCut: boolean }>;

/** Attempts to read keys and account unchanged. Keys seldom change meanwhile. */
const attempts = 20;
const keysPerPage = 500;
/** In a shorter time than this, an owner rotates so few times that the keys which are left are read at once. */
const shortRoundMs = 5_000;
/** By how much an instance may be behind the database's clock: a key that looks older is not a new one. */
const maxClockSkewMs = 300_000;

type KeyInPage = Pick<ApiKeyDocument, "_id" | "created_at">;

function keyOf({ bson }: { readonly bson: Uint8Array }): KeyInPage {
  return BSON.deserialize(bson) as KeyInPage;
}

/**
 * Creates the reader of the keys, the active one last, and the account, at one point in time. Fails with NOT_FOUND if
 * the account is deleted meanwhile, and with UNAVAILABLE if its keys keep changing.
 *
 * Every creation and rotation of a key also changes the account document. A revocation changes one key, so the keys are
 * consistent without that check. An owner can rotate ten times a second, so the revoked keys are read before, in pages
 * and in rounds: each reads what was added during the one before.
 */
export function createReadKeysAndAccount(
  read: ReadPage,
  databaseTime: () => Date,
): (accountId: UUID, deadline: () => Deadline) => AsyncIterable<Documents> {
  const readAll = async (collection: string, stages: Document[], deadline: Deadline): Promise<Documents> =>
    (await read(collection, stages, undefined, deadline)).documents;

  return async function* (id, deadline) {
    /** Keys that were active at the beginning of a round: they may have been revoked since. */
    const known: Binary[] = [];
    let before = new Date(0);
    for (let ms = Infinity; ms > shortRoundMs; ) {
      const begunAt = performance.now();
      const active = await readAll(collections.apiKeys, [{ $match: { account_id: id, active: true } }], deadline());
      known.push(...active.map((stored) => keyOf(stored)._id));
      const from = before;
      // The clock of another primary can be behind.
      before = new Date(Math.max(from.getTime(), databaseTime().getTime() - maxClockSkewMs));
      yield* revokedKeys(read, id, [from, before], known, deadline);
      ms = performance.now() - begunAt;
    }
    const which = [{ created_at: { $gte: before } }, { active: true }, { _id: { $in: known } }];
    const stages = [
      { $match: { $or: which.map((one) => ({ account_id: id, ...one })) } },
      { $sort: { active: 1, created_at: 1 } },
    ];
    const account = (): Promise<Documents> => readAll(collections.accounts, [{ $match: { _id: id } }], deadline());
    for (let attempt = 0; attempt < attempts; attempt++) {
      const unchanged = await account();
      const keys = await readAll(collections.apiKeys, stages, deadline());
      const after = await account();
      // If the account was deleted meanwhile, only part of its documents was read.
      if (after[0] === undefined) fail(Reason.NOT_FOUND, { message: "There is no such account." });
      if (unchanged[0] !== undefined && Buffer.compare(unchanged[0].bson, after[0].bson) === 0)
        return yield [...keys, ...after];
    }
    return fail(Reason.UNAVAILABLE, { because: "contention" });
  };
}

/** Yields the revoked keys that were created from `begin` to `before`, except some. They no longer change. */
async function* revokedKeys(
  read: ReadPage,
  id: UUID,
  [begin, before]: readonly [Date, Date],
  except: readonly Binary[],
  deadline: () => Deadline,
): AsyncIterable<Documents> {
  let from = begin;
  for (let done: readonly Binary[] = []; ; ) {
    const created_at = { $gte: from, $lt: before };
    const own = { account_id: id, created_at, _id: { $nin: [...except, ...done] }, active: { $ne: true } };
    const stages = [{ $match: own }, { $sort: { created_at: 1 } }, { $limit: keysPerPage }];
    const { documents, isCut } = await read(collections.apiKeys, stages, keysByAge, deadline());
    yield documents;
    if (documents.length < keysPerPage && !isCut) return;
    const keys = documents.map(keyOf);
    const last = keys.at(-1)?.created_at ?? before;
    // Keys of the same millisecond have no order, so a page can end between them.
    const newest = keys.filter(({ created_at: created }) => +created === +last).map(({ _id }) => _id);
    done = +last === +from ? [...done, ...newest] : newest;
    from = last;
  }
}
