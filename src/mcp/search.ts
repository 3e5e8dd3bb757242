// The search tool: one query over contacts, sessions and notes, with results in the shape that general-purpose
// assistants expect.
import { isMessage } from "@bufbuild/protobuf";
import type { NameFields } from "../text/display-name.ts";
import { displayName, nameOfClient } from "../text/display-name.ts";
import { rejectInput } from "../call/errors.ts";
import { dateOf } from "../db/message.ts";
import { SearchNotesResponseSchema } from "../gen/records/v1/notes_pb.ts";
import { ListSessionsResponseSchema } from "../gen/records/v1/sessions_pb.ts";
import { partAround, placesIn } from "../search/excerpt.ts";
import { queryWords } from "../search/words.ts";
import { endOfCodePoint, endOfCodePoints, firstVisible, oneLine } from "../text/text.ts";
import { meantText } from "./arguments.ts";
import { incompleteHint, restContacts } from "./rows.ts";
import type { CallResult } from "./calls.ts";
import { truncateQuery } from "./first-words.ts";
import { keywords } from "./keywords.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { rejectOthers } from "./tool.ts";

/** A search result. */
interface Found {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  /** The date of a session or note, or of a contact's last change. */
  readonly date: unknown;
  readonly person: string | null;
  readonly snippet: string;
}

const maxResults = 20;
/** The maximum number of results from a list if none of its records has all the words. */
const maxPartialMatches = 7;
const snippetLength = 240;
/** More of a query is cut. A search uses far fewer words. */
const maxQueryLength = 1_000;
/** The most words of a query that a snippet is looked for by. */
const maxSnippetWords = 40;

/** The beginning of each text of a contact that is searched (`in_notes`), in code points. */
const maxTextInContact = 5_000;

const notSearched =
  "Not searched: archived contacts (search_contacts with state any), transcripts (search_transcripts), and dates (list_sessions).";

/** Searches for the keywords of a query, because models send sentences. Cuts long queries instead of rejecting them. */
export const searchTool: Tool = {
  name: "search",
  title: "Search contacts, sessions and notes",
  description:
    "Finds active contacts, sessions and notes at once, by a question or by words in names, emails, phones, titles, notes and memory, not by dates. Returns records with all the words, or else with most of them. Get the full record with fetch.",
  rest: "Long titles are cut: fetch returns the whole record.",
  empty: () =>
    `Nothing was found in names, emails, phones, titles, notes and memory. Try the person's name as it is written, or another word of the topic. ${notSearched}`,
  schemas: () => ({
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 2,
          description:
            "A question, or words to look for; each counts as the beginning of a word. A long text is cut to its first words.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        results: {
          type: "array",
          items: {
            type: "object",
            properties: {
              id: { type: "string", description: "Pass it to fetch." },
              title: { type: "string" },
              url: { type: "string" },
              date: {
                type: ["string", "null"],
                description: "When a session took place, a note was written, or a contact was last changed.",
              },
              person: { type: ["string", "null"], description: "The person that it is about." },
              snippet: { type: "string", description: "The text around the words." },
            },
          },
        },
      },
      required: ["results"],
    },
  }),
  async run(given, context) {
    rejectOthers(given, ["query"]);
    const sent = meantText("query", given["query"] ?? null);
    if (sent === null) return rejectInput([{ field: "query", rule: "required", message: "is required" }]);
    if (typeof sent !== "string") return rejectInput([{ field: "query", rule: "type", message: "must be a string" }]);
    const query = normalize(sent);
    if ([...query].length < 2)
      return rejectInput([{ field: "query", rule: "length", message: "must be at least 2 characters" }]);
    const words = [keywords(query), truncateQuery(query), [...query].slice(0, 100).join("")];
    const searchText = words.find((one) => [...one].length >= 2) ?? query;
    return searchAll({ sent: query, query: searchText }, context);
  },
};

