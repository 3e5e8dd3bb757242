// When sessions have ended, in MongoDB: an access token of before is refused by every instance.
import type { Db } from "mongodb";
import { findAll } from "../db/aggregate.ts";
import type { IndexSpec } from "../db/mongo.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../deadline.ts";

/** An end: of all that a person had begun, or of a session at the provider. */
interface EndedDocument {
  _id: { issuer: string; subject: string } | { issuer: string; sid: string };
  ended_at: Date;
}

/** What an access token tells of its beginning. */
export interface TokenBeginning {
  readonly issuer: string;
  readonly subject: string;
  /** When it was issued, in whole seconds since 1970. */
  readonly issuedAt: number;
  /** When the person signed in for it, where it tells (RFC 9068 §2.2.1). */
  readonly signedInAt: number | undefined;
  /** The provider's session, where it names it. */
  readonly sid: string | undefined;
}

/** The ends of all sessions. */
export interface EndedSessions {
  /** Ends all that a person has begun until now, and a session at the provider; one of the two at least is told. */
  end(issuer: string, subject: string | undefined, sid: string | undefined, deadline: Deadline): Promise<void>;
  /** Whether a token belongs to what has ended. */
  covers(token: TokenBeginning): Promise<boolean>;
}

/** Longer than any access token lives that an assistant still bears. */
const keptSeconds = 90 * 86_400;

export const endedIndexes: IndexSpec = {
  collection: "ended_sessions",
  indexes: [{ key: { ended_at: 1 }, name: "expiry", expireAfterSeconds: keptSeconds }],
};

/**
 * The ends of a database. Signing out ends everything that the person has begun, in whichever browser: a provider may
 * name one session differently to each of its clients, and there is no list of connected assistants to choose from.
 */
export function createEndedSessions(db: Db): EndedSessions {
  const ended = db.collection<EndedDocument>("ended_sessions");
  return {
    async end(issuer, subject, sid, deadline) {
      const names = [...(subject === undefined ? [] : [{ issuer, subject }]), ...(sid === undefined ? [] : [{ issuer, sid }])];
      const update = { $max: { ended_at: new Date() } };
      const upserts = names.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } }));
      await write(db.client, deadline, (options) => ended.bulkWrite(upserts, options));
    },
    async covers({ issuer, subject, issuedAt, signedInAt, sid }) {
      const ends = await findAll<EndedDocument>(ended, { _id: { $in: [{ issuer, subject }, ...(sid === undefined ? [] : [{ issuer, sid }])] } });
      // Bound to no session, it may have been had by refreshing what was granted before: the sign-in tells.
      if (sid === undefined) return ends.some(({ ended_at }) => (signedInAt ?? issuedAt) * 1000 <= ended_at.getTime());
      // Within the second of the end only the session's name can tell what was before it and what after.
      const isNamed = ends.some(({ _id }) => "sid" in _id);
      return ends.some(({ ended_at }) => issuedAt * 1000 + (isNamed ? 0 : 999) <= ended_at.getTime());
    },
  };
}
