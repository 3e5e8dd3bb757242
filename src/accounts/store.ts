// Accounts in MongoDB.
import type { Db } from "mongodb";
import { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import { fail } from "../errors.ts";

/** An account as it is stored. */
export interface AccountDocument {
  _id: UUID;
  email: string;
  /** The email in lower case, unique. */
  email_key: string;
  beta_enrolled: boolean;
  created_at: Date;
}

/** All accounts. */
export interface AccountStore {
  exists(id: UUID): Promise<boolean>;
  get(id: UUID): Promise<AccountDocument | undefined>;
  /** The oldest first. */
  list(limit: number, offset: number): Promise<AccountDocument[]>;
  /** Fails with ALREADY_EXISTS when an account has the email. */
  create(email: string, betaEnrolled: boolean): Promise<AccountDocument>;
  /** The account as changed; undefined when there is none. */
  enrol(id: UUID, enrolled: boolean): Promise<AccountDocument | undefined>;
}

export const accountIndexes: IndexSpec = {
  collection: "accounts",
  indexes: [
    { key: { email_key: 1 }, name: "email", unique: true },
    { key: { created_at: 1, _id: 1 }, name: "list" },
  ],
};

/** The accounts of a database. */
export function createAccountStore(db: Db): AccountStore {
  const accounts = db.collection<AccountDocument>("accounts");
  return {
    async exists(id) {
      return (await accounts.countDocuments({ _id: id }, { limit: 1 })) === 1;
    },
    async get(id) {
      return (await accounts.findOne({ _id: id })) ?? undefined;
    },
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
  };
}
