// Prompts that a user picks in an assistant, with the records that they need.
import { nameOfContact } from "../text/display-name.ts";
import { rejectInput } from "../call/errors.ts";
import { oneLine } from "../text/text.ts";
import { bounded } from "./bounds.ts";
import type { Fetched } from "./fetch.ts";
import { fetchRecord, pageOfRecord } from "./fetch.ts";
import { truncateQuery } from "./first-words.ts";
import { keywords } from "./keywords.ts";
import { parseId } from "./record-id.ts";
import type { ContactRow, SessionRow } from "./rows.ts";
import type { ToolContext } from "./tool.ts";
import type { RequestWithRecords } from "./untrusted.ts";

/** A prompt that builds a message to the model. Record text stays separate, so that it can be fenced. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  /** Builds the message. Fails with a Failure. */
  build(given: Readonly<Record<string, string>>, context: ToolContext): Promise<RequestWithRecords>;
}

export const prompts: readonly Prompt[] = [
  {
    name: "prepare_meeting",
    title: "Prepare for a meeting",
    description: "What to know before meeting a person: who they are, what was said last, what is open.",
    arguments: [{ name: "contact", description: "The name, email, phone or id of the person.", required: true }],
    async build({ contact = "" }, context) {
      const { record, others } = await findContact(contact, context);
      const request = `Prepare me for a meeting with this person. Say in a few lines who they are, what we spoke about \
last, what either side promised and what is still open. Suggest three good questions to ask. If the notes are not \
enough, read the last sessions with get_session and get_session_transcript. If you do not know something, say so.`;
      return withOthers(withRecord(joined(request, await nextSession(record, context)), record), others);
    },
  },
  {
    name: "follow_up",
    title: "Write a follow-up",
    description: "A message after a session: thanks, what was agreed, who does what by when.",
    arguments: [
      {
        name: "session_id",
        description: "The id of the session; by default, the most recent past session.",
        required: false,
      },
    ],
    async build({ session_id }, context) {
      const id = idOf("session", session_id) ?? (session_id || (await lastSession(context)));
      const record = await fetchRecord("session", id, context);
      const request = `Write a short follow-up message to the client of this session: thanks, what was agreed, who \
does what by when, and the next date if there is one. Use only the facts in its record, in the language of the conversation.`;
      return withRecord(request, record);
    },
  },
  {
    name: "catch_up",
    title: "Catch up on a topic",
    description: "What was noted about a topic, in chronological order.",
    arguments: [{ name: "topic", description: "One or a few words.", required: true }],
    async build({ topic = "" }, { calls, inbound }) {
      const about = words("topic", topic);
      const query = keywords(topic);
      const find = async (any_word: boolean | null): Promise<readonly unknown[]> =>
        (await calls.call("searchNotes", { query, limit: 25, any_word }, inbound)).body["data"] as readonly unknown[];
      const whole = await find(null);
      const notes = whole.length > 0 ? whole : await find(true);
      if (notes.length === 0) {
        const request = `Summarize everything about "${about}". No note was found with these words. Try search_notes \
with fewer or different words, search_transcripts for what was said, list_sessions, and get_contact for the fields notes and memory of a person. If there is \
nothing, say where you have looked.`;
        return { request };
      }
      const request = `Summarize everything about "${about}" in chronological order. Name who said or wrote each \
point, and list what is still open. These are ${whole.length > 0 ? "the newest notes" : "notes with some of the words, which may be about something else"}; \
search_notes and get_session find more, and search_transcripts finds what was said.`;
      const { data, truncated } = bounded({ data: notes }, "").content;
      const more = truncated
        ? "Long notes below are cut. search_notes with a smaller limit returns more of them."
        : undefined;
      return { request: joined(request, more), records: JSON.stringify({ data }) };
    },
  },
];

/**
 * Adds the first page of the record to the request. The request says how to read on, because a model must not follow
 * instructions in a record.
 */
function withRecord(request: string, record: Fetched): RequestWithRecords {
  const { text, nextId, more } = pageOfRecord(record, 0);
  const rest =
    nextId === undefined
      ? undefined
      : `The record below is incomplete. First read the rest: call fetch with the id ${nextId}, and then with each next_id.`;
  return { request: joined(request, rest, more), records: text };
}

function joined(...sentences: readonly (string | undefined)[]): string {
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}

/** Returns the UUID in an argument that names a record of this kind; undefined for any other argument. */
function idOf(kind: string, given: string | undefined): string | undefined {
  const id = parseId(given);
  return id !== undefined && (id.kind ?? kind) === kind ? id.uuid : undefined;
}

/** The maximum number of contacts listed in addition to the one that a prompt is about. */
const maxOthers = 5;

/** Finds the contact that an argument names. `others` are further contacts that match, without the long texts. */
async function findContact(
  given: string,
  context: ToolContext,
): Promise<{ readonly record: Fetched; readonly others: readonly ContactRow[] }> {
  const id = idOf("contact", given);
  if (id !== undefined) return { record: await fetchRecord("contact", id, context), others: [] };
  const query = { query: words("contact", given), brief: true, limit: maxOthers + 1 };
  const { body } = await context.calls.call("searchContacts", query, context.inbound);
  const [first, ...others] = body["data"] as readonly ContactRow[];
  return first === undefined
    ? rejectInput([{ field: "contact", rule: "unknown", message: "does not match an active contact" }])
    : { record: await fetchRecord("contact", first.id, context), others };
}

/** Adds the other contacts that may be meant. Their names and emails are record text too. */
function withOthers({ request, records = "" }: RequestWithRecords, others: readonly ContactRow[]): RequestWithRecords {
  if (others.length === 0) return { request, records };
  const say = `Other contacts match as well, and at most ${maxOthers} of them are listed below the record. First say which contact this is, with the email, and which others there are.`;
  const lines = others.map((row) => `- ${nameOfContact(row)}, ${oneLine(row.email ?? "no email")} (contact:${row.id})`);
  return { request: joined(request, say), records: `${records}\n\n## Other contacts\n${lines.join("\n")}` };
}

/**
 * Returns the words of an argument that a search accepts. Fails with INVALID_REQUEST if they have fewer than 2
 * characters.
 */
function words(argument: string, given: string): string {
  const query = truncateQuery(given);
  return [...query].length < 2
    ? rejectInput([{ field: argument, rule: "length", message: "must be given, with at least 2 characters" }])
    : query;
}

/** Names the next session with a contact, which the record does not have; undefined if none is planned. */
async function nextSession({ id }: Fetched, { calls, inbound }: ToolContext): Promise<string | undefined> {
  const given = { contact_id: parseId(id)?.uuid ?? null, order: "soonest", limit: 1 };
  const [next] = (await calls.call("listSessions", given, inbound)).body["data"] as readonly SessionRow[];
  return next && `Their next session is ${next.id}, at ${next.session_date}: read its notes with get_session.`;
}

async function lastSession({ calls, inbound }: ToolContext): Promise<string> {
  const { body } = await calls.call("listSessions", { to: new Date().toISOString(), limit: 1 }, inbound);
  const [last] = body["data"] as readonly { readonly id: string }[];
  return (
    last?.id ??
    rejectInput([
      { field: "session_id", rule: "unknown", message: "is required, because no session has taken place yet" },
    ])
  );
}