/** Cuts the text, and replaces white space and lone surrogates by single blanks. */
function normalize(text: string): string {
  // A lone surrogate becomes U+FFFD.
  const readable = Buffer.from(text.slice(0, 10 * maxQueryLength))
    .toString()
    .replaceAll("\ufffd", " ");
  const spaced = readable.replace(/\s+/g, " ").trim();
  return spaced.slice(0, endOfCodePoint(spaced, maxQueryLength - 1)).trimEnd();
}

type Row = Readonly<Record<string, unknown>>;

/** The text that the model sent, and its keywords. */
interface SearchTexts {
  readonly sent: string;
  readonly query: string;
}

/** The maximum number of words in a text that may be a name as a whole: names can contain stop words, such as Will. */
const maxNameWords = 5;

async function searchAll(
  { sent, query }: SearchTexts,
  { calls, inbound, baseUrl }: ToolContext,
): Promise<{ readonly results: readonly Found[]; readonly truncated?: true; readonly hint?: string }> {
  let [hasMore, hasWhole, isIncomplete] = [false, false, false];
  const rowsOf = async (operation: string, given: Row): Promise<readonly Row[]> => {
    const result = await calls.call(operation, given, inbound);
    const rows = rowsWithSessions(result);
    const { pagination, incomplete } = result.body as {
      readonly pagination?: { readonly has_more: boolean };
      readonly incomplete?: boolean;
    };
    hasMore ||= pagination?.has_more ?? rows.length >= restContacts;
    isIncomplete ||= incomplete === true;
    hasWhole ||= rows.length > 0 && given["any_word"] !== true;
    return rows;
  };
  /** Finds the records with all the words. If there are none, finds those with most of them. */
  const find = async (operation: string, given: Row): Promise<readonly Row[]> => {
    const rows = await rowsOf(operation, { query, ...given });
    return rows.length > 0 ? rows : rowsOf(operation, { query, ...given, any_word: true, limit: maxPartialMatches });
  };
  const findNamed = async (): Promise<readonly Row[]> => {
    const isName = sent.length <= 100 && sent.split(/\s+/).length <= maxNameWords;
    const named = isName ? await rowsOf("searchContacts", { query: sent }) : [];
    return named.length > 0 ? named : find("searchContacts", {});
  };
  const words = wordsOf(query);
  const findContacts = async (): Promise<readonly (readonly Row[])[]> => {
    // One after the other, because an account may read only a few long results at a time.
    const named = await findNamed();
    const noted = await find("searchContacts", { in_notes: true });
    // Who has the words as a name is probably meant.
    isIncomplete &&= named.length === 0;
    return [named, noted];
  };
  const [contacts, sessions, notes] = await Promise.all([
    findContacts(),
    find("listSessions", { limit: 10 }),
    find("searchNotes", { limit: 15, with_context: true }),
  ]);
  const lists = [...contacts.map((rows) => rows.map(contactFound)), sessions.map(sessionFound), notes.map(noteFound)];
  // Interleaves the lists, so that many contacts with one name do not push out sessions and notes.
  const ranks = Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, rank) =>
    lists.flatMap((list) => list[rank] ?? []),
  );
  const all = new Map<string, Found>();
  for (const { kind, id, title, date, person, text = "" } of ranks.flat()) {
    const one = {
      id: `${kind}:${String(id)}`,
      title: title === undefined ? `Untitled ${kind}` : oneLine(title),
      url: recordUrl(baseUrl, kind, String(id)),
      date: date ?? null,
      person: person === undefined ? null : oneLine(person),
      snippet: snippetOf(oneLine(text), words),
    };
    const known = all.get(one.id);
    // A record found by its title may have no snippet. A note of it supplies one.
    if (known === undefined || known.snippet === "") all.set(one.id, { ...one, ...known, snippet: one.snippet });
  }
  const results = [...all.values()].slice(0, maxResults);
  const hasOthers = hasMore || all.size > maxResults;
  const isCut = hasOthers || isIncomplete;
  const hints = [
    results.length > 0 && !hasWhole && partialHint,
    isIncomplete && incompleteHint,
    hasOthers &&
      "There are more records: use rarer words, or page through search_contacts, list_sessions or search_notes.",
  ].filter((hint) => hint !== false);
  return { results, ...(isCut && { truncated: true }), ...(hints.length > 0 && { hint: hints.join(" ") }) };
}

