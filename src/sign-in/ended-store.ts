// Until when a person's sessions have ended, in MongoDB: an access token of before is refused by every instance.
import type { Db } from "mongodb";
import type { IndexSpec } from "../db/mongo.ts";

/** The last end of a person's sessions. */
export interface EndedDocument {
  _id: { issuer: string; subject: string };
  ended_at: Date;
  /** The provider's sessions that ended, as far as they were named; the newest last. */
  sids: string[];
}

/** What an access token tells of its beginning. */
export interface TokenBeginning {
  readonly issuer: string;
  readonly subject: string;
  /** When the person signed in for it, else when it was issued: whole seconds since 1970 (RFC 9068 §2.2). */
  readonly began: number;
  readonly sid: string | undefined;
}

/** The ends of all people's sessions. */
export interface EndedSessions {
  /** Ends all that a person has begun until now. */
  end(issuer: string, subject: string, sid: string | undefined): Promise<void>;
  /** Whether a token belongs to what has ended. */
  covers(token: TokenBeginning): Promise<boolean>;
}

/** Longer than any access token lives that an assistant still bears. */
const keptSeconds = 90 * 86_400;
const keptSids = 20;

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
    async end(issuer, subject, sid) {
      const sids = sid === undefined ? [] : [sid];
      await ended.updateOne({ _id: { issuer, subject } }, { $max: { ended_at: new Date() }, $push: { sids: { $each: sids, $slice: -keptSids } } }, { upsert: true });
    },
    async covers({ issuer, subject, began, sid }) {
      const end = await ended.findOne({ _id: { issuer, subject } });
      if (end === null) return false;
      if (sid !== undefined && end.sids.includes(sid)) return true;
      const endedAt = end.ended_at.getTime();
      // Within the second of the end only the session's name can tell what was before it and what after.
      return sid === undefined ? began * 1000 <= endedAt : began * 1000 + 999 <= endedAt;
    },
  };
}
