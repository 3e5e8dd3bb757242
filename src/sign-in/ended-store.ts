// Ends of sessions in MongoDB, by which every instance rejects sessions and tokens from earlier sign-ins.
import type { AnyBulkWriteOperation, ClientSession, Db, Document } from "mongodb";
import type { AccountDocument } from "../accounts/store.ts";
import { withIdentity } from "../accounts/store.ts";
import { collections } from "../db/collections.ts";
import { aggregate, findAll } from "../db/aggregate.ts";
import { rethrowTooLate, fenceStage } from "../db/fence.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { Fence } from "../db/write.ts";
import { transaction, write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../call/errors.ts";
import type { Logout } from "./logout-token.ts";

/** An end of sign-ins: all of a user, those of one session at the provider, or those of a user without a session id. */
export interface SessionEndDocument {
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
export interface AuthenticationEvent {
  readonly issuer: string;
  readonly subject: string;
  /** The time of the sign-in at the provider, in whole seconds since 1970, if it is known (RFC 9068 §2.2.1). */
  readonly authenticatedAt: number | undefined;
  /** The provider's session, if it is named. */
  readonly sid: string | undefined;
}

/** Why a session or token has ended: its session at the provider has ended, or the user has signed out. */
export type SignInEnd =
  | { readonly kind: "session" }
  /** Only a later sign-in is accepted. By the provider's clock, in milliseconds since 1970. */
  | { readonly kind: "user"; readonly laterThan: number };

/** The facts about an ending session that a sign-out needs. */
export interface SignOut extends Pick<AuthenticationEvent, "authenticatedAt" | "sid"> {
  /** How far the provider's clock may be ahead of the database's, in milliseconds. */
  readonly providerAheadMs: number;
}

/** The store of ends. */
export interface EndedSessions {
  /** Ends all sessions and tokens from the user's sign-ins until now, by one command for any number of sessions. */
  signOut(
    user: Pick<AuthenticationEvent, "issuer" | "subject">,
    sessions: readonly SignOut[],
    deadline: Deadline,
  ): Promise<void>;
  /**
   * Ends the sessions and tokens that a logout token names, and runs the work in the same transaction. `subjects` are
   * the known owners of its session. Fails with INVALID_LOGOUT_TOKEN if the token was used before.
   */
  logOut(
    logout: Logout,
    subjects: readonly string[],
    deadline: Deadline,
    work: (session: ClientSession) => Promise<void>,
  ): Promise<void>;
  /** Returns how a sign-in has ended; undefined if it has not. */
  endOf(beginning: AuthenticationEvent, deadline: Deadline): Promise<SignInEnd | undefined>;
  /** Returns the end of a sign-in, if it has ended, and the user's account, by one command. */
  endAndAccount(
    beginning: AuthenticationEvent,
    deadline: Deadline,
  ): Promise<{ readonly end: SignInEnd | undefined; readonly account: AccountDocument | undefined }>;
}

/** How long ends are kept: longer than the lifetime of an assistant's refresh token. */
const keptSeconds = 400 * 86_400;
/** The assumed lead of the provider's clock if it was not measured: the provider's times are whole seconds. */
export const minAheadMs = 1_000;

export const endedCollection: CollectionSpec = {
  collection: collections.endedSessions,
  erasure: undefined,
  // Partial, to differ from the index of older releases on the same field, which expired after 90 days.
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

/** A used logout token. */
interface LogoutTokenDocument {
  _id: { issuer: string; jti: string };
  forgettable_at: Date;
}

/**
 * Creates the store of ends. A sign-out ends all sign-ins of the user, in every browser. It cannot end a single
 * session, because the provider may give each client another id for it. `onUnreadable` is called when an end is
 * replaced because its time cannot be read.
 */
export function createEndedSessions(db: Db, onUnreadable: () => void = () => undefined): EndedSessions {
  const ended = db.collection<SessionEndDocument>(collections.endedSessions);
  const logoutTokens = db.collection<LogoutTokenDocument>(collections.logoutTokens);
  const signOut: EndedSessions["signOut"] = async ({ issuer, subject }, sessions, deadline) => {
    const aheadMs = Math.max(minAheadMs, ...sessions.map(({ providerAheadMs }) => Math.ceil(providerAheadMs)));
    const latest = Math.max(0, ...sessions.map(({ authenticatedAt = 0 }) => authenticatedAt));
    const sids = new Set(sessions.flatMap(({ sid }) => (sid === undefined ? [] : [sid])));
    const end = (): Promise<unknown> =>
      write(db.client, deadline, (options, fence) => {
        // An end that is stored late would also end later sign-ins.
        const ends = [
          ending({ issuer, subject }, { $max: [{ $add: ["$$NOW", aheadMs] }, new Date(latest * 1_000)] }, fence),
          ...[...sids].map((sid) => ending({ issuer, sid }, undefined, fence)),
        ];
        return ended.bulkWrite(ends, options).catch(rethrowTooLate);
      });
    // Two concurrent sign-outs may insert the same document. The second one finds it on its retry.
    await end().catch((error: unknown) =>
      duplicateIndex(error) === undefined ? Promise.reject(error as Error) : end(),
    );
  };
  /**
   * Replaces ends without a readable time by ends of the present. Such an end could be any sign-in's, so it ends all
   * until now. The user can then sign in again.
   */
  async function replaceUnreadable(ends: readonly SessionEndDocument[], deadline: Deadline): Promise<void> {
    const unreadable = ends.filter((end) => "subject" in end._id && laterThanOf(end) === Infinity);
    if (unreadable.length === 0) return;
    onUnreadable();
    await write(db.client, deadline, (options, fence) => {
      const now = { $add: ["$$NOW", minAheadMs] };
      return ended.bulkWrite(
        unreadable.map(({ _id }) => ending(_id, now, fence)),
        options,
      );
    });
  }
  return {
    signOut,
    async logOut({ issuer, subject, sid, jti, issuedAt, forgettableAt }, subjects, deadline, work) {
      const laterThan = new Date(issuedAt * 1_000);
      // The token may also apply to sessions and tokens of the user without a session id.
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
                because: "its jti was received before",
              });
            throw error;
          });
        await ended.bulkWrite(ends, { session });
        await work(session);
      });
    },
    async endOf(beginning, deadline) {
      const ends = await findAll<SessionEndDocument>(ended, { _id: { $in: namesOf(beginning) } }, { deadline });
      await replaceUnreadable(ends, deadline);
      return signInEndOf(beginning, ends);
    },
    async endAndAccount(beginning, deadline) {
      const account = { $unionWith: { coll: collections.accounts, pipeline: [{ $match: withIdentity(beginning) }] } };
      const rows = await aggregate<SessionEndDocument | AccountDocument>(
        ended,
        [{ $match: { _id: { $in: namesOf(beginning) } } }, account],
        { deadline },
      );
      const ends = rows.filter(isEnd);
      await replaceUnreadable(ends, deadline);
      return { end: signInEndOf(beginning, ends), account: rows.find((row): row is AccountDocument => !isEnd(row)) };
    },
  };
}

