// records.v1.SessionService: lists and reads sessions.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { SessionService as Descriptor } from "../gen/records/v1/sessions_pb.ts";
import { uuid } from "../db/mongo.ts";
import { fail } from "../errors.ts";
import { parseInstant } from "../instant.ts";
import type { AccountService } from "../rpc/routes.ts";
import type { SessionStore } from "./store.ts";
import type { TranscriptStore } from "./transcripts.ts";

/** The service over its stores. The guard has checked the form of `from` and `to`, and set `limit` and `offset`. */
export function createSessionService(
  sessions: SessionStore,
  transcripts: TranscriptStore,
): AccountService<typeof Descriptor> {
  return {
    listSessions({ query, contactId, from, to, limit = 0, offset = 0 }, scope) {
      const filter = {
        query,
        contactId: contactId === undefined ? undefined : uuid(contactId),
        first: from === undefined ? undefined : parseInstant(from)?.first,
        last: to === undefined ? undefined : parseInstant(to)?.last,
      };
      return sessions.list(scope, filter, { limit, offset });
    },
    async getSession({ sessionId }, scope) {
      const session = (await sessions.get(scope, uuid(sessionId))) ?? fail(Reason.NOT_FOUND);
      return { $typeName: "records.v1.GetSessionResponse", session };
    },
    async getSessionTranscript({ sessionId }, scope) {
      const transcript = (await transcripts.get(scope, uuid(sessionId))) ?? fail(Reason.NOT_FOUND);
      return { $typeName: "records.v1.GetSessionTranscriptResponse", transcript };
    },
  };
}
