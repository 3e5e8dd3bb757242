// Implements records.v1.NoteService: searches notes.
import { uuid } from "../db/mongo.ts";
import { rejectInput } from "../errors.ts";
import type { NoteService as Descriptor } from "../gen/records/v1/notes_pb.ts";
import { NoteKind } from "../gen/records/v1/notes_pb.ts";
import { periodOf } from "../instant.ts";
import type { AccountService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import type { NoteFilter, NoteStore } from "./store.ts";

const kinds: Readonly<Record<NoteKind, NoteFilter["kind"]>> = {
  [NoteKind.UNSPECIFIED]: undefined,
  [NoteKind.CONTACT]: "contact",
  [NoteKind.SESSION]: "session",
};

/** Creates the service. A guard has already checked the form of `from` and `to`, and set `limit` and `offset`. */
export function createNoteService(notes: NoteStore): AccountService<typeof Descriptor> {
  return {
    searchNotes({ query, limit = 0, offset = 0, contactId, sessionId, kind, from, to, anyWord, ...rest }, scope) {
      requireAllRead(rest);
      if (contactId !== undefined && sessionId !== undefined)
        return rejectInput([
          { field: "session_id", rule: "one_of", message: "must be left out if contact_id is given" },
        ]);
      const owner = contactId ?? sessionId;
      const filter = {
        query: query === "" ? undefined : query,
        kind: kinds[kind ?? NoteKind.UNSPECIFIED],
        ownerId: owner === undefined ? undefined : uuid(owner),
        ofSessions: contactId !== undefined && kind === NoteKind.SESSION,
        ...periodOf(from, to),
        anyWord: anyWord === true,
      };
      return notes.search(scope, filter, { limit, offset });
    },
  };
}
