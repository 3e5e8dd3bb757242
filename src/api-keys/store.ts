// API keys in MongoDB, by the hash of their secret (contract §7.1).
import type { Db, Document } from "mongodb";
import { Binary, UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { findAll, findFirst } from "../db/aggregate.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { duplicateIndex, uuid } from "../db/mongo.ts";
import type { WriteOptions } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";
import type { Proof } from "../call/scope.ts";
import { displayPrefix, hashSecret, newSecret } from "./secret.ts";
import { uuidForm } from "../text/uuid.ts";

/** A stored API key, without its secret. */
export interface ApiKeyDocument {
  /** SHA-256 of the secret. */
  _id: Binary;
  key_id: UUID;
  account_id: UUID;
  /** The first 8 characters of the secret, for display. */
  prefix: string;
  access: "read_write" | "read_only";
  created_at: Date;
  /** Updated at intervals by `last-use.ts`. */
  last_used_at?: Date;
  /** Set only on the active key. A unique index on it allows one active key for each account. */
  active?: true;
  /** When the key was revoked; missing on the active key. The index `expiry` deletes the key some time later. */
  revoked_at?: Date;
  /** Set while the account is suspended. */
  suspended?: true;
}

/** A newly created key. Its secret is known only here. */
export interface NewApiKey {
  readonly secret: string;
  readonly document: ApiKeyDocument;
}

/** A revoked key. */
export type RevokedKey = Required<Pick<ApiKeyDocument, "revoked_at">> & ApiKeyDocument;

/** The API keys of all accounts. With a session, a change is part of its transaction. */
export interface ApiKeyStore {
  /** Returns the active key with this hash. */
  find(hash: Binary, deadline?: Deadline): Promise<ApiKeyDocument | undefined>;
  /**
   * Returns a proof, for a read, that the key with this hash is the active one of this account. It fails with
   * INVALID_KEY or ACCOUNT_SUSPENDED, or with UNAVAILABLE if it is the key of another account, as after a restore.
   */
  proof(hash: Binary, accountId: UUID): Proof;
  /** Returns the active key of an account. */
  ofAccount(accountId: UUID, deadline: Deadline | undefined): Promise<ApiKeyDocument | undefined>;
  /** Creates a key. Fails with API_KEY_EXISTS if the account has an active one. */
  create(accountId: UUID, access: ApiKeyDocument["access"], options?: WriteOptions): Promise<NewApiKey>;
  /**
   * Revokes the active key of an account, so that the next request with it fails. Returns the revoked key; undefined if
   * there is none, or if `id` names another key.
   */
  revoke(accountId: UUID, options?: WriteOptions, id?: string): Promise<RevokedKey | undefined>;
  /** Revokes the key with this hash. Returns undefined if it is not active. */
  revokeKey(hash: Binary, options: WriteOptions): Promise<RevokedKey | undefined>;
  /** Returns the keys of all accounts with this id or these first characters, oldest first. */
  named(idOrPrefix: string, deadline: Deadline): Promise<ApiKeyDocument[]>;
  /** Sets or clears the suspension of an account's active key. A suspended key is rejected from then on. */
  setSuspended(accountId: UUID, suspended: boolean, options: WriteOptions): Promise<void>;
  /** Deletes all keys of an account. */
  removeAll(accountId: UUID, options: WriteOptions): Promise<void>;
}

/**
 * How long revoked keys are kept, so that an operator who finds one can identify its account by the prefix. The time is
 * limited, because an owner can rotate ten times a second.
 */
const keptSeconds = 30 * 24 * 3_600;

/** The index of an account's keys by their age. */
export const keysByAge = "account";

export const apiKeyCollection: CollectionSpec = {
  collection: collections.apiKeys,
  erasure: { key: "created_at" },
  indexes: [
    { key: { account_id: 1 }, name: "active", unique: true, partialFilterExpression: { active: true } },
    { key: { account_id: 1, created_at: 1 }, name: keysByAge },
    { key: { key_id: 1 }, name: "id" },
    { key: { prefix: 1 }, name: "prefix" },
    // Sparse, to leave out active keys, which have no `revoked_at` and never expire.
    { key: { revoked_at: 1 }, name: "expiry", sparse: true, expireAfterSeconds: keptSeconds },
  ],
};

/** Creates the store of API keys. */
export function createApiKeyStore(db: Db): ApiKeyStore {
  const keys = db.collection<ApiKeyDocument>(collections.apiKeys);
  async function revoke(which: Partial<ApiKeyDocument>, options: WriteOptions): Promise<RevokedKey | undefined> {
    const revokedAt = new Date();
    const change = { $set: { revoked_at: revokedAt }, $unset: { active: 1 } } as const;
    const revoked = await keys.findOneAndUpdate({ ...which, active: true }, change, options);
    return revoked === null ? undefined : { ...revoked, revoked_at: revokedAt };
  }
  return {
    async find(hash, deadline) {
      // Filters by the id alone, so that MongoDB needs no query plan.
      const found = await findFirst<ApiKeyDocument>(keys, { _id: hash }, { deadline });
      return found?.active === true ? found : undefined;
    },
    proof: proofOf,
    async ofAccount(accountId, deadline) {
      return findFirst<ApiKeyDocument>(keys, { account_id: accountId, active: true }, { deadline });
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
    revoke: (accountId, options = {}, id) =>
      revoke({ account_id: accountId, ...(id !== undefined && { key_id: uuid(id) }) }, options),
    revokeKey: (hash, options) => revoke({ _id: hash }, options),
    named: (name, deadline) =>
      findAll<ApiKeyDocument>(keys, uuidForm.test(name) ? { key_id: uuid(name) } : { prefix: name }, {
        sort: { created_at: 1 },
        deadline,
      }),
    async setSuspended(accountId, suspended, options) {
      await keys.updateMany(
        { account_id: accountId, active: true },
        suspended ? { $set: { suspended } } : { $unset: { suspended: "" } },
        options,
      );
    },
    async removeAll(accountId, options) {
      await keys.deleteMany({ account_id: accountId }, options);
    },
  };
}

function proofOf(hash: Binary, accountId: UUID): Proof {
  // Matches the id alone, and returns the whole key: another condition or a projection costs MongoDB more than the
  // look-up itself.
  const found = { $match: { _id: hash } };
  const ofKey = (field: keyof ApiKeyDocument): Document => ({ $first: `$key.${field}` });
  return {
    stages: [{ $unionWith: { coll: collections.apiKeys, pipeline: [found] } }],
    isRow: ({ _id }) => _id instanceof Binary && Buffer.compare(_id.buffer, hash.buffer) === 0,
    require([key]) {
      if (key?.["active"] !== true) fail(Reason.INVALID_KEY);
      if (!accountId.equals(key["account_id"] as UUID)) fail(Reason.UNAVAILABLE, { because: "other account" });
      if (key["suspended"] === true) fail(Reason.ACCOUNT_SUSPENDED);
    },
    insert: {
      collection: collections.apiKeys,
      stages: [found, { $facet: { key: [] } }],
      isValid: {
        $and: [
          { $eq: [ofKey("active"), true] },
          { $ne: [ofKey("suspended"), true] },
          { $eq: [ofKey("account_id"), accountId] },
        ],
      },
    },
  };
}
