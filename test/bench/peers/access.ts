// Authentication and throttling for the peers: looks up the key by its hash and takes a token.
import { createHash } from "node:crypto";
import type { Db, UUID } from "mongodb";
import { Binary } from "mongodb";
import { createBucket } from "./bucket.ts";

/** The account of a request's key, or the HTTP status of the rejection. */
export type Access = { readonly account: UUID; readonly readOnly: boolean } | { readonly rejected: 401 | 429 };

/** Reads the key from MongoDB and takes a token from Redis in parallel. */
export function createAccess(db: Db): (authorization: string | null | undefined) => Promise<Access> {
  const takeToken = createBucket();
  const keys = db.collection<{ _id: Binary; account_id: UUID; access: string }>("api_keys");
  return async (authorization) => {
    if (authorization?.startsWith("Bearer ") !== true) return { rejected: 401 };
    const hash = createHash("sha256").update(authorization.slice(7)).digest();
    const [token, key] = await Promise.all([
      takeToken(hash.toString("base64")),
      keys.findOne({ _id: new Binary(hash), active: true }),
    ]);
    if (!token) return { rejected: 429 };
    return key === null ? { rejected: 401 } : { account: key.account_id, readOnly: key.access === "read_only" };
  };
}
