// The tools of the MCP surface, all read-only, with a row for each one that is a REST operation.
import type { Message } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { toolSchemas } from "./tool-schema.ts";
import { dateOf } from "../db/message.ts";
import { SearchContactsResponseSchema } from "../gen/records/v1/contacts_pb.ts";
import { SearchNotesResponseSchema } from "../gen/records/v1/notes_pb.ts";
import { maxSessionsOfOwner } from "../notes/store.ts";
import { maxLookedUp } from "../sessions/store.ts";
import { periodOf } from "../text/instant.ts";
import type { Content } from "./bounds.ts";
import { pageOn } from "./bounds.ts";
import { fetchTool } from "./fetch.ts";
import type { ContactRow } from "./rows.ts";
import { incompleteHint, olderNotes, restContacts } from "./rows.ts";
import { searchTool } from "./search.ts";
import { searchTranscriptsTool } from "./search-transcripts.ts";
import type { Arguments, Tool, ToolContext } from "./tool.ts";
import { transcriptTool } from "./transcript.ts";
import { whoamiTool } from "./whoami.ts";

/** A tool that calls one REST operation. */
interface OperationTool extends Omit<Tool, "schemas" | "run"> {
  /** The rpc's name in the generated routes. */
  readonly operation: string;
  /** Arguments that a model need not know. */
  readonly hidden?: readonly string[];
  /** Completes the arguments of a call. */
  complete?(given: Arguments): Arguments;
  /** Properties that the rows have beyond those of REST, by name. */
  readonly rowProperties?: Readonly<Record<string, object>>;
  /** Returns the rows with these properties, from the response. */
  rows?(rows: readonly Row[], message: Message, given: Arguments): readonly Row[];
  /** Returns a hint for each kind of data that the body may lack; undefined for data that it has. */
  more?(body: Content): readonly (string | undefined)[];
  /** Returns a hint on the records that a bounded search left out; undefined if it left out none. */
  unsearched?(given: Arguments, body: Content, context: ToolContext): Promise<string | undefined>;
  /** Returns a hint on what is nearest to an empty list; undefined if there is nothing. */
  nearest?(given: Arguments, context: ToolContext): Promise<string | undefined>;
}

/** Says how the words of a query match, and a blank; nothing without a query. */
const wordsRule = ({ query, any_word: anyWord }: Arguments): string =>
  isMissing(query)
    ? ""
    : `${isTrue(anyWord) ? "" : "Each word of the query must match the start of a word in the record; with any_word: true, only some must. "}Try fewer or different words. `;
const fieldsOfContact = "search_contacts with in_notes searches the fields notes and memory of contacts.";

const filtersOfContact = ["has_email", "last_session_before", "phone_ends_with"];

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

const isTrue = (value: unknown): boolean => String(value).trim().toLowerCase() === "true";

/** Returns the name of an enum value, which an argument may have in any case and between blanks. */
const lower = (value: unknown): string | undefined => textOf(value)?.trim().toLowerCase();

/** Returns why a list is empty regardless of the records; undefined if the arguments do not explain it. */
function emptyAnyway(records: string, { from, to, offset }: Arguments): string | undefined {
  const { first = -Infinity, last = Infinity } = periodOf(textOf(from), textOf(to));
  if (first > last) return `\`from\` is later than \`to\`, so no ${records} can match: swap them.`;
  return Number(offset) > 0 ? `There are no ${records}s at this offset. Use a smaller offset.` : undefined;
}

/** Returns when a list without `from` begins: now, if the soonest session is wanted. */
const beginningOf = ({ order, to }: Arguments): number =>
  lower(order) === "soonest" && isMissing(to) ? Date.now() : -Infinity;

/** Returns a hint with the sessions that are nearest to a period without any. */
async function nearestSessions(given: Arguments, { calls, inbound }: ToolContext): Promise<string | undefined> {
  const { first = beginningOf(given), last = Infinity } = periodOf(textOf(given["from"]), textOf(given["to"]));
  if (first > last || Number(given["offset"] ?? 0) > 0) return undefined;
  const find = async (which: string, at: number, period: (time: string) => Arguments): Promise<string | undefined> => {
    if (!Number.isFinite(new Date(at).getTime())) return undefined;
    const one = { ...given, limit: 1, offset: 0, from: null, to: null, ...period(new Date(at).toISOString()) };
    const [row] = (await calls.call("listSessions", one, inbound)).body["data"] as readonly Row[];
    return row && `The ${which} session is ${textOf(row["id"])}, at ${textOf(row["session_date"])}.`;
  };
  const found = await Promise.all([
    find("next", last + 1, (from) => ({ from, order: "soonest" })),
    find("previous", first - 1, (to) => ({ to, order: null })),
  ]);
  return found.filter((hint) => hint !== undefined).join(" ") || undefined;
}

