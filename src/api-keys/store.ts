// API keys in MongoDB, by the hash of their secret (contract §7.1).
import type { Binary, Db } from "mongodb";
import { UUID } from "mongodb";
import type { IndexSpec } from "../db/mongo.ts";
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
  /** Only an active key has it: it makes one a account unique. */
  active?: true;
  revoked_at?: Date;
}

/** A key that was just made: the one time that its secret is known. */
export interface NewApiKey {
  readonly secret: string;
  readonly document: ApiKeyDocument;
}

/** The API keys of all accounts. */
export interface ApiKeyStore {
  /** The active key with this hash. */
  find(hash: Binary): Promise<ApiKeyDocument | undefined>;
  /** Makes a key. Throws MongoDB's duplicate key error when the account has an active one. */
  create(accountId: UUID, access: ApiKeyDocument["access"]): Promise<NewApiKey>;
  /** Revokes the active key of an account; the next request with it fails. False when there is none. */
  revoke(accountId: UUID): Promise<boolean>;
}

export const apiKeyIndexes: IndexSpec = {
  collection: "api_keys",
  indexes: [{ key: { account_id: 1 }, name: "active", unique: true, partialFilterExpression: { active: true } }],
};

/** The API keys of a database. */
export function createApiKeyStore(db: Db): ApiKeyStore {
  const keys = db.collection<ApiKeyDocument>("api_keys");
  return {
    async find(hash) {
      return (await keys.findOne({ _id: hash, active: true })) ?? undefined;
    },
    async create(accountId, access) {
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
      await keys.insertOne(document);
      return { secret, document };
    },
    async revoke(accountId) {
      const revoked = await keys.updateOne({ account_id: accountId, active: true }, { $set: { revoked_at: new Date() }, $unset: { active: 1 } });
      return revoked.modifiedCount === 1;
    },
  };
}
