// Dashboard sessions in MongoDB, shared by all instances. The database does not contain the cookies' values.
import { createHmac, randomBytes } from "node:crypto";
import type { ClientSession, Db, Document } from "mongodb";
import { Binary } from "mongodb";
import { collections } from "../db/collections.ts";
import { aggregate, findAll, findFirst } from "../db/aggregate.ts";
import { requireNotFenced } from "../db/fence.ts";
import { insertFenced } from "../db/insert.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { databaseNow, primaryOf } from "../db/primary.ts";
import { transaction, write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { deadlineIn, deadlineMs } from "../call/deadline.ts";
import type { SessionEndDocument, SignOut } from "./ended-store.ts";
import { laterThanOf, minAheadMs, signInEndOf } from "./ended-store.ts";
import type { SessionSecrets } from "./sealing.ts";
import { createSeal, deriveKeys } from "./sealing.ts";

/** A stored session. */
export interface SessionDocument {
  /** HMAC-SHA-256 of the cookie's value, so that nobody can sign in with what the database contains. */
  _id: Binary;
  issuer: string;
  subject: string;
  /** The provider's own session, if its ID token names one (OpenID Connect Back-Channel Logout §2.1). */
  sid?: string;
  email?: string;
  name?: string;
  /** The provider's tokens, sealed with a key that only the cookie's value completes. */
  id_token: string;
  /** The time of the sign-in, by the provider's clock. Missing if the provider sends none, and from older releases. */
  authenticated_at?: Date;
  /**
   * How far the provider's clock may be ahead of the database's, measured at the sign-in. Missing from older releases.
   */
  provider_ahead_ms?: number;
  /** By the database's clock, like the following times. All instances share that clock, and erasures use it as well. */
  created_at: Date;
  /** Updated at most once a minute. */
  used_at: Date;
  /** When to check next whether the session continues at the provider. Missing without a refresh token. */
  check_at?: Date;
  /** MongoDB deletes the session some time after this. */
  expires_at: Date;
}

/** The user who signed in, as the identity provider confirms. */
export interface AuthenticatedUser {
  readonly issuer: string;
  readonly subject: string;
  readonly sid: string | undefined;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly idToken: string;
  /** The rest of the provider's token response; undefined for a session without one. */
  readonly tokenResponse?: TokenResponse | undefined;
}

/** The parts of a token response other than the ID token. */
export interface TokenResponse {
  readonly accessToken: string;
  /** Undefined if the provider issues none without `offline_access`, which the service does not request. */
  readonly refreshToken: string | undefined;
  /** The time of the sign-in by the provider's clock, in whole seconds since 1970; undefined if it is not sent. */
  readonly authenticatedAt: number | undefined;
  /** When the provider issued the ID token, by the same clock and in the same unit. */
  readonly issuedAt: number;
  /** When the request was sent, in milliseconds of `performance.now()`. */
  readonly sentAt: number;
}

/** The provider's tokens of a session. */
export interface ProviderTokens {
  readonly idToken: string | undefined;
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
}

/** The dashboard sessions of all users. */
export interface DashboardSessions {
  /** Begins a session and returns the value of its cookie. */
  begin(user: AuthenticatedUser, deadline?: Deadline): Promise<string>;
  /**
   * Returns the session of a cookie's value and marks it as used. Returns undefined if it has expired or the user has
   * signed out since.
   */
  find(cookie: string, deadline: Deadline): Promise<SessionDocument | undefined>;
  /** Returns the stored session of a cookie's value, even if it has expired or ended. */
  findStored(cookie: string, deadline: Deadline): Promise<SessionDocument | undefined>;
  /** Returns the provider's tokens of a session, which the cookie's value opens. */
  tokensOf(cookie: string, session: SessionDocument): Promise<ProviderTokens>;
  /**
   * Returns the session's refresh token if a check at the provider is due, which no other request then makes for a
   * minute. Otherwise returns undefined.
   */
  takeCheck(cookie: string, session: SessionDocument, deadline: Deadline): Promise<string | undefined>;
  /** Replaces the provider's tokens of a session. Keeps those that are undefined. */
  replaceTokens(cookie: string, session: SessionDocument, tokens: ProviderTokens, deadline: Deadline): Promise<void>;
  /** Ends the session of a cookie's value, if it exists. */
  end(cookie: string, deadline: Deadline): Promise<void>;
  /**
   * Ends this session and all others of its user, and runs the work in the same transaction. Skips the work if another
   * request has already ended the session.
   */
  endUserSessions(
    own: SessionDocument,
    deadline: Deadline,
    work: (session: ClientSession) => Promise<void>,
  ): Promise<void>;
  /**
   * Returns the sessions that began in the session `sid` at the provider, and those of the user without a `sid`. If
   * `sid` is undefined, returns all sessions of the user.
   */
  ofUser(
    issuer: string,
    sid: string | undefined,
    subject: string | undefined,
    deadline: Deadline,
  ): Promise<SessionDocument[]>;
  /** Ends these sessions within a transaction. */
  endAll(ending: readonly SessionDocument[], session: ClientSession): Promise<void>;
}

/** The maximum lifetime of a session, even if the user is active. */
const absoluteLifetimeMs = 12 * 3_600_000;
/** How long a session stays valid without being used. */
const idleLifetimeMs = 2 * 3_600_000;
const usedPrecisionMs = 60_000;
/** How often a session in use is checked at the provider. */
const checkMs = 60_000;

export const sessionCollection: CollectionSpec = {
  collection: collections.dashboardSessions,
  erasure: {
    key: "_id",
    filter: ({ identities = [], begunAt }) =>
      identities.length === 0
        ? undefined
        : { $or: identities.map(({ issuer, subject }) => ({ issuer, subject, created_at: { $lte: begunAt } })) },
  },
  indexes: [
    { key: { expires_at: 1 }, name: "expiry", expireAfterSeconds: 0 },
    { key: { issuer: 1, subject: 1 }, name: "person" },
    { key: { issuer: 1, sid: 1 }, name: "provider_session", sparse: true },
  ],
};

/** Creates the store, with secrets that all instances share. Sessions under any other secret have ended. */
export function createDashboardSessions(db: Db, secrets: SessionSecrets): DashboardSessions {
  const sessions = db.collection<SessionDocument>(collections.dashboardSessions);
  const { newId, anyId, sealOf } = createIds(secrets);

  return {
    async begin(user, deadline = deadlineIn(deadlineMs)) {
      const [cookie, createdAt] = [randomBytes(32).toString("base64url"), databaseNow(db.client)];
      const { idToken, tokenResponse } = user;
      const { accessToken, refreshToken } = tokenResponse ?? {};
      const sealed = await sealOf(cookie).seal(
        sealable({ idToken, accessToken, refreshToken }),
        absoluteLifetimeMs / 1000,
      );
      const aheadMs = tokenResponse && providerAheadMs(tokenResponse, db);
      const session = documentOf(user, newId(cookie), sealed, aheadMs, createdAt);
      await write(db.client, deadline, (options, fence) => insertFenced(sessions, session, options, fence));
      return cookie;
    },
    async find(cookie, deadline) {
      const [found] = await aggregate<SessionDocument & { ended: SessionEndDocument[] }>(
        sessions,
        [{ $match: anyId(cookie) }, ...withEnds],
        { deadline },
      );
      if (found === undefined) return undefined;
      const { ended, ...session } = found;
      const now = databaseNow(db.client);
      if (!isWithinLifetime(session, now) || hasEnded(session, ended)) return undefined;
      if (now.getTime() - session.used_at.getTime() >= usedPrecisionMs) {
        const used = { $max: { used_at: now } };
        await write(db.client, deadline, (options, fence) =>
          sessions.updateOne({ _id: session._id, ...fence }, used, options),
        );
      }
      return session;
    },
    findStored: (cookie, deadline) => findFirst(sessions, anyId(cookie), { deadline }),
    tokensOf: async (cookie, { id_token: sealed }) => tokensIn(await sealOf(cookie).open(sealed)),
    async takeCheck(cookie, { _id, check_at: due, id_token: sealed }, deadline) {
      const now = databaseNow(db.client);
      if (due === undefined || due > now) return undefined;
      const next = { $set: { check_at: new Date(now.getTime() + checkMs) } };
      const { modifiedCount } = await write(db.client, deadline, (options, fence) =>
        sessions.updateOne({ _id, check_at: due, ...fence }, next, options),
      );
      return modifiedCount === 0 ? undefined : tokensIn(await sealOf(cookie).open(sealed)).refreshToken;
    },
    async replaceTokens(cookie, { _id, id_token: sealed, expires_at }, tokens, deadline) {
      const seal = sealOf(cookie);
      const seconds = Math.ceil((expires_at.getTime() - databaseNow(db.client).getTime()) / 1_000);
      const known = sealable(tokensIn(await seal.open(sealed)));
      const replaced = { $set: { id_token: await seal.seal({ ...known, ...sealable(tokens) }, seconds) } };
      await write(db.client, deadline, (options, fence) => sessions.updateOne({ _id, ...fence }, replaced, options));
    },
    async end(cookie, deadline) {
      const { deletedCount } = await write(db.client, deadline, (options, fence) =>
        sessions.deleteOne({ ...anyId(cookie), ...fence }, options),
      );
      if (deletedCount === 0) await requireNotFenced(sessions, anyId(cookie), deadline);
    },
    async endUserSessions({ _id, issuer, subject }, deadline, work) {
      await transaction(db.client, deadline, async (session) => {
        const { deletedCount } = await sessions.deleteOne({ _id }, { session });
        await sessions.deleteMany({ issuer, subject }, { session });
        if (deletedCount === 1) await work(session);
      });
    },
    ofUser(issuer, sid, subject, deadline) {
      const ofUser =
        subject === undefined ? [] : [sid === undefined ? { subject } : { subject, sid: { $exists: false } }];
      return findAll(sessions, { issuer, $or: [...(sid === undefined ? [] : [{ sid }]), ...ofUser] }, { deadline });
    },
    async endAll(ending, session) {
      await sessions.deleteMany({ _id: { $in: ending.map(({ _id }) => _id) } }, { session });
    },
  };
}

function tokensIn(opened: Readonly<Record<string, unknown>> = {}): ProviderTokens {
  const token = (name: string): string | undefined => (typeof opened[name] === "string" ? opened[name] : undefined);
  return { idToken: token("id_token"), accessToken: token("access_token"), refreshToken: token("refresh_token") };
}

/** Returns the known tokens under the names that are sealed. */
function sealable({ idToken, accessToken, refreshToken }: ProviderTokens): Record<string, string> {
  return {
    ...(idToken === undefined ? {} : { id_token: idToken }),
    ...(accessToken === undefined ? {} : { access_token: accessToken }),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  };
}

/** Whether a session is still within its lifetime. */
function isWithinLifetime({ used_at, expires_at }: SessionDocument, now: Date): boolean {
  return now < expires_at && now.getTime() - used_at.getTime() < idleLifetimeMs;
}

/** Creates the ids and seals of sessions, which only the cookie's value completes. */
function createIds(secrets: SessionSecrets) {
  const keys = deriveKeys(secrets, "session id");
  const idUnder = (key: Uint8Array, cookie: string): Binary =>
    new Binary(createHmac("sha256", key).update(cookie).digest());
  return {
    newId: (cookie: string) => idUnder(keys[0], cookie),
    /** Returns the filter for a session whose id was derived from any of the secrets. */
    anyId: (cookie: string) => ({ _id: { $in: keys.map((key) => idUnder(key, cookie)) } }),
    sealOf: (cookie: string) => createSeal(deriveKeys(secrets, "id token", cookie)),
  };
}

function documentOf(
  { issuer, subject, sid, email, name, tokenResponse }: AuthenticatedUser,
  _id: Binary,
  id_token: string,
  aheadMs: number | undefined,
  createdAt: Date,
): SessionDocument {
  return {
    _id,
    issuer,
    subject,
    ...(sid === undefined ? {} : { sid }),
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
    id_token,
    ...(tokenResponse?.authenticatedAt === undefined
      ? {}
      : { authenticated_at: new Date(tokenResponse.authenticatedAt * 1_000) }),
    ...(aheadMs === undefined ? {} : { provider_ahead_ms: aheadMs }),
    created_at: createdAt,
    used_at: createdAt,
    ...(tokenResponse?.refreshToken === undefined ? {} : { check_at: new Date(createdAt.getTime() + checkMs) }),
    expires_at: new Date(createdAt.getTime() + absoluteLifetimeMs),
  };
}

/** Returns the facts about a stored session that a sign-out needs. */
export function signOutOf({
  sid,
  authenticated_at: at,
  provider_ahead_ms: providerAheadMs = minAheadMs,
}: SessionDocument): SignOut {
  return { sid, providerAheadMs, authenticatedAt: at && at.getTime() / 1_000 };
}

/**
 * Returns how far the provider's clock can be ahead at most: the provider issues its token after the request was sent.
 * Some providers backdate tokens, so a clock never counts as behind.
 */
function providerAheadMs({ issuedAt, authenticatedAt = 0, sentAt }: TokenResponse, { client }: Db): number {
  const databaseSentAt = primaryOf(client).databaseTime(sentAt).getTime();
  return Math.max(minAheadMs, (Math.max(issuedAt, authenticatedAt) + 1) * 1_000 - databaseSentAt);
}

/** Joins the ends that may apply to the session, so that no second command is needed. */
const withEnds: readonly Document[] = [
  {
    $set: {
      ends: [
        { issuer: "$issuer", subject: "$subject" },
        { issuer: "$issuer", sid: "$sid" },
        { issuer: "$issuer", subject: "$subject", sid: null },
      ],
    },
  },
  { $lookup: { from: collections.endedSessions, localField: "ends", foreignField: "_id", as: "ended" } },
  { $unset: "ends" },
];

/** Whether a sign-out, here or at the provider, has ended the session, even if the session could not be deleted. */
function hasEnded(session: SessionDocument, ends: readonly SessionEndDocument[]): boolean {
  const { sid, authenticatedAt } = signOutOf(session);
  // An end with `sid: null` does not apply to a session with a `sid`.
  const concerning = ends.filter(({ _id }) => !("sid" in _id) || _id.sid !== null || sid === undefined);
  // Without the time of the sign-in, only later ends count: earlier ones were checked when the session began.
  const later =
    authenticatedAt === undefined
      ? concerning.filter(
          (end) => !("subject" in end._id) || laterThanOf(end) === Infinity || end.ended_at >= session.created_at,
        )
      : concerning;
  return signInEndOf({ authenticatedAt }, later) !== undefined;
}