type Row = Readonly<Record<string, unknown>>;

const isLastPage = ({ pagination }: Content): boolean =>
  (pagination as { readonly has_more?: boolean } | undefined)?.has_more === false;

/** Returns how to go on behind the sessions whose transcripts or notes were looked up; undefined after the last ones. */
async function unsearchedSessions(given: Arguments, body: Content, { calls, inbound }: ToolContext) {
  if ((isMissing(given["has_transcript"]) && isMissing(given["has_notes"])) || !isLastPage(body)) return undefined;
  const all = { ...given, has_transcript: null, has_notes: null, limit: 2, offset: maxLookedUp - 1 };
  const [last, next] = (await calls.call("listSessions", all, inbound)).body["data"] as readonly Row[];
  if (next === undefined) return undefined;
  const name = lower(given["order"]) === "soonest" ? "from" : "to";
  return `Only ${maxLookedUp} sessions were searched, to ${textOf(last?.["session_date"]) ?? "undated ones"}: to go on, pass this date as ${name}, without offset.`;
}

/** Returns how to find the notes of a contact's older sessions; undefined if it has none. */
async function unsearchedNotes(given: Arguments, body: Content, { calls, inbound }: ToolContext) {
  const { contact_id, kind } = given;
  if (isMissing(contact_id) || lower(kind) !== "session" || !isLastPage(body)) return undefined;
  const older = { contact_id, limit: 1, offset: maxSessionsOfOwner };
  const { data } = (await calls.call("listSessions", older, inbound)).body as { readonly data: readonly Row[] };
  return data.length === 0
    ? undefined
    : `Only notes of the contact's newest ${maxSessionsOfOwner} sessions are listed: list_sessions with the contact_id and offset ${maxSessionsOfOwner} returns the others, and search_notes takes their session_id.`;
}

/** Returns the contacts with the dates of their last sessions. Brief ones do not have the members that are left out. */
function contactRows(rows: readonly Row[], message: Message): readonly Row[] {
  if (!isMessage(message, SearchContactsResponseSchema) || message.pagination === undefined) return rows;
  return rows.map((row, at) => {
    const last = dateOf(message.contacts[at]?.lastSessionDate)?.toISOString();
    return last === undefined ? row : { ...row, last_session_date: last };
  });
}

/** Leaves out the members that brief rows do not have, and those that are null. */
function briefRow(row: Row): Row {
  const members = Object.entries(row).filter(([name, value]) => value !== null && !longMembers.has(name));
  return Object.fromEntries(members);
}

const longMembers = new Set(["notes", "memory", "notes_timeline", "recent_sessions"]);

/** Returns the notes with their snippets. */
function noteRows(rows: readonly Row[], message: Message): readonly Row[] {
  if (!isMessage(message, SearchNotesResponseSchema)) return rows;
  return rows.map((row, at) => {
    const snippet = message.notes[at]?.snippet;
    return snippet === undefined ? row : { ...row, snippet };
  });
}

