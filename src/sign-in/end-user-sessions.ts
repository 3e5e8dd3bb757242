// Ends all dashboard sessions and access tokens of a user on the operator's behalf, like a sign-out.
import type { ClientSession, Db } from "mongodb";
import { collections } from "../db/collections.ts";
import { findAll } from "../db/aggregate.ts";
import { requireNotFenced } from "../db/fence.ts";
import { write } from "../db/write.ts";
import type { Deadline } from "../call/deadline.ts";
import { createEndedSessions } from "./ended-store.ts";
import type { SessionDocument } from "./session-store.ts";
import { signOutOf } from "./session-store.ts";

/**
 * Ends everything of a user, and returns how many sessions were deleted. The provider keeps its own session. Only a new
 * sign-in there opens the dashboard again.
 */
export type EndUserSessions = (
  user: { readonly issuer: string; readonly subject: string },
  deadline: Deadline,
) => Promise<number>;

/** The maximum number of sessions that end together. A call that runs out of time leaves fewer for the next one. */
const maxConcurrent = 500;

/** Creates the function for a database. It needs no secret, because it opens no session. */
export function createEndUserSessions(db: Db): EndUserSessions {
  const sessions = db.collection<SessionDocument>(collections.dashboardSessions);
  const ended = createEndedSessions(db);
  return async ({ issuer, subject }, deadline) => {
    for (let deleted = 0; ; ) {
      const stored = await findAll<SessionDocument>(sessions, { issuer, subject }, { deadline, limit: maxConcurrent });
      // Also without sessions, because an assistant may have tokens.
      await ended.signOut({ issuer, subject }, stored.map(signOutOf), deadline);
      const these = { _id: { $in: stored.map(({ _id }) => _id) } };
      const { deletedCount } = await write(db.client, deadline, (options, fence) =>
        sessions.deleteMany({ ...these, ...fence }, options),
      );
      if (deletedCount === 0 && stored.length > 0) await requireNotFenced(sessions, these, deadline);
      deleted += deletedCount;
      if (stored.length < maxConcurrent) return deleted;
    }
  };
}

/** Creates a function that deletes the stored sessions of users within a transaction. */
export function createRemoveSessions(db: Db) {
  const sessions = db.collection<SessionDocument>(collections.dashboardSessions);
  return async (
    users: readonly { readonly issuer: string; readonly subject: string }[],
    session: ClientSession,
  ): Promise<void> => {
    for (const { issuer, subject } of users) await sessions.deleteMany({ issuer, subject }, { session });
  };
}
