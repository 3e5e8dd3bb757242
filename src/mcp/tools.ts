// The tools of the MCP surface, all read-only, with a row for each one that is a REST operation.
import { toolSchemas } from "../../gateway/tool-schema.ts";
import { periodOf } from "../instant.ts";
import type { Content } from "./bounds.ts";
import { fetchTool } from "./fetch.ts";
import type { ContactRow } from "./rows.ts";
import { olderNotes } from "./rows.ts";
import { searchTool } from "./search.ts";
import { searchTranscriptsTool } from "./search-transcripts.ts";
import type { Arguments, Tool } from "./tool.ts";
import { transcriptTool } from "./transcript.ts";

/** A tool that calls one REST operation. */
interface OperationTool extends Omit<Tool, "schemas" | "run"> {
  /** The rpc's name in the generated routes. */
  readonly operation: string;
  /** Returns a hint for each kind of data that the body may lack; undefined for data that it has. */
  more?(body: Content): readonly (string | undefined)[];
}

const pageOn = "The page is shorter than its limit, because long records fill it: pass next_offset as offset.";
const wordsRule =
  "Each word of the query must match the start of a word in the record; with any_word: true, only some must. Try fewer or different words.";
const fieldsOfContact = "No search covers a contact's fields notes and memory: get_contact returns them.";

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Returns the name of an enum value, which an argument may have in any case. */
const lower = (value: unknown): string | undefined => textOf(value)?.toLowerCase();

/** Returns why a list is empty regardless of the records; undefined if the arguments do not explain it. */
function emptyAnyway(records: string, { from, to, offset }: Arguments): string | undefined {
  const { first = -Infinity, last = Infinity } = periodOf(textOf(from), textOf(to));
  if (first > last) return `\`from\` is later than \`to\`, so no ${records} can match: swap them.`;
  return Number(offset) > 0 ? `There are no ${records}s at this offset. Use a smaller offset.` : undefined;
}

/** The maximum number of contacts in a response without pagination, which does not show whether there are more. */
const restContacts = 25;

const searchContacts: OperationTool = {
  name: "search_contacts",
  operation: "searchContacts",
  title: "Search contacts",
  description:
    "Finds people by name, email or phone; the beginning of each word is enough. At most 25, with their newest notes and last sessions; brief leaves those out, for lists. To include archived contacts, set state.",
  rest: "Long texts are cut and timelines shortened. get_contact returns more of one contact; fetch, with the id contact:<uuid>, returns both whole, page by page.",
  more({ data, pagination }) {
    const contacts = data as readonly ContactRow[];
    return [
      pagination === undefined && contacts.length === restContacts
        ? `There may be more contacts: pass offset ${restContacts} for the next ones.`
        : undefined,
      olderNotes(contacts),
    ];
  },
  empty(given) {
    const state = lower(given["state"]);
    const missing =
      state === "archived"
        ? "No archived contact was found. To search active contacts, omit state."
        : state === "any"
          ? "No contact was found."
          : "No active contact was found. To include archived contacts, set state to any.";
    return (
      emptyAnyway("contact", given) ??
      `${missing} ${wordsRule} Topics are in notes and sessions: use search_notes or list_sessions. ${fieldsOfContact}`
    );
  },
};

const getContact: OperationTool = {
  name: "get_contact",
  operation: "getContact",
  title: "Get a contact",
  description:
    "Returns one person, by the id of a contact: details, notes, memory, the 50 newest timeline notes, the last five sessions that took place.",
  empty: () =>
    "This contact has no timeline notes and no dated past sessions. For planned and undated sessions, call list_sessions with its contact_id.",
  more: ({ data }) => [olderNotes([data as ContactRow])],
  rest: "Long texts are cut, and the timeline may be shortened. fetch, with the id contact:<uuid>, returns both whole, page by page.",
};

const listSessions: OperationTool = {
  name: "list_sessions",
  operation: "listSessions",
  title: "List sessions",
  description:
    "Lists meetings, latest first, planned ones included; for past ones only, set `to` to the current time, such as 2026-01-31T09:30:00Z. Filter by contact, dates, or words in the title or the contact's name. For the next page, pass next_offset as offset.",
  rest: pageOn,
  empty: (given) =>
    emptyAnyway("session", given) ??
    `No session was found. Use a longer period, or fewer conditions. ${wordsRule} The query covers titles and the person's name. Use search_notes for what was noted, and search_transcripts for what was said.`,
};

const getSession: OperationTool = {
  name: "get_session",
  operation: "getSession",
  title: "Get a session",
  description:
    "Returns one meeting by its id, with all its notes: summaries, preparation, action items. The words spoken are in get_session_transcript.",
  empty: () => "This session has no notes. If it was recorded, get_session_transcript returns the words spoken.",
  rest: "Long notes are cut, and the last ones may be left out. fetch, with the id session:<uuid>, returns all of them page by page, and then the transcript.",
};

const ofNewestSessions =
  "No note of the contact's newest 50 sessions was found. For an older session, pass its session_id instead.";

const searchNotes: OperationTool = {
  name: "search_notes",
  operation: "searchNotes",
  title: "Search notes",
  description:
    "Finds notes of contacts and sessions by words, newest first, cut to 1,000 characters each. parent_id names the full record. With contact_id and kind session: notes of that contact's newest 50 sessions. For the next page, pass next_offset as offset.",
  rest: pageOn,
  empty: (given) =>
    emptyAnyway("note", given) ??
    `${given["contact_id"] && lower(given["kind"]) === "session" ? ofNewestSessions : "No note was found."} Use fewer conditions. ${wordsRule} list_sessions finds sessions by date or title; search_transcripts finds what was said. ${fieldsOfContact}`,
};

/** All tools, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  ...[searchContacts, getContact, listSessions, getSession].map(operationTool),
  transcriptTool,
  searchTranscriptsTool,
  operationTool(searchNotes),
  searchTool,
  fetchTool,
];

function operationTool({ operation, more, ...tool }: OperationTool): Tool {
  return {
    ...tool,
    schemas: (document) => toolSchemas(document, operation),
    async run(given, { calls, inbound }) {
      const { body } = await calls.call(operation, given, inbound);
      const hints = (more?.(body) ?? []).filter((hint) => hint !== undefined);
      return hints.length === 0 ? body : { ...body, truncated: true, hint: hints.join(" ") };
    },
  };
}
