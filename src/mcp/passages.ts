// Finds the passages of transcripts that contain all words of a query, for get_session_transcript.
import { create } from "@bufbuild/protobuf";
import { meantText } from "./arguments.ts";
import type { Violation } from "../call/errors.ts";
import type { TranscriptPassage } from "../gen/records/v1/sessions_pb.ts";
import { SearchTranscriptsRequestSchema, SessionService } from "../gen/records/v1/sessions_pb.ts";
import { dateOf } from "../db/message.ts";
import type { Arguments, ToolContext } from "./tool.ts";

/** The arguments of a search for passages, in addition to `session_id`. */
export const passageArguments = {
  query: {
    type: "string",
    minLength: 2,
    maxLength: 100,
    description: "One or a few words: returns only the passages in which all of them were said.",
  },
} as const;

/** The members that a result has instead of a page. */
export const passageProperties = {
  passages: {
    type: "array",
    description: "With query: at most 20 passages.",
    items: {
      type: "object",
      properties: {
        session_id: { type: "string" },
        session_title: { type: ["string", "null"] },
        session_date: { type: ["string", "null"] },
        offset: { type: "integer", description: "To continue reading, pass it as offset." },
        text: { type: "string" },
      },
    },
  },
  complete: { type: "boolean", description: "With query: false if there may be more passages." },
} as const;

const rest = "There may be more passages. Use more words, or read the transcript page by page: leave out query.";

/**
 * Finds passages. `violations` contains those found before. Fails with INVALID_REQUEST, which names every invalid
 * argument, and with NOT_FOUND.
 */
export async function findPassages(
  given: Arguments,
  { calls, inbound }: ToolContext,
  violations: Violation[],
): Promise<Record<string, unknown>> {
  const text = (name: string): string | undefined => {
    const value = meantText(name, given[name] ?? "");
    if (typeof value !== "string") violations.push({ field: name, rule: "type", message: "must be a string" });
    return typeof value !== "string" || value === "" ? undefined : value;
  };
  const [query = "", sessionId] = [text("query"), text("session_id")];
  if (sessionId === undefined && violations.every(({ field }) => field !== "session_id"))
    violations.push({ field: "session_id", rule: "required", message: "is required" });
  const request = create(SearchTranscriptsRequestSchema, { query, ...(sessionId !== undefined && { sessionId }) });
  const found = await calls.invoke(SessionService.method.searchTranscripts, request, inbound, violations);
  const { complete } = found;
  return { passages: found.passages.map(passage), complete, ...(!complete && { truncated: true, hint: rest }) };
}

function passage({ sessionId, sessionTitle, sessionDate, offset, text }: TranscriptPassage): Record<string, unknown> {
  return {
    session_id: sessionId,
    session_title: sessionTitle ?? null,
    session_date: dateOf(sessionDate)?.toISOString() ?? null,
    offset,
    text,
  };
}