const partialHint = `No record has all the words: these have some of them, and may be about other people or topics. ${notSearched}`;

/**
 * Returns the rows of a list. Those of sessions also have `person`, the name of their contact. Those of session notes
 * have the date of the session and the name of its contact, however it was found.
 */
function rowsWithSessions({ message, body }: CallResult): readonly Row[] {
  const rows = body["data"] as readonly Row[];
  if (isMessage(message, ListSessionsResponseSchema))
    return rows.map((row, at) => ({ ...row, person: nameOfClient(message.sessions[at]?.client) }));
  if (!isMessage(message, SearchNotesResponseSchema)) return rows;
  return rows.map((row, at) => {
    const { session, snippet } = message.notes[at] ?? {};
    const text = snippet ?? row["content"];
    if (session === undefined) return { ...row, content: text };
    const date = dateOf(session.sessionDate)?.toISOString() ?? null;
    return { ...row, content: text, session_date: date, person: nameOfClient(session.client) };
  });
}

/** The fields of a result, as a REST row supplies them. */
interface RowFound {
  readonly kind: string;
  readonly id: unknown;
  readonly title: string | undefined;
  readonly date: unknown;
  readonly person: string | undefined;
  readonly text: string | undefined;
}

function contactFound(row: Row): RowFound {
  const name = displayName(row as NameFields);
  const about = [textOf(row, "email"), textOf(row, "phone"), textOf(row, "notes"), textOf(row, "memory")];
  const text = about.flatMap((one) => one?.slice(0, endOfCodePoints(one, maxTextInContact)) ?? []).join(" · ");
  return { kind: "contact", id: row["id"], title: name, date: row["updated_at"], person: name, text };
}

function sessionFound(row: Row): RowFound {
  const person = textOf(row, "person");
  const [title, text] = [textOf(row, "title"), textOf(row, "subtitle")];
  return { kind: "session", id: row["id"], title, date: row["session_date"], person, text };
}

function noteFound(row: Row): RowFound {
  const [kind, label, text] = [String(row["kind"]), textOf(row, "parent_label"), textOf(row, "content")];
  if (kind === "contact")
    return { kind, id: row["parent_id"], title: label, date: row["created_at"], person: label, text };
  return { kind, id: row["parent_id"], title: label, date: row["session_date"], person: textOf(row, "person"), text };
}

/** Returns the first of these members that is a text with a visible character. */
function textOf(row: Row, ...names: readonly string[]): string | undefined {
  return firstVisible(...names.map((name) => row[name] as string | null | undefined));
}

/** Returns the words of a query, longest first. */
function wordsOf(query: string): string[] {
  const words = queryWords(query).filter(({ length }) => length > 1);
  return words.sort((one, other) => other.length - one.length).slice(0, maxSnippetWords);
}

/** Returns the part of a text around the first of the words that it has, or its beginning if it has none. */
function snippetOf(text: string, words: readonly string[]): string {
  if (text.length <= snippetLength) return text;
  const places = placesIn(text);
  const { from, to } = partAround(text, words.map(places.of).find((one) => one !== undefined) ?? 0, snippetLength);
  return `${from > 0 ? "… " : ""}${text.slice(from, to)}${to < text.length ? " …" : ""}`;
}

/** Returns the address of the page that shows a record to its owner. */
export function recordUrl(baseUrl: string, kind: string, id: string): string {
  return `${baseUrl}/${kind}s/${id}`;
}
