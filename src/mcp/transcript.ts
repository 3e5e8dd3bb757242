// The get_session_transcript tool: returns a transcript page by page, because clients cut long results.
import { INT32_MAX } from "@bufbuild/protobuf/wire";
import { meantInteger } from "./arguments.ts";
import { toolSchemas } from "./tool-schema.ts";
import type { Violation } from "../call/errors.ts";
import { endOfCodePoint, endOfCodePoints } from "../text/text.ts";
import { resultBytes } from "./bounds.ts";
import { findPassages, passageArguments, passageProperties } from "./passages.ts";
import type { Arguments, Tool } from "./tool.ts";
import { rejectOthers } from "./tool.ts";

/** About 10,000 tokens of English, less than clients accept in one result. */
const pageCharacters = 40_000;
/** Bytes reserved for the rest of a page: its position, and how to get the next one. */
const overheadBytes = 1_500;

const rest = "Long texts are cut: pass next_offset, or a passage's offset without query, as offset.";

/** Returns the text as REST does, and the position of the page in Unicode characters. */
export const transcriptTool: Tool = {
  name: "get_session_transcript",
  title: "Get a session's transcript",
  description:
    "Returns the words of a session, 40,000 characters a page. The transcript is null if there is none yet. With query, returns only passages that contain all its words. To search several sessions, use search_transcripts.",
  rest,
  empty({ query, offset }, { complete }) {
    if (!isGiven(query))
      return Number(offset) > 0
        ? "The transcript ends before this offset: pass a smaller one."
        : "This session has no transcript: get_session has its notes. list_sessions with has_transcript finds sessions that have one.";
    if (complete !== true) return "No passage with all these words was found, but not everything was searched.";
    return "No passage has all these words. Use one or two other words, or read the transcript page by page, if there is one: leave out query.";
  },
  schemas(document) {
    const { input, output } = toolSchemas(document, "getSessionTranscript");
    const offset = {
      type: "integer",
      minimum: 0,
      maximum: INT32_MAX,
      default: 0,
      description: "How many characters of the transcript to skip: the next_offset of the previous page.",
    };
    const { properties } = output as unknown as { properties: object };
    const list = toolSchemas(document, "listSessions").output as unknown as { properties: { pagination: object } };
    return {
      input: {
        ...input,
        properties: { ...(input["properties"] as object), offset, ...passageArguments },
      },
      output: {
        ...output,
        properties: {
          ...properties,
          pagination: list.properties.pagination,
          ...passageProperties,
        },
      },
    };
  },
  async run(all, context) {
    rejectOthers(all, ["session_id", "offset", "query"]);
    const { offset: requested, query, ...given } = all;
    const { calls, inbound } = context;
    const violations: Violation[] = [];
    if (isGiven(query)) {
      if (readOffset(requested, violations) > 0)
        violations.push({ field: "offset", rule: "exclusive", message: "must not be given with query" });
      return findPassages(all, context, violations);
    }
    const offset = readOffset(requested, violations);
    const { body } = await calls.call("getSessionTranscript", given, inbound, violations);
    const data = body["data"] as { readonly transcript: string | null };
    const transcript = data.transcript ?? "";
    const { start, end, next } = pageOf(transcript, offset, { ...data, transcript: null });
    const page = transcript.slice(start, end);
    const pagination = { limit: pageCharacters, offset, has_more: next !== null, next_offset: next };
    const isCut = next !== null && next - offset < pageCharacters;
    return {
      data: { ...data, transcript: data.transcript === null ? null : page },
      pagination,
      ...(isCut && { truncated: true, hint: rest }),
    };
  },
};

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Parses the offset, which may also be a string such as "10". Adds an invalid one to `violations`, and returns 0. */
function readOffset(requested: Arguments[string], violations: Violation[]): number {
  if (requested === undefined || requested === null || requested === "") return 0;
  const offset = typeof requested === "string" ? meantInteger(requested) : requested;
  if (typeof offset === "number" && Number.isInteger(offset) && offset >= 0 && offset <= INT32_MAX) return offset;
  violations.push({ field: "offset", rule: "range", message: `must be a whole number from 0 to ${INT32_MAX}` });
  return 0;
}

/**
 * Returns a page of a text, cut between code points, as large as the rest of the result (`rest`) allows. Offsets
 * count code points. `next` is the offset of the next page, or null. `start` and `end` are where the page begins and
 * ends, in UTF-16 units. A page still fits when each of its lines is quoted.
 */
export function pageOf(
  text: string,
  offset: number,
  rest: object,
): { readonly start: number; readonly end: number; readonly next: number | null } {
  const maxBytes = resultBytes - overheadBytes - Buffer.byteLength(JSON.stringify(rest));
  const start = endOfCodePoints(text, offset);
  let [end, points, bytes] = [start, 0, 0];
  while (end < text.length && points < pageCharacters) {
    bytes += jsonBytesAt(text, end);
    if (bytes > maxBytes) break;
    end = endOfCodePoint(text, end);
    points++;
  }
  return { start, end, next: end < text.length ? offset + points : null };
}

/**
 * Returns the size of a code point in JSON, in bytes; for an escaped one and for a line break, which may be followed by
 * a mark, the maximum.
 */
function jsonBytesAt(text: string, at: number): number {
  const point = text.codePointAt(at) ?? 0;
  if (point < 0x20 || (point >= 0xd800 && point <= 0xdfff) || (point >= 0x84 && point <= 0x8d)) return 6;
  if (point === 0x2028 || point === 0x2029) return 6;
  if (point < 0x80) return point === 0x22 || point === 0x5c ? 2 : 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}
