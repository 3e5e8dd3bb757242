// records.v1.NoteService: searches notes.
import type { NoteService as Descriptor } from "../gen/records/v1/notes_pb.ts";
import type { AccountService } from "../rpc/routes.ts";
import type { NoteStore } from "./store.ts";

/** The service over its store. The guard has set the defaults of `limit` and `offset`. */
export function createNoteService(notes: NoteStore): AccountService<typeof Descriptor> {
  return {
    searchNotes: ({ query, limit = 0, offset = 0 }, scope) => notes.search(scope, query, { limit, offset }),
  };
}
