// API keys in MongoDB, by the hash of their secret (contract §7.1).
import type { Binary, Db } from "mongodb";
import { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { aggregate, findFirst } from "../db/aggregate.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { WriteOptions } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { fail } from "../errors.ts";
import { displayPrefix, hashSecret, newSecret } from "./secret.ts";

/** An API key as it is stored: never its secret. */
export interface ApiKeyDocument {
  /** SHA-256 of the secret. */
  _id: Binary;
  key_id: UUID;
  account_id: UUID;
  /** The first 8 characters of the secret, for display. */
  prefix: string;
  access: "read_write" | "read_only";
  created_at: Date;
  /** Written now and then, by `last-use.ts`. */
  last_used_at?: Date;
  /** Only an active key has it: it makes one an account unique. */
  active?: true;
  revoked_at?: Date;
}

/** A key that was just made: the one time that its secret is known. */
export interface NewApiKey {
  readonly secret: string;
  readonly document: ApiKeyDocument;
}

/** The API keys of all accounts. With a session, a change is part of that transaction. */
export interface ApiKeyStore {
  /** The active key with this hash. */
  find(hash: Binary, deadline?: Deadline): Promise<ApiKeyDocument | undefined>;
  /** The active key of an account. */
  ofAccount(accountId: UUID): Promise<ApiKeyDocument | undefined>;
  /** Makes a key. Fails with API_KEY_EXISTS when the account has an active one. */
  create(accountId: UUID, access: ApiKeyDocument["access"], options?: WriteOptions): Promise<NewApiKey>;
  /** Revokes the active key of an account; the next request with it fails. The key as revoked; undefined when there is none. */
  revoke(accountId: UUID, options?: WriteOptions): Promise<Required<Pick<ApiKeyDocument, "revoked_at">> & ApiKeyDocument | undefined>;
}

export const apiKeysCollection = "api_keys";

export const apiKeyIndexes: IndexSpec = {
  collection: apiKeysCollection,
  indexes: [
    { key: { account_id: 1 }, name: "active", unique: true, partialFilterExpression: { active: true } },
    { key: { account_id: 1, created_at: 1 }, name: "account" },
  ],
};

/** The API keys of a database. */
export function createApiKeyStore(db: Db): ApiKeyStore {
  const keys = db.collection<ApiKeyDocument>(apiKeysCollection);
  return {
    async find(hash, deadline) {
      return (await aggregate<ApiKeyDocument>(keys, [{ $match: { _id: hash, active: true } }], deadline && { deadline }))[0];
    },
    async ofAccount(accountId) {
      return findFirst<ApiKeyDocument>(keys, { account_id: accountId, active: true });
    },
    async create(accountId, access, options = {}) {
      const secret = newSecret();
      const document: ApiKeyDocument = {
        _id: hashSecret(secret),
        key_id: new UUID(),
        account_id: accountId,
        prefix: displayPrefix(secret),
        access,
        created_at: new Date(),
        active: true,
      };
      try {
        await keys.insertOne(document, options);
      } catch (error) {
        if (duplicateIndex(error)?.includes("account_id")) fail(Reason.API_KEY_EXISTS);
        throw error;
      }
      return { secret, document };
    },
    async revoke(accountId, options = {}) {
      const revokedAt = new Date();
      const change = { $set: { revoked_at: revokedAt }, $unset: { active: 1 } } as const;
      const revoked = await keys.findOneAndUpdate({ account_id: accountId, active: true }, change, options);
      return revoked === null ? undefined : { ...revoked, revoked_at: revokedAt };
    },
  };
}
