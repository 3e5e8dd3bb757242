// Dashboard sessions in MongoDB, so that every instance knows them; the cookie's value is in none of them.
import { createHmac, randomBytes } from "node:crypto";
import type { Db } from "mongodb";
import { Binary } from "mongodb";
import { findAll, findFirst } from "../db/aggregate.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";
import { deadlineIn, deadlineMs } from "../deadline.ts";
import { createSeal, deriveKey } from "./sealing.ts";

/** A session as it is stored. */
export interface SessionDocument {
  /** HMAC-SHA-256 of the cookie's value: who reads the database can sign in with nothing. */
  _id: Binary;
  issuer: string;
  subject: string;
  /** The provider's own session, where its ID token names one (OpenID Connect Back-Channel Logout §2.1). */
  sid?: string;
  email?: string;
  name?: string;
  /** Sealed under a key that only the cookie's value completes. */
  id_token: string;
  created_at: Date;
  /** Moved at most once a minute. */
  used_at: Date;
  /** MongoDB removes the session some time after. */
  expires_at: Date;
}

/** Who signed in, as the identity provider vouches. */
export interface Identified {
  readonly issuer: string;
  readonly subject: string;
  readonly sid: string | undefined;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly idToken: string;
}

/** The sessions of all people. */
export interface DashboardSessions {
  /** Begins a session and returns the value of its cookie. */
  begin(person: Identified, deadline?: Deadline): Promise<string>;
  /** The session of a cookie's value, if it goes on; it counts as used. */
  find(cookie: string): Promise<SessionDocument | undefined>;
  /** Ends a session; what it was, with its ID token, or undefined where there was none. */
  end(cookie: string, deadline: Deadline): Promise<{ readonly session: SessionDocument; readonly idToken: string | undefined } | undefined>;
  /**
   * The sessions that began in a session at the provider, and those of the person of which it is not known in which they
   * began; without a session's name all of the person.
   */
  ofPerson(issuer: string, sid: string | undefined, subject: string | undefined): Promise<SessionDocument[]>;
  endAll(ending: readonly SessionDocument[], deadline: Deadline): Promise<void>;
}

/** However busy the person is, they sign in again after this long. */
const absoluteLifetimeMs = 12 * 3_600_000;
/** A session that is not used for this long has ended. */
const idleLifetimeMs = 2 * 3_600_000;
const usedPrecisionMs = 60_000;

export const sessionIndexes: IndexSpec = {
  collection: "dashboard_sessions",
  indexes: [
    { key: { expires_at: 1 }, name: "expiry", expireAfterSeconds: 0 },
    { key: { issuer: 1, subject: 1 }, name: "person" },
    { key: { issuer: 1, sid: 1 }, name: "provider_session", sparse: true },
  ],
};

/** The sessions of a database, under a secret that all instances share; another secret ends them all. */
export function createDashboardSessions(db: Db, secret: string, now: () => number = Date.now): DashboardSessions {
  const sessions = db.collection<SessionDocument>("dashboard_sessions");
  const idKey = deriveKey(secret, "session id");
  const idOf = (cookie: string): Binary => new Binary(createHmac("sha256", idKey).update(cookie).digest());
  const sealOf = (cookie: string) => createSeal(deriveKey(secret, "id token", cookie));
  const goesOn = ({ used_at, expires_at }: SessionDocument): boolean => now() < expires_at.getTime() && now() - used_at.getTime() < idleLifetimeMs;

  return {
    async begin({ issuer, subject, sid, email, name, idToken }, deadline = deadlineIn(deadlineMs)) {
      const cookie = randomBytes(32).toString("base64url");
      const created = now();
      const session: SessionDocument = {
        _id: idOf(cookie),
        issuer,
        subject,
        ...(sid === undefined ? {} : { sid }),
        ...(email === undefined ? {} : { email }),
        ...(name === undefined ? {} : { name }),
        id_token: await sealOf(cookie).seal({ id_token: idToken }, absoluteLifetimeMs / 1000),
        created_at: new Date(created),
        used_at: new Date(created),
        expires_at: new Date(created + absoluteLifetimeMs),
      };
      await write(db.client, deadline, (options) => sessions.insertOne(session, options));
      return cookie;
    },
    async find(cookie) {
      const _id = idOf(cookie);
      const session = await findFirst<SessionDocument>(sessions, { _id });
      if (session === undefined || !goesOn(session)) return undefined;
      if (now() - session.used_at.getTime() >= usedPrecisionMs) {
        const used = { $max: { used_at: new Date(now()) } };
        await write(db.client, deadlineIn(deadlineMs), (options) => sessions.updateOne({ _id }, used, options));
      }
      return session;
    },
    async end(cookie, deadline) {
      const session = await write(db.client, deadline, (options) => sessions.findOneAndDelete({ _id: idOf(cookie) }, options));
      if (session === null) return undefined;
      const idToken = (await sealOf(cookie).open(session.id_token))?.["id_token"];
      return { session, idToken: typeof idToken === "string" ? idToken : undefined };
    },
    ofPerson(issuer, sid, subject) {
      const ofPerson = subject === undefined ? [] : [sid === undefined ? { subject } : { subject, sid: { $exists: false } }];
      return findAll(sessions, { issuer, $or: [...(sid === undefined ? [] : [{ sid }]), ...ofPerson] });
    },
    async endAll(ending, deadline) {
      await write(db.client, deadline, (options) => sessions.deleteMany({ _id: { $in: ending.map(({ _id }) => _id) } }, options));
    },
  };
}
