// Public API of the package.
export { RecordsClient } from "./client.ts";
export { RecordsError } from "./error.ts";
export type { CallOptions } from "./call.ts";
export type { WriteOptions } from "./client.ts";
export type { Clock } from "./clock.ts";
export type { Fetch, RecordsClientOptions } from "./options.ts";
export type {
  Contact,
  ContactChanges,
  ContactQuery,
  ContactRecentSession,
  ContactTimelineNote,
  ErrorDetail,
  Health,
  NewContact,
  NewNote,
  NoteQuery,
  NoteSearchResult,
  Page,
  Pagination,
  SessionDetail,
  SessionNote,
  SessionQuery,
  SessionSummary,
  Transcript,
} from "./types.ts";
