// Accounts in MongoDB, and the identities that they are linked to.
import type { ClientSession, Db } from "mongodb";
import { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import { fail } from "../errors.ts";

/** A person at an identity provider; both compared byte for byte (OpenID Connect Core §2). */
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
  /** Counts the changes of its API key, which so cannot pass by its deletion. */
  key_changes?: number;
}

/** All accounts but those that are being erased. */
export interface AccountStore {
  exists(id: UUID): Promise<boolean>;
  get(id: UUID): Promise<AccountDocument | undefined>;
  /** The account that an identity is linked to. */
  ofIdentity(identity: IdentityDocument): Promise<AccountDocument | undefined>;
  /** The account with an email, in upper or lower case; none or one. */
  ofEmail(email: string): Promise<AccountDocument[]>;
  /** The oldest first. */
  list(limit: number, offset: number): Promise<AccountDocument[]>;
  /** Fails with ALREADY_EXISTS when an account has the email. */
  create(email: string, betaEnrolled: boolean): Promise<AccountDocument>;
  /** The account as changed; undefined when there is none. */
  enrol(id: UUID, enrolled: boolean): Promise<AccountDocument | undefined>;
  /** The account as changed; undefined when there is none. Fails with ALREADY_EXISTS when another account has the identity. */
  link(id: UUID, identity: IdentityDocument): Promise<AccountDocument | undefined>;
  /**
   * Makes the transaction collide with everything else that holds the account, and with its deletion, so that one comes
   * after the other. Undefined when there is no such account.
   */
  hold(id: UUID, session: ClientSession): Promise<AccountDocument | undefined>;
}

export const accountsCollection = "accounts";

export const accountIndexes: IndexSpec = {
  collection: accountsCollection,
  indexes: [
    { key: { email_key: 1 }, name: "email", unique: true },
    { key: { "identities.issuer": 1, "identities.subject": 1 }, name: "identity", unique: true, sparse: true },
    { key: { created_at: 1, _id: 1 }, name: "list" },
  ],
};

/** The accounts of a database. */
export function createAccountStore(db: Db): AccountStore {
  const accounts = db.collection<AccountDocument>(accountsCollection);
  return {
    async exists(id) {
      return (await accounts.countDocuments({ _id: id }, { limit: 1 })) === 1;
    },
    async get(id) {
      return (await accounts.findOne({ _id: id })) ?? undefined;
    },
    async ofIdentity({ issuer, subject }) {
      return (await accounts.findOne({ identities: { $elemMatch: { issuer, subject } } })) ?? undefined;
    },
    ofEmail: (email) => accounts.find({ email_key: email.toLowerCase() }).toArray(),
    list(limit, offset) {
      return accounts.find().sort({ created_at: 1, _id: 1 }).skip(offset).limit(limit).toArray();
    },
    async create(email, betaEnrolled) {
      const account = { _id: new UUID(), email, email_key: email.toLowerCase(), beta_enrolled: betaEnrolled, created_at: new Date() };
      try {
        await accounts.insertOne(account);
      } catch (error) {
        if (duplicateIndex(error) === "email") fail(Reason.ALREADY_EXISTS, { message: "email: another account has it." });
        throw error;
      }
      return account;
    },
    async enrol(id, enrolled) {
      return (await accounts.findOneAndUpdate({ _id: id }, { $set: { beta_enrolled: enrolled } }, { returnDocument: "after" })) ?? undefined;
    },
    async link(id, { issuer, subject }) {
      try {
        return (await accounts.findOneAndUpdate({ _id: id }, { $addToSet: { identities: { issuer, subject } } }, { returnDocument: "after" })) ?? undefined;
      } catch (error) {
        if (duplicateIndex(error) === "identity") fail(Reason.ALREADY_EXISTS, { message: "subject: another account is linked to this identity." });
        throw error;
      }
    },
    async hold(id, session) {
      return (await accounts.findOneAndUpdate({ _id: id }, { $inc: { key_changes: 1 } }, { session })) ?? undefined;
    },
  };
}
