// get_session_transcript: a transcript page by page, for clients cut long results.
import { INT32_MAX } from "@bufbuild/protobuf/wire";
import { toolSchemas } from "../../gateway/tool-schema.ts";
import type { Violation } from "../errors.ts";
import { endOfCodePoints } from "../text.ts";
import type { Arguments, Tool } from "./tool.ts";
import { refuseOthers } from "./tool.ts";

/** About 10,000 tokens: below what clients take of one result. */
export const pageCharacters = 40_000;

/** The text as REST has it, and where this page stands in it, counted in Unicode characters. */
export const transcriptTool: Tool = {
  name: "get_session_transcript",
  title: "Get a session's transcript",
  description:
    "The words spoken in a session, 40,000 characters a page: page on with next_offset as offset until it is null. The transcript is null when there is none yet.",
  schemas(document) {
    const { input, output } = toolSchemas(document, "getSessionTranscript");
    const offset = {
      type: "integer",
      minimum: 0,
      maximum: INT32_MAX,
      default: 0,
      description: "How many characters of the transcript to skip: the next_offset of the page before.",
    };
    const { properties, required, $defs } = output as unknown as {
      properties: object;
      required: string[];
      $defs: object;
    };
    const pagination = toolSchemas(document, "listSessions").output as unknown as { $defs: { Pagination: object } };
    return {
      input: { ...input, properties: { ...(input["properties"] as object), offset } },
      output: {
        ...output,
        properties: {
          ...properties,
          pagination: {
            $ref: "#/$defs/Pagination",
            description: "Where this page stands in the transcript, in characters.",
          },
        },
        required: [...required, "pagination"],
        $defs: { ...$defs, Pagination: pagination.$defs.Pagination },
      },
    };
  },
  async run(all, { calls, inbound }) {
    refuseOthers(all, ["session_id", "offset"]);
    const { offset: asked, ...given } = all;
    const violations: Violation[] = [];
    const offset = readOffset(asked, violations);
    const { body } = await calls.call("getSessionTranscript", given, inbound, violations);
    const data = body["data"] as { readonly transcript: string | null };
    const { page, hasMore } = pageOf(data.transcript ?? "", offset);
    const pagination = {
      limit: pageCharacters,
      offset,
      has_more: hasMore,
      next_offset: hasMore ? offset + pageCharacters : null,
    };
    return { data: { ...data, transcript: data.transcript === null ? null : page }, pagination };
  },
};

function readOffset(asked: Arguments[string], violations: Violation[]): number {
  if (asked === undefined || asked === null) return 0;
  if (typeof asked === "number" && Number.isInteger(asked) && asked >= 0 && asked <= INT32_MAX) return asked;
  violations.push({ field: "offset", rule: "range", message: `must be a whole number from 0 to ${INT32_MAX}` });
  return 0;
}

/** A page of a text by code points; no character is parted. */
export function pageOf(text: string, offset: number): { readonly page: string; readonly hasMore: boolean } {
  const start = endOfCodePoints(text, 0, offset);
  const end = endOfCodePoints(text, start, pageCharacters);
  return { page: text.slice(start, end), hasMore: end < text.length };
}