const searchContacts: OperationTool = {
  name: "search_contacts",
  operation: "searchContacts",
  title: "Search contacts",
  // A request without a query needs another argument (`optional_beyond_rest`).
  complete: (given) => (isMissing(given["query"]) && isMissing(given["offset"]) ? { ...given, offset: 0 } : given),
  rowProperties: { last_session_date: { type: "string" } },
  rows: (rows, message, given) =>
    isTrue(given["brief"]) ? contactRows(rows, message).map(briefRow) : contactRows(rows, message),
  description:
    "Finds people by name, email or phone; word beginnings are enough. Without query: the newest. Includes newest notes and last sessions, unless brief. For a company or topic, set in_notes; for whom one has not met since, last_session_before.",
  rest: "Long texts are cut and timelines shortened. get_contact returns more of one contact; fetch, with the id contact:<uuid>, returns both whole, page by page.",
  more({ data, pagination, incomplete }) {
    const contacts = data as readonly ContactRow[];
    return [
      pagination === undefined && contacts.length === restContacts
        ? `There may be more contacts: pass offset ${restContacts} for the next ones.`
        : undefined,
      incomplete === true ? incompleteHint : undefined,
      olderNotes(contacts),
    ];
  },
  empty(given) {
    const [state, inNotes] = [lower(given["state"]), isTrue(given["in_notes"])];
    const missing = inNotes
      ? "No notes or memory of an active contact were found. To search names, emails and phones, omit in_notes."
      : state === "archived"
        ? "No archived contact was found. To search active contacts, omit state."
        : state === "any"
          ? "No contact was found."
          : "No active contact was found. To include archived contacts, set state to any.";
    const isFiltered = filtersOfContact.some((name) => !isMissing(given[name]));
    return (
      emptyAnyway("contact", given) ??
      `${missing} ${isFiltered ? "Use fewer conditions. " : ""}${wordsRule(given)}Topics are in notes and sessions: use search_notes or list_sessions.${inNotes ? "" : ` ${fieldsOfContact}`}`
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
    "Lists meetings, latest first, planned ones included; for past ones only, set `to` to the current time, such as 2026-01-31T09:30:00Z. For the next ones, set order to soonest. Filter by contact, dates, or words in titles and names.",
  rest: pageOn,
  nearest: nearestSessions,
  unsearched: unsearchedSessions,
  empty: (given) =>
    emptyAnyway("session", given) ??
    `${beginningOf(given) > 0 && isMissing(given["from"]) ? "No session is planned." : "No session was found."} Use a longer period, or fewer conditions. For the next meeting, set order to soonest, without \`to\`.${isMissing(given["contact_name"]) ? "" : " contact_name finds no misspelt names: search_contacts does, and list_sessions takes the id of its result as contact_id."}${isMissing(given["contact_id"]) ? "" : " Check that contact_id is the id of a contact."} ${wordsRule(given)}The query covers titles and the person's name. Use search_notes for what was noted, and search_transcripts for what was said.`,
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

/** Says which notes of a contact were searched. */
function noNoteOf({ contact_id, kind }: Arguments): string {
  if (isMissing(contact_id)) return "No note was found.";
  return lower(kind) === "session"
    ? "No note of the contact's newest 50 sessions was found. For an older session, pass its session_id instead."
    : "No note of the contact itself was found. For those of its sessions, set kind to session.";
}

const searchNotes: OperationTool = {
  name: "search_notes",
  operation: "searchNotes",
  title: "Search notes",
  hidden: ["with_context", "with_snippet"],
  complete: (given) => ({ ...given, with_snippet: true }),
  rowProperties: { snippet: { type: "string" } },
  rows: noteRows,
  unsearched: unsearchedNotes,
  description:
    "Finds notes of contacts and sessions by words, or the newest ones, cut to 1,000 characters each. parent_id names the full record. With contact_id and kind session: notes of that contact's newest 50 sessions.",
  rest: pageOn,
  empty: (given) =>
    emptyAnyway("note", given) ??
    `${noNoteOf(given)} Use fewer conditions. ${wordsRule(given)}list_sessions finds sessions by date or title; search_transcripts finds what was said. ${fieldsOfContact}`,
};

/** All tools, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  ...[searchContacts, getContact, listSessions, getSession].map(operationTool),
  transcriptTool,
  searchTranscriptsTool,
  operationTool(searchNotes),
  searchTool,
  fetchTool,
  whoamiTool,
];

function operationTool(row: OperationTool): Tool {
  const { operation, more, nearest, unsearched, hidden = [], complete, rowProperties, rows, ...tool } = row;
  return {
    ...tool,
    schemas(document) {
      const { input, output } = toolSchemas(document, operation, rowProperties);
      const shown = Object.entries(input["properties"] as object).filter(([name]) => !hidden.includes(name));
      return { input: { ...input, properties: Object.fromEntries(shown) }, output };
    },
    async run(given, context) {
      const { calls, inbound } = context;
      const response = await calls.call(operation, complete?.(given) ?? given, inbound);
      const body =
        rows === undefined
          ? response.body
          : { ...response.body, data: rows(response.body["data"] as readonly Row[], response.message, given) };
      const left = await unsearched?.(given, response.body, context);
      const hints = [...(more?.(response.body) ?? []), left].filter((hint) => hint !== undefined);
      if (hints.length > 0) return { ...body, truncated: true, hint: hints.join(" ") };
      const { data } = response.body;
      const hint = Array.isArray(data) && data.length === 0 ? await nearest?.(given, context) : undefined;
      return hint === undefined ? body : { ...body, hint };
    },
  };
}