/** Whether a document is the end of a session, and not an account. */
function isEnd(row: SessionEndDocument | AccountDocument): row is SessionEndDocument {
  return "issuer" in row._id;
}

/** Returns the ids of the documents that may end the sign-in. */
function namesOf({ issuer, subject, sid }: AuthenticationEvent): SessionEndDocument["_id"][] {
  return [{ issuer, subject }, sid === undefined ? { issuer, subject, sid: null } : { issuer, sid }];
}

/**
 * Returns how the sign-in has ended according to the documents of `namesOf`; undefined if it has not. An ended session
 * at the provider stays ended, whatever its sign-in time.
 */
export function signInEndOf(
  { authenticatedAt }: Pick<AuthenticationEvent, "authenticatedAt">,
  ends: readonly SessionEndDocument[],
): SignInEnd | undefined {
  if (ends.some(({ _id }) => !("subject" in _id))) return { kind: "session" };
  // Without its time, a sign-in cannot be shown to be later, because a refreshed token looks new.
  const signedIn = authenticatedAt === undefined ? -Infinity : authenticatedAt * 1_000;
  const laterThan = Math.max(-Infinity, ...ends.map(laterThanOf));
  return ends.length > 0 && signedIn <= laterThan ? { kind: "user", laterThan } : undefined;
}

/**
 * Returns the time at or before which sign-ins have ended, by the provider's clock. An end whose time cannot be read
 * ends every sign-in: its time is Infinity.
 */
export function laterThanOf({ ended_at, later_than }: Omit<SessionEndDocument, "_id">): number {
  const [at, ahead] = later_than === undefined ? [ended_at, minAheadMs] : [later_than, 0];
  return isDate(ended_at) && isDate(at) ? at.getTime() + ahead : Infinity;
}

function isDate(value: unknown): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

/**
 * Returns the write that moves an end forward by the database's clock, never back. `laterThan` is a date, or an
 * expression for one. A transaction needs no fence.
 */
function ending(
  _id: SessionEndDocument["_id"],
  laterThan?: Date | Document,
  fence: Fence = {},
): AnyBulkWriteOperation<SessionEndDocument> {
  const moved = {
    ended_at: { $max: [dateIn("$ended_at"), "$$NOW"] },
    ...(laterThan === undefined ? {} : { later_than: { $max: [dateIn("$later_than"), laterThan] } }),
  };
  return { updateOne: { filter: { _id }, update: [{ $set: moved }, fenceStage(fence)], upsert: true } };
}

/** Returns an expression for a field that is null unless it is a date: other types can sort after every date. */
function dateIn(field: string): Document {
  return { $cond: [{ $eq: [{ $type: field }, "date"] }, field, null] };
}
