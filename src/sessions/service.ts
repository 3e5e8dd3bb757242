// Implements records.v1.SessionService: lists and reads sessions, and reads and searches transcripts.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { SessionService as Descriptor } from "../gen/records/v1/sessions_pb.ts";
import { SessionOrder } from "../gen/records/v1/sessions_pb.ts";
import { uuid } from "../db/mongo.ts";
import { fail, rejectInput } from "../call/errors.ts";
import { periodOf } from "../text/instant.ts";
import type { AccountService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { SessionStore } from "./store.ts";
import type { TranscriptSearch } from "./transcript-search.ts";
import type { TranscriptStore } from "./transcripts.ts";

/** Creates the service. A guard has already checked the form of `from` and `to`, and set `limit` and `offset`. */
export function createSessionService(
  sessions: SessionStore,
  transcripts: TranscriptStore,
  passages: TranscriptSearch,
): AccountService<typeof Descriptor> {
  return {
    listSessions({ query, contactId, from, to, limit = 0, offset = 0, ...more }, scope) {
      const { hasTranscript, hasNotes, contactName, anyWord, order, ...rest } = more;
      requireAllRead(rest);
      const soonest = order === SessionOrder.SOONEST;
      if (soonest && anyWord === true)
        return rejectInput([{ field: "order", rule: "one_of", message: "must not be soonest if any_word is true" }]);
      const { first, last } = periodOf(from, to);
      const now = Date.now();
      const begin = soonest && from === undefined && (last === undefined || last >= now) ? now : first;
      const filter = {
        query,
        hasTranscript,
        hasNotes,
        contactName,
        anyWord: anyWord === true,
        soonest,
        contactId: contactId === undefined ? undefined : uuid(contactId),
        first: begin,
        last,
      };
      return sessions.list(scope, filter, { limit, offset });
    },
    async getSession({ sessionId, ...rest }, scope) {
      requireAllRead(rest);
      const session = (await sessions.get(scope, uuid(sessionId))) ?? fail(Reason.NOT_FOUND);
      return { $typeName: "records.v1.GetSessionResponse", session };
    },
    async getSessionTranscript({ sessionId, ...rest }, scope) {
      requireAllRead(rest);
      const transcript = (await transcripts.get(scope, uuid(sessionId))) ?? fail(Reason.NOT_FOUND);
      return { $typeName: "records.v1.GetSessionTranscriptResponse", transcript };
    },
    searchTranscripts({ query, sessionId, contactId, from, to, limit = 0, offset = 0, ...rest }, scope) {
      requireAllRead(rest);
      if (sessionId !== undefined) {
        const others = { contact_id: contactId, from, to, offset: offset === 0 ? undefined : offset };
        const given = Object.entries(others).filter(([, value]) => value !== undefined);
        if (given.length === 0) return passages.inSession(scope, uuid(sessionId), query);
        const message = "must not be given with session_id";
        return rejectInput(given.map(([field]) => ({ field, rule: "exclusive", message })));
      }
      const contact = contactId === undefined ? undefined : uuid(contactId);
      return passages.search(scope, { query, contactId: contact, ...periodOf(from, to) }, { limit, offset });
    },
  };
}
