// Implements records.v1.NoteService: searches notes.
import type { UUID } from "mongodb";
import type { Scope } from "../call/scope.ts";
import { uuid } from "../db/mongo.ts";
import { rejectInput } from "../call/errors.ts";
import type { NoteService as Descriptor, SearchNotesResponse } from "../gen/records/v1/notes_pb.ts";
import { NoteKind } from "../gen/records/v1/notes_pb.ts";
import type { SessionSummary } from "../gen/records/v1/sessions_pb.ts";
import { SessionNoteType } from "../gen/records/v1/sessions_pb.ts";
import { periodOf } from "../text/instant.ts";
import type { AccountService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import { noteTypeName } from "./document.ts";
import type { NoteFilter, NoteStore } from "./store.ts";

const kinds: Readonly<Record<NoteKind, NoteFilter["kind"]>> = {
  [NoteKind.UNSPECIFIED]: undefined,
  [NoteKind.CONTACT]: "contact",
  [NoteKind.SESSION]: "session",
};

/** Returns those of the sessions that the account has. */
export type SessionsOf = (scope: Scope, ids: readonly UUID[]) => Promise<readonly SessionSummary[]>;

/** Creates the service. A guard has already checked the form of `from` and `to`, and set `limit` and `offset`. */
export function createNoteService(notes: NoteStore, sessionsOf: SessionsOf): AccountService<typeof Descriptor> {
  return {
    async searchNotes({ query, limit = 0, offset = 0, contactId, sessionId, kind, from, to, anyWord, ...more }, scope) {
      const { withContext, withSnippet, noteType = SessionNoteType.UNSPECIFIED, ...rest } = more;
      requireAllRead(rest);
      if (contactId !== undefined && sessionId !== undefined)
        return rejectInput([
          { field: "session_id", rule: "one_of", message: "must be left out if contact_id is given" },
        ]);
      const owner = contactId ?? sessionId;
      const ofContact = contactId === undefined ? NoteKind.UNSPECIFIED : NoteKind.CONTACT;
      const kindOfOwner = sessionId === undefined ? ofContact : NoteKind.SESSION;
      const filter = {
        query: query === "" ? undefined : query,
        kind: kinds[kind || kindOfOwner],
        type: noteType === SessionNoteType.UNSPECIFIED ? undefined : noteTypeName(noteType),
        ownerId: owner === undefined ? undefined : uuid(owner),
        ofSessions: contactId !== undefined && kind === NoteKind.SESSION,
        ...periodOf(from, to),
        anyWord: anyWord === true,
        withSnippets: withContext === true || withSnippet === true,
      };
      const found = await notes.search(scope, filter, { limit, offset });
      return withContext === true ? withSessions(found, scope, sessionsOf) : found;
    },
  };
}

/** Adds the session of each session note. */
async function withSessions(
  found: SearchNotesResponse,
  scope: Scope,
  sessionsOf: SessionsOf,
): Promise<SearchNotesResponse> {
  const owners = found.notes.flatMap(({ kind, parentId }) => (kind === NoteKind.SESSION ? [uuid(parentId)] : []));
  const sessions = owners.length === 0 ? [] : await sessionsOf(scope, owners);
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const notes = found.notes.map((note) => {
    const session = byId.get(note.parentId);
    return session === undefined ? note : { ...note, session };
  });
  return { ...found, notes };
}
