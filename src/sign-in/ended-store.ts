// Ends of sessions, in MongoDB: every instance rejects sessions and tokens from an earlier sign-in.
import type { AnyBulkWriteOperation, ClientSession, Db, Document, UUID } from "mongodb";
import type { AccountDocument } from "../accounts/store.ts";
import { withIdentity } from "../accounts/store.ts";
import { collections } from "../db/collections.ts";
import { aggregate, findAll } from "../db/aggregate.ts";
import { failLate, onlyInTime } from "../db/fence.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { Fence } from "../db/write.ts";
import { transaction, write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import type { Proof } from "../call/scope.ts";
import type { Logout } from "./logout-token.ts";

/**
 * An end: of everything of a user, of a session at the provider, or of everything of a user without a session id.
 */
export interface EndedDocument {
  _id:
    | { issuer: string; subject: string }
    | { issuer: string; sid: string }
    | { issuer: string; subject: string; sid: null };
  /** By the database's clock. */
  ended_at: Date;
  /** By the provider's clock: a sign-in at or before this time has ended. Older releases do not write it. */
  later_than?: Date;
}

/** The sign-in that an access token or a session comes from. */
export interface Beginning {
  readonly issuer: string;
  readonly subject: string;
  /** The time of the sign-in at the provider, in whole seconds since 1970, where it is known (RFC 9068 §2.2.1). */
  readonly authenticatedAt: number | undefined;
  /** The provider's session, where it names it. */
  readonly sid: string | undefined;
}

/** Why something has ended: its session has ended, or the user has signed out. */
export type End =
  | { readonly kind: "session" }
  /** Only a later sign-in is accepted; by the provider's clock, in ms since 1970. */
  | { readonly kind: "user"; readonly laterThan: number };

/** What a sign-out has to know of a session that ends. */
export interface SignOut extends Pick<Beginning, "authenticatedAt" | "sid"> {
  /** How far the provider's clock may be ahead of the database's. */
  readonly providerAheadMs: number;
}

/** The ends of all sessions. */
export interface EndedSessions {
  /**
   * Ends all sessions and tokens of the user from sign-ins until now, by one command however many sessions there are.
   */
  signOut(user: Pick<Beginning, "issuer" | "subject">, sessions: readonly SignOut[], deadline: Deadline): Promise<void>;
  /**
   * Ends what a logout token names, and does the work in the same transaction; `subjects` are the known owners of its
   * session. Fails with INVALID_LOGOUT_TOKEN where the token was used before.
   */
  logOut(
    logout: Logout,
    subjects: readonly string[],
    deadline: Deadline,
    work: (session: ClientSession) => Promise<void>,
  ): Promise<void>;
  /** The end of what comes from this sign-in; undefined where it has not ended. */
  endOf(beginning: Beginning, deadline: Deadline): Promise<End | undefined>;
  /** Proves by a read that the sign-in has not ended, and that its user has this account, in service. */
  proof(beginning: Beginning, accountId: UUID): Proof;
  /** The same, and the account of the user, by one command. */
  endAndAccount(
    beginning: Beginning,
    deadline: Deadline,
  ): Promise<{ readonly end: End | undefined; readonly account: AccountDocument | undefined }>;
}

/** Longer than the lifetime of an assistant's refresh token. */
const keptSeconds = 400 * 86_400;
/** The assumed lead of the provider's clock where it was not measured: its times are whole seconds. */
export const leastAheadMs = 1_000;

export const endedCollection: CollectionSpec = {
  collection: collections.endedSessions,
  erasure: undefined,
  // Partial, so that it is another index than that of older releases on the same field, which expired after 90 days.
  indexes: [
    {
      key: { ended_at: 1 },
      name: "expiry_after_400_days",
      expireAfterSeconds: keptSeconds,
      partialFilterExpression: { ended_at: { $exists: true } },
    },
  ],
  retired: ["expiry"],
};

export const logoutTokenCollection: CollectionSpec = {
  collection: collections.logoutTokens,
  erasure: undefined,
  indexes: [{ key: { forgettable_at: 1 }, name: "expiry", expireAfterSeconds: 0 }],
};

/** A logout token that was used. */
interface LogoutTokenDocument {
  _id: { issuer: string; jti: string };
  forgettable_at: Date;
}

/**
 * The ends of a database. Signing out ends everything that the user has begun, in whichever browser: a provider may
 * name one session differently to each of its clients, and there is no list of connected assistants to choose from.
 */
export function createEndedSessions(db: Db): EndedSessions {
  const ended = db.collection<EndedDocument>(collections.endedSessions);
  const logoutTokens = db.collection<LogoutTokenDocument>(collections.logoutTokens);
  const signOut: EndedSessions["signOut"] = async ({ issuer, subject }, sessions, deadline) => {
    const aheadMs = Math.max(leastAheadMs, ...sessions.map(({ providerAheadMs }) => Math.ceil(providerAheadMs)));
    const latest = Math.max(0, ...sessions.map(({ authenticatedAt = 0 }) => authenticatedAt));
    const sids = new Set(sessions.flatMap(({ sid }) => (sid === undefined ? [] : [sid])));
    const end = (): Promise<unknown> =>
      write(db.client, deadline, (options, fence) => {
        // An end that is stored late would also end what the user has begun since.
        const ends = [
          ending({ issuer, subject }, { $max: [{ $add: ["$$NOW", aheadMs] }, new Date(latest * 1_000)] }, fence),
          ...[...sids].map((sid) => ending({ issuer, sid }, undefined, fence)),
        ];
        return ended.bulkWrite(ends, options).catch(failLate);
      });
    // Two sign-outs may insert the same document at once: the second one finds it on its retry.
    await end().catch((error: unknown) =>
      duplicateIndex(error) === undefined ? Promise.reject(error as Error) : end(),
    );
  };
  return {
    signOut,
    async logOut({ issuer, subject, sid, jti, issuedAt, forgettableAt }, subjects, deadline, work) {
      const laterThan = new Date(issuedAt * 1_000);
      // The token may also mean a user's sessions and tokens without a session id.
      const users = [...new Set([...subjects, ...(subject === undefined ? [] : [subject])])];
      const ends =
        sid === undefined
          ? users.map((one) => ending({ issuer, subject: one }, laterThan))
          : [ending({ issuer, sid }), ...users.map((one) => ending({ issuer, subject: one, sid: null }, laterThan))];
      await transaction(db.client, deadline, async (session) => {
        await logoutTokens
          .insertOne({ _id: { issuer, jti }, forgettable_at: forgettableAt }, { session })
          .catch((error: unknown) => {
            if (duplicateIndex(error) !== undefined)
              fail(Reason.INVALID_LOGOUT_TOKEN, {
                message: "logout_token: must be a new one; this one was already received.",
              });
            throw error;
          });
        await ended.bulkWrite(ends, { session });
        await work(session);
      });
    },
    async endOf(beginning, deadline) {
      return judge(beginning, await findAll<EndedDocument>(ended, { _id: { $in: namesOf(beginning) } }, { deadline }));
    },
    async endAndAccount(beginning, deadline) {
      const pipeline = [...endsOf(beginning), accountOf(beginning)];
      const rows = await aggregate<{ [proofMember]: Proven }>(ended, pipeline, { deadline });
      return endAndAccountOf(
        beginning,
        rows.map((row) => row[proofMember]),
      );
    },
    proof: proofOf,
  };
}

/** The one member of a row that proves something. No stored field is called so: their names have no tilde. */
const proofMember = "~proof";

/** What a row has of a sign-in: one of its ends, or the account of its user. */
interface Proven {
  readonly end?: EndedDocument;
  readonly account?: AccountDocument;
}

function proofOf(beginning: Beginning, accountId: UUID): Proof {
  return {
    stages: [{ $unionWith: { coll: collections.endedSessions, pipeline: endsOf(beginning) } }, accountOf(beginning)],
    isRow: (row) => proofMember in row,
    require(rows) {
      const { end, account } = endAndAccountOf(
        beginning,
        rows.map((row) => row[proofMember] as Proven),
      );
      if (end !== undefined || account?._id.equals(accountId) !== true) fail(Reason.INVALID_TOKEN);
      if (account.suspension !== undefined) fail(Reason.ACCOUNT_SUSPENDED);
    },
    // An assistant only reads.
    insert: undefined,
  };
}

/** Finds the ends as rows. */
function endsOf(beginning: Beginning): Document[] {
  return [{ $match: { _id: { $in: namesOf(beginning) } } }, { $project: { _id: 0, [proofMember]: { end: "$$ROOT" } } }];
}

/** Adds the account of the user as a row. */
function accountOf({ issuer, subject }: Beginning): Document {
  const project = { $project: { _id: 0, [proofMember]: { account: "$$ROOT" } } };
  return {
    $unionWith: { coll: collections.accounts, pipeline: [{ $match: withIdentity({ issuer, subject }) }, project] },
  };
}

function endAndAccountOf(
  beginning: Beginning,
  rows: readonly Proven[],
): { readonly end: End | undefined; readonly account: AccountDocument | undefined } {
  const ends = rows.flatMap(({ end }) => end ?? []);
  return { end: judge(beginning, ends), account: rows.find(({ account }) => account !== undefined)?.account };
}

/** The ids of the documents that may end this. */
function namesOf({ issuer, subject, sid }: Beginning): EndedDocument["_id"][] {
  return [{ issuer, subject }, sid === undefined ? { issuer, subject, sid: null } : { issuer, sid }];
}

/**
 * Judges by the documents of `namesOf`. A session at the provider that has ended stays ended, whatever its sign-in
 * time.
 */
export function judge(
  { authenticatedAt }: Pick<Beginning, "authenticatedAt">,
  ends: readonly EndedDocument[],
): End | undefined {
  if (ends.some(({ _id }) => !("subject" in _id))) return { kind: "session" };
  // Without the time of the sign-in it cannot be shown to be later: a refreshed token looks new.
  const signedIn = authenticatedAt === undefined ? -Infinity : authenticatedAt * 1_000;
  const laterThan = Math.max(
    -Infinity,
    ...ends.map(({ ended_at, later_than }) => later_than?.getTime() ?? ended_at.getTime() + leastAheadMs),
  );
  return ends.length > 0 && signedIn <= laterThan ? { kind: "user", laterThan } : undefined;
}

/**
 * Moves an end forward by the database's clock, never back. `laterThan` is a date, or an expression for one. A
 * transaction needs no fence.
 */
function ending(
  _id: EndedDocument["_id"],
  laterThan?: Date | Document,
  fence: Fence = {},
): AnyBulkWriteOperation<EndedDocument> {
  const moved = {
    ended_at: { $max: ["$ended_at", "$$NOW"] },
    ...(laterThan === undefined ? {} : { later_than: { $max: ["$later_than", laterThan] } }),
  };
  return { updateOne: { filter: { _id }, update: [{ $set: moved }, onlyInTime(fence)], upsert: true } };
}
