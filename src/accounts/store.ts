// Accounts in MongoDB, and the identities that they are linked to.
import type { ClientSession, Db, Filter, UpdateFilter } from "mongodb";
import { UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { countUpTo, findAll, findFirst } from "../db/aggregate.ts";
import { insertInTime } from "../db/insert.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { WriteOptions } from "../db/write.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import { fail } from "../errors.ts";

/** A user at an identity provider; both compared byte for byte (OpenID Connect Core §2). */
export interface IdentityDocument {
  issuer: string;
  subject: string;
}

/** An account as it is stored. */
export interface AccountDocument {
  _id: UUID;
  email: string;
  /** The email in lower case, unique. */
  email_key: string;
  beta_enrolled: boolean;
  created_at: Date;
  /** Who signs in as its owner; left out while there is nobody, so that the unique index does not count it. */
  identities?: IdentityDocument[];
  /**
   * Its credentials are rejected while it has one; its keys repeat it (`suspended`), so that proving a key proves this
   * too.
   */
  suspension?: { at: Date; reason: string; token: string };
  /** Counts the changes of its API key, which so cannot pass by its deletion. */
  key_changes?: number;
}

/** The result of an update. */
export interface AccountChange {
  /** As it is from now on. */
  readonly account: AccountDocument;
  /** False where it was so before. */
  readonly changed: boolean;
}

/** All accounts but those that are being erased. With a session, a change is part of that transaction. */
export interface AccountStore {
  exists(id: UUID, deadline: Deadline | undefined): Promise<boolean>;
  get(id: UUID, deadline: Deadline | undefined): Promise<AccountDocument | undefined>;
  /** The account that an identity is linked to. */
  ofIdentity(identity: IdentityDocument, deadline: Deadline | undefined): Promise<AccountDocument | undefined>;
  /** The account with an email, in upper or lower case; none or one. */
  ofEmail(email: string, deadline: Deadline | undefined): Promise<AccountDocument[]>;
  /** The oldest first. */
  list(limit: number, offset: number, deadline: Deadline | undefined): Promise<AccountDocument[]>;
  /** Fails with ALREADY_EXISTS when an account has the email. */
  create(email: string, betaEnrolled: boolean, deadline?: Deadline): Promise<AccountDocument>;
  /** Undefined when there is no such account. */
  enrol(id: UUID, enrolled: boolean, options: WriteOptions): Promise<AccountChange | undefined>;
  /** Undefined when there is no such account. Fails with ALREADY_EXISTS when another account has the identity. */
  link(id: UUID, identity: IdentityDocument, options?: WriteOptions): Promise<AccountChange | undefined>;
  /**
   * Makes the transaction collide with everything else that holds the account, and with its deletion, so that one comes
   * after the other. Undefined when there is no such account.
   */
  lock(id: UUID, session: ClientSession): Promise<AccountDocument | undefined>;
  /** Deletes it within a transaction; undefined when there is none. */
  remove(id: UUID, session: ClientSession): Promise<AccountDocument | undefined>;
  /** Begins or ends its suspension. The updated account. */
  suspend(
    id: UUID,
    suspension: AccountDocument["suspension"],
    options: WriteOptions,
  ): Promise<AccountDocument | undefined>;
}

export const accountCollection: CollectionSpec = {
  collection: collections.accounts,
  erasure: { key: "_id", filter: ({ id }) => ({ _id: id }) },
  indexes: [
    { key: { email_key: 1 }, name: "email", unique: true },
    { key: { "identities.issuer": 1, "identities.subject": 1 }, name: "identity", unique: true, sparse: true },
    { key: { created_at: 1, _id: 1 }, name: "list" },
  ],
};

/** The account that an identity is linked to: by the unique index, at most one. */
export function withIdentity({ issuer, subject }: IdentityDocument): Filter<AccountDocument> {
  return { identities: { $elemMatch: { issuer, subject } } };
}

/** The accounts of a database. */
export function createAccountStore(db: Db): AccountStore {
  const accounts = db.collection<AccountDocument>(collections.accounts);
  /** The account as it was; undefined when there is none. */
  async function change(
    id: UUID,
    update: UpdateFilter<AccountDocument>,
    options: WriteOptions,
  ): Promise<AccountDocument | undefined> {
    return (await accounts.findOneAndUpdate({ _id: id }, update, options)) ?? undefined;
  }

  return {
    async exists(id, deadline) {
      return (await countUpTo(accounts, 1, { _id: id }, { deadline })) === 1;
    },
    get: (id, deadline) => findFirst(accounts, { _id: id }, { deadline }),
    ofIdentity: (identity, deadline) => findFirst(accounts, withIdentity(identity), { deadline }),
    ofEmail: (email, deadline) => findAll(accounts, { email_key: email.toLowerCase() }, { deadline }),
    list: (limit, offset, deadline) =>
      findAll(accounts, {}, { sort: { created_at: 1, _id: 1 }, skip: offset, limit, deadline }),
    async create(email, betaEnrolled, deadline = deadlineIn(deadlineMs)) {
      const account = {
        _id: new UUID(),
        email,
        email_key: email.toLowerCase(),
        beta_enrolled: betaEnrolled,
        created_at: new Date(),
      };
      await mapDuplicate("email_key", "email: another account already uses it. Use another email.", () =>
        write(db.client, deadline, (options, fence) => insertInTime(accounts, account, options, fence)),
      );
      return account;
    },
    async enrol(id, enrolled, options) {
      const before = await change(id, { $set: { beta_enrolled: enrolled } }, options);
      const changed = before?.beta_enrolled !== enrolled;
      return before && { account: { ...before, beta_enrolled: enrolled }, changed };
    },
    async link(id, { issuer, subject }, options = {}) {
      const before = await mapDuplicate("identities.subject", identityTaken, () =>
        change(id, { $addToSet: { identities: { issuer, subject } } }, options),
      );
      return before && linked(before, { issuer, subject });
    },
    lock: (id, session) => change(id, { $inc: { key_changes: 1 } }, { session }),
    async remove(id, session) {
      return (await accounts.findOneAndDelete({ _id: id }, { session })) ?? undefined;
    },
    async suspend(id, suspension, options) {
      const change = suspension === undefined ? { $unset: { suspension: "" } as const } : { $set: { suspension } };
      return (
        (await accounts.findOneAndUpdate({ _id: id }, change, { returnDocument: "after", ...options })) ?? undefined
      );
    },
  };
}

const identityTaken = "subject: this identity is already linked to another account.";

/** The result of a link. */
function linked(before: AccountDocument, identity: IdentityDocument): AccountChange {
  const { identities = [] } = before;
  if (identities.some(({ issuer, subject }) => issuer === identity.issuer && subject === identity.subject))
    return { account: before, changed: false };
  return { account: { ...before, identities: [...identities, identity] }, changed: true };
}

/** Runs a write; fails with ALREADY_EXISTS and the message when it meets a duplicate in the index of this field. */
async function mapDuplicate<T>(field: string, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (duplicateIndex(error)?.includes(field)) fail(Reason.ALREADY_EXISTS, { message });
    throw error;
  }
}
