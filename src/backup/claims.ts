// What the documents of a restore take in the database, and the check that no other account has it.
import { hash } from "node:crypto";
import type { Db, Document, UUID } from "mongodb";
import { BSON } from "mongodb";
import { findAll } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import type { Deadline } from "../call/deadline.ts";
import type { Violation } from "../call/errors.ts";
import { rejectInput } from "../call/errors.ts";
import type { Claim } from "../gen/records/admin/v1/backup_pb.ts";
import type { Reference } from "./contents.ts";
import type { Parsed } from "./parse.ts";

const digestBytes = 16;

/**
 * Returns the claims of documents of an account. Ids and references are claimed for the account, because two accounts
 * must not share a record. The values of unique indexes are claimed for the document.
 */
export function claimsOf(parsed: readonly Parsed[], accountId: UUID): Claim[] {
  return parsed.flatMap(({ collection, contents, document }, at) => {
    const claim = (key: readonly unknown[], holder: readonly unknown[]): Claim => ({
      $typeName: "records.admin.v1.Claim",
      document: at,
      key: digest(key),
      holder: digest(holder),
    });
    return [
      ...idsOf(collection, contents, document).map(({ collection: of, field = "_id", id }) =>
        claim([of, field, id], [accountId]),
      ),
      ...(contents.unique?.(document) ?? []).map((value) =>
        claim(["unique", collection, ...value], [collection, document["_id"]]),
      ),
    ];
  });
}

/** Fails with INVALID_REQUEST if two documents claim the same. */
export function requireDistinct(claims: readonly Claim[]): void {
  const holders = new Map<string, string>();
  const violations = claims.flatMap(({ key, holder, document }): Violation[] => {
    const [claimed, by] = [Buffer.from(key).toString("latin1"), Buffer.from(holder).toString("latin1")];
    const first = holders.get(claimed) ?? by;
    holders.set(claimed, first);
    if (first === by) return [];
    const message = "must not have a value that another document of the backup has";
    return [{ field: `documents[${document}]`, rule: "unique", message }];
  });
  if (violations.length > 0) rejectInput(violations);
}

/**
 * Fails with INVALID_REQUEST if a document has the id of another account's document, or names a record of another
 * account.
 */
export async function requireOwnIds(
  db: Db,
  parsed: readonly Parsed[],
  accountId: UUID,
  deadline: Deadline,
): Promise<void> {
  type Ids = Map<string, { readonly id: unknown; readonly at: number }>;
  const wanted = new Map<string, { readonly collection: string; readonly field: string; readonly ids: Ids }>();
  for (const [at, { collection: own, contents, document }] of parsed.entries())
    for (const { collection, field = "_id", id } of idsOf(own, contents, document)) {
      const name = `${collection}.${field}`;
      const known = wanted.get(name) ?? { collection, field, ids: new Map() };
      known.ids.set(nameOf(id), { id, at });
      wanted.set(name, known);
    }
  const violations: Violation[] = [];
  for (const { collection, field, ids } of wanted.values()) {
    const filter = { [field]: { $in: [...ids.values()].map(({ id }) => id) }, account_id: { $ne: accountId } };
    const taken = await findAll<Document>(db.collection(collection), filter, { projection: { [field]: 1 }, deadline });
    for (const { [field]: id } of taken)
      violations.push({
        field: `documents[${ids.get(nameOf(id))?.at ?? 0}]`,
        rule: "account",
        message: `must not name a document of another account, here of ${collection}`,
      });
  }
  if (violations.length > 0) rejectInput(violations);
}

/** Returns the ids that a document has and names, by collection. Accounts are checked by their own rules. */
function idsOf(
  collection: string,
  { references }: Parsed["contents"],
  document: Document,
): readonly (Omit<Reference, "id"> & { readonly id: unknown })[] {
  if (collection === collections.accounts) return [];
  return [{ collection, id: document["_id"] as unknown }, ...(references?.(document) ?? [])];
}

function nameOf(id: unknown): string {
  return BSON.EJSON.stringify(id as object);
}

function digest(values: readonly unknown[]): Buffer {
  return hash("sha256", BSON.serialize({ values }), "buffer").subarray(0, digestBytes);
}
