// Prompts that a user picks in an assistant: the records that they need come with them.
import { rejectInput } from "../errors.ts";
import { bounded } from "./bounds.ts";
import type { Fetched } from "./fetch.ts";
import { fetchRecord, pageOfRecord } from "./fetch.ts";
import { firstWords } from "./first-words.ts";
import type { ToolContext } from "./tool.ts";
import type { RequestWithRecords } from "./untrusted.ts";

/** A prompt and its message to the model, with record text separate, so that it can be fenced. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  /** Fails with a Failure. */
  build(given: Readonly<Record<string, string>>, context: ToolContext): Promise<RequestWithRecords>;
}

export const prompts: readonly Prompt[] = [
  {
    name: "prepare_meeting",
    title: "Prepare for a meeting",
    description: "What to know before meeting a person: who they are, what was said last, what is open.",
    arguments: [{ name: "contact", description: "The name, email or phone of the person.", required: true }],
    async build({ contact = "" }, context) {
      const record = await findContact(contact, context);
      const request = `Prepare me for a meeting with this person. Say in a few lines who they are, what we spoke about \
last, what was promised and is open on either side, and three good questions to ask. Read the last sessions with \
get_session and get_session_transcript where their notes are not enough. Say so where you do not know.`;
      return withRecord(request, record);
    },
  },
  {
    name: "follow_up",
    title: "Write a follow-up",
    description: "A message after a session: thanks, what was agreed, who does what by when.",
    arguments: [
      {
        name: "session_id",
        description: "The id of the session; without it the last one that took place.",
        required: false,
      },
    ],
    async build({ session_id }, context) {
      const id = session_id?.replace(/^session:/, "") || (await lastSession(context));
      const record = await fetchRecord("session", id, context);
      const request = `Write a short follow-up message to the client of this session: thanks, what was agreed, who \
does what by when, the next date if there is one. Use only the facts in its record, in the language of the conversation.`;
      return withRecord(request, record);
    },
  },
  {
    name: "catch_up",
    title: "Catch up on a topic",
    description: "Everything that was noted about a topic, in the order of time.",
    arguments: [{ name: "topic", description: "One or a few words.", required: true }],
    async build({ topic = "" }, { calls, inbound }) {
      const { body } = await calls.call("searchNotes", { query: words("topic", topic), limit: 25 }, inbound);
      const notes = body["data"] as readonly unknown[];
      if (notes.length === 0) {
        const request = `Tell me what there is about "${topic}". Nothing was noted with these words: try search_notes \
with fewer or other words, and list_sessions; say so if there is nothing.`;
        return { request };
      }
      const request = `Tell me what there is about "${topic}", in the order of time, with who said or wrote it, and \
what is still open. These are the newest notes; search_notes and get_session find more.`;
      const { data, truncated } = bounded({ data: notes }, "").content;
      const more = truncated
        ? "Long notes below are cut: search_notes with a smaller limit returns more of them."
        : undefined;
      return { request: joined(request, more), records: JSON.stringify({ data }) };
    },
  },
];

/** The request with the first page of the record. How to read on is a part of the request: nobody obeys the record. */
function withRecord(request: string, record: Fetched): RequestWithRecords {
  const { text, nextId, more } = pageOfRecord(record, 0);
  const rest =
    nextId === undefined
      ? undefined
      : `The record is longer than what is below: first read the rest with fetch, from the id ${nextId} on.`;
  return { request: joined(request, rest, more), records: text };
}

function joined(...sentences: readonly (string | undefined)[]): string {
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}

async function findContact(query: string, context: ToolContext): Promise<Fetched> {
  const { body } = await context.calls.call("searchContacts", { query: words("contact", query) }, context.inbound);
  const [first] = body["data"] as readonly { readonly id: string }[];
  return first === undefined
    ? rejectInput([{ field: "contact", rule: "unknown", message: "does not match a contact" }])
    : fetchRecord("contact", first.id, context);
}

/** What a search takes of an argument. */
function words(argument: string, given: string): string {
  const query = firstWords(given);
  return [...query].length < 2
    ? rejectInput([{ field: argument, rule: "length", message: "must be given, with at least 2 characters" }])
    : query;
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
