// Store of accounts and the identities linked to them.
import type { ClientSession, Db, Filter, UpdateFilter } from "mongodb";
import { UUID } from "mongodb";
import { collections } from "../db/collections.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { countUpTo, findAll, findFirst } from "../db/aggregate.ts";
import { insertFenced } from "../db/insert.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { WriteOptions } from "../db/write.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import { fail } from "../call/errors.ts";

/** A user at an identity provider. Both values are compared byte for byte (OpenID Connect Core §2). */
export interface IdentityDocument {
  issuer: string;
  subject: string;
}

/** A stored account. */
export interface AccountDocument {
  _id: UUID;
  email: string;
  /** The email in lower case, which is unique. */
  email_key: string;
  beta_enrolled: boolean;
  created_at: Date;
  /** The users who sign in as its owner. Missing instead of empty, so that the unique index ignores the account. */
  identities?: IdentityDocument[];
  /**
   * While set, the account's credentials are rejected. Its keys repeat it (`suspended`), so that proving a key also
   * proves that the account is not suspended.
   */
  suspension?: { at: Date; reason: string; token: string };
  /**
   * Incremented by every transaction that locks the account, so that it conflicts with the others and with the
   * deletion.
   */
  key_changes?: number;
}

/** The result of an update. */
export interface AccountChange {
  /** The account after the update. */
  readonly account: AccountDocument;
  /** False if the account already had this state. */
  readonly changed: boolean;
}

/** All accounts except those being erased. With a session, a change is part of that transaction. */
export interface AccountStore {
  exists(id: UUID, deadline: Deadline | undefined): Promise<boolean>;
  get(id: UUID, deadline: Deadline | undefined): Promise<AccountDocument | undefined>;
  /** Returns the account that the identity is linked to; undefined if there is none. */
  ofIdentity(identity: IdentityDocument, deadline: Deadline | undefined): Promise<AccountDocument | undefined>;
  /** Returns the account with this email as an array of at most one. Ignores case. */
  ofEmail(email: string, deadline: Deadline | undefined): Promise<AccountDocument[]>;
  /** Returns a page of accounts, oldest first. */
  list(limit: number, offset: number, deadline: Deadline | undefined): Promise<AccountDocument[]>;
  /** Fails with ALREADY_EXISTS if another account has the email. */
  create(email: string, betaEnrolled: boolean, deadline?: Deadline): Promise<AccountDocument>;
  /** Returns undefined if there is no such account. */
  enrol(id: UUID, enrolled: boolean, options: WriteOptions): Promise<AccountChange | undefined>;
  /**
   * Returns undefined if there is no such account. Fails with ALREADY_EXISTS if the identity is linked to another
   * account.
   */
  link(id: UUID, identity: IdentityDocument, options?: WriteOptions): Promise<AccountChange | undefined>;
  /**
   * Locks the account: the transaction conflicts with every other one that locks or deletes it. Returns undefined if
   * there is no such account.
   */
  lock(id: UUID, session: ClientSession): Promise<AccountDocument | undefined>;
  /** Deletes the account within a transaction. Returns the deleted account, or undefined if there is none. */
  remove(id: UUID, session: ClientSession): Promise<AccountDocument | undefined>;
  /**
   * Suspends the account, or resumes it if `suspension` is undefined. Returns the updated account, or undefined if
   * there is none.
   */
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

/** Returns the filter for the account linked to an identity. The unique index allows at most one. */
export function withIdentity({ issuer, subject }: IdentityDocument): Filter<AccountDocument> {
  return { identities: { $elemMatch: { issuer, subject } } };
}

/** Returns the form of an email in which it is unique and found. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** Returns the identities linked to an account. Leaves out values that no sign-in can match. */
export function identitiesOf({ identities }: Pick<AccountDocument, "identities">): IdentityDocument[] {
  if (!Array.isArray(identities)) return [];
  return identities.filter(
    (identity: Partial<IdentityDocument> | null) =>
      typeof identity?.issuer === "string" && typeof identity.subject === "string",
  );
}

/** Creates the store of a database's accounts. */
export function createAccountStore(db: Db): AccountStore {
  const accounts = db.collection<AccountDocument>(collections.accounts);
  /** Updates an account. Returns the account before the update, or undefined if there is none. */
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
    ofEmail: (email, deadline) => findAll(accounts, { email_key: emailKey(email) }, { deadline }),
    list: (limit, offset, deadline) =>
      findAll(accounts, {}, { sort: { created_at: 1, _id: 1 }, skip: offset, limit, deadline }),
    async create(email, betaEnrolled, deadline = deadlineIn(deadlineMs)) {
      const account = {
        _id: new UUID(),
        email,
        email_key: emailKey(email),
        beta_enrolled: betaEnrolled,
        created_at: new Date(),
      };
      await mapDuplicate("email_key", "email: another account already uses it. Use another email.", () =>
        write(db.client, deadline, (options, fence) => insertFenced(accounts, account, options, fence)),
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

const identityTaken = "subject: this identity is already linked to another account. Check the issuer and the subject.";

/** Returns the result of linking an identity to the account `before`. */
function linked(before: AccountDocument, identity: IdentityDocument): AccountChange {
  const { identities = [] } = before;
  if (identities.some(({ issuer, subject }) => issuer === identity.issuer && subject === identity.subject))
    return { account: before, changed: false };
  return { account: { ...before, identities: [...identities, identity] }, changed: true };
}

/** Runs a write. Fails with ALREADY_EXISTS and this message if the unique index on this field has a duplicate. */
async function mapDuplicate<T>(field: string, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (duplicateIndex(error)?.includes(field)) fail(Reason.ALREADY_EXISTS, { message });
    throw error;
  }
}
