// The search_transcripts tool: what was said, across all sessions or a contact's, with who said it and when.
import { nameOfClient } from "../text/display-name.ts";
import { createArgumentReader } from "./arguments.ts";
import { table } from "../http/route.ts";
import { dateOf } from "../db/message.ts";
import type { SearchTranscriptsRequest, TranscriptPassage } from "../gen/records/v1/sessions_pb.ts";
import { SessionService } from "../gen/records/v1/sessions_pb.ts";
import type { Tool } from "./tool.ts";

const rpc = SessionService.method.searchTranscripts;
/** The arguments are those of list_sessions, except that this search requires a query. */
const ofSessions = table.find((route) => route.rpc === SessionService.method.listSessions)?.query ?? [];
const query = ofSessions.map((field) => (field.name === "query" ? { ...field, required: true } : field));
const readArguments = createArgumentReader({ rpc, path: [], query });

const text = { type: "string" } as const;

export const searchTranscriptsTool: Tool = {
  name: "search_transcripts",
  title: "Search transcripts",
  description:
    "Finds what was said in any session, or a contact's: sessions with every word of the query, newest first. Each has up to 3 passages. A word matches longer ones that begin so.",
  rest: "Pass pagination.next_offset as offset.",
  schemas: () => ({
    input: {
      type: "object",
      properties: {
        query: { ...text, minLength: 2, maxLength: 100, description: "The words to find." },
        contact_id: { ...text, description: "The contact of the sessions." },
        from: { ...text, description: "The first date or date-time." },
        to: { ...text, description: "The last date or date-time." },
        limit: { type: "integer", minimum: 1, maximum: 25, default: 10, description: "Sessions on a page." },
        offset: { type: "integer", minimum: 0, description: "Sessions to skip." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            properties: {
              session_id: text,
              client: { type: ["object", "null"] },
              passages: { type: "array", description: "Their text, offset and speaker." },
            },
          },
        },
        pagination: { type: "object" },
      },
    },
  }),
  empty: ({ offset, contact_id, from, to }, { hint }) => {
    if (Number(offset) > 0) return "There are no sessions at this offset. Use a smaller offset.";
    const narrowed = (contact_id ?? from ?? to ?? "") === "" ? "" : " or search without contact_id, from and to,";
    const notFound =
      typeof hint === "string" ? "Nothing was found in what was searched." : "No transcript has all these words.";
    return `${notFound} Use one or two other words,${narrowed} or search what was noted: use search_notes.`;
  },
  async run(given, { calls, inbound }) {
    const { message, violations } = readArguments(given);
    const found = await calls.invoke(rpc, message as SearchTranscriptsRequest, inbound, violations);
    const { passages, pagination, preparing } = found;
    const { limit, offset, hasMore, nextOffset = null } = pagination ?? { limit: 0, offset: 0, hasMore: false };
    const end = dateOf(found.searchedBackTo)?.toISOString();
    const hints = [
      hasMore && "There are more sessions: pass pagination.next_offset as offset.",
      end !== undefined && `The search ended at ${end}: pass it as to, without offset, to search older sessions.`,
      preparing && "Some transcripts are still being prepared for this search: repeat it in some minutes.",
      passages.some((passage) => passage.hasMore) &&
        "A session with more: true has more passages: get_session_transcript with its session_id and the query returns them.",
    ].filter((hint) => hint !== false);
    return {
      data: bySession(passages),
      pagination: { limit, offset, has_more: hasMore, next_offset: nextOffset },
      ...(!found.complete && { truncated: true, hint: hints.join(" ") || incomplete }),
    };
  },
};

const incomplete = "Older sessions may match, which were not searched: use more words.";

/** Groups the passages, which are in the order of their sessions. */
function bySession(passages: readonly TranscriptPassage[]): readonly object[] {
  const sessions = new Map<string, TranscriptPassage[]>();
  for (const passage of passages)
    sessions.set(passage.sessionId, [...(sessions.get(passage.sessionId) ?? []), passage]);
  return [...sessions].map(([session_id, own]) => {
    const [{ sessionTitle = null, sessionDate, client } = {} as Partial<TranscriptPassage>] = own;
    return {
      session_id,
      title: sessionTitle,
      session_date: dateOf(sessionDate)?.toISOString() ?? null,
      client: client === undefined ? null : { id: client.id, full_name: nameOfClient(client) ?? null },
      passages: own.map(({ speaker = null, offset, text: said }) => ({ speaker, offset, text: said })),
      ...(own.some(({ hasMore }) => hasMore) && { more: true }),
    };
  });
}
