// The tools of the MCP surface, all of them reads: one row for each that is an operation of REST.
import { toolSchemas } from "../../gateway/tool-schema.ts";
import { fetchTool } from "./fetch.ts";
import { searchTool } from "./search.ts";
import type { Tool } from "./tool.ts";
import { transcriptTool } from "./transcript.ts";

const operations: readonly (readonly [name: string, operation: string, title: string, description: string])[] = [
  [
    "search_contacts",
    "searchContacts",
    "Search contacts",
    "Find people by name, email or phone; the beginning of each word is enough. At most 25, with their newest notes and last sessions.",
  ],
  [
    "get_contact",
    "getContact",
    "Get a contact",
    "Everything about one person, by the id of a contact: notes, memory, the newest timeline notes, the last sessions.",
  ],
  [
    "list_sessions",
    "listSessions",
    "List sessions",
    "Meetings, newest first: all, of one contact, between two dates, or with words of the title or the person. Page on with next_offset.",
  ],
  [
    "get_session",
    "getSession",
    "Get a session",
    "One meeting by its id, with all its notes: summaries, preparation, action items. The words spoken are in get_session_transcript.",
  ],
];
const noteSearch = [
  "search_notes",
  "searchNotes",
  "Search notes",
  "Find notes of contacts and sessions by their words, newest first, cut to 1,000 characters each. parent_id leads to the whole. Page on with next_offset.",
] as const;

/** All tools, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  ...operations.map(operationTool),
  transcriptTool,
  operationTool(noteSearch),
  searchTool,
  fetchTool,
];

function operationTool([name, operation, title, description]: (typeof operations)[number]): Tool {
  return {
    name,
    title,
    description,
    schemas: (document) => toolSchemas(document, operation),
    run: async (given, { calls, inbound }) => (await calls.call(operation, given, inbound)).body,
  };
}
