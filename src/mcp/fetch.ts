// The fetch tool: returns the full text of a record that `search` found, in the shape that general-purpose assistants
// expect.
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { Failure, fail, rejectInput } from "../call/errors.ts";
import type { GetSessionResponse } from "../gen/records/v1/sessions_pb.ts";
import { sanitizeForEcho } from "../text/text.ts";
import type { Body, RecordText } from "./record-text.ts";
import { contactText, sessionText, shownPage } from "./record-text.ts";
import type { ContactRow, SessionRow } from "./rows.ts";
import { olderNotes } from "./rows.ts";
import { nameOfClient, nameOfContact, titleOfSession } from "../text/display-name.ts";
import type { RecordId } from "./record-id.ts";
import { parseId } from "./record-id.ts";
import { recordUrl } from "./search.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { rejectOthers } from "./tool.ts";
import { pageOf } from "./transcript.ts";

/** A record as text. */
export interface Fetched extends RecordText {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** How to get data of the record that the text leaves out. */
  readonly more?: string | undefined;
}

export const fetchTool: Tool = {
  name: "fetch",
  title: "Fetch a record",
  description:
    "Returns the full text of a contact or session that search found, by its id (contact:… or session:…). About 40,000 characters a page; metadata.next_id is the id of the next page.",
  rest: "Long texts are cut: fetch metadata.next_id.",
  empty: () => "The text ends before this offset: pass the id without it.",
  schemas: () => ({
    input: {
      type: "object",
      properties: {
        id: {
          type: "string",
          description:
            "An id from a search result: contact:<uuid> or session:<uuid>; or metadata.next_id of the previous page.",
        },
      },
      required: ["id"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        id: { type: "string" },
        title: { type: "string" },
        text: { type: "string" },
        url: { type: "string" },
        metadata: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["id", "title", "text", "url", "metadata"],
    },
  }),
  async run({ id, ...others }, context) {
    rejectOthers(others, ["id"]);
    const { kind, uuid, offset } = readId(id);
    const { nextId, hint, ...page } = pageWithHint(await fetchRecord(kind, uuid, context), offset);
    const metadata = { ...page.metadata, ...(nextId !== undefined && { next_id: nextId }) };
    return { ...page, metadata, ...(hint !== undefined && { truncated: true, hint }) };
  },
};

function readId(id: unknown): RecordId {
  return (
    parseId(id) ??
    rejectInput([
      { field: "id", rule: "form", message: "must be contact:<uuid> or session:<uuid>, as search returns it" },
    ])
  );
}

/** A page of a record's text. */
export interface FetchedPage extends Omit<Fetched, "quotedFrom"> {
  readonly nextId: string | undefined;
}

/**
 * Returns a page of a record's text, from an offset in characters. `nextId` is the id of the next page, if there is
 * one.
 */
export function pageOfRecord({ text, quotedFrom, ...record }: Fetched, offset: number): FetchedPage {
  const { start, end, next } = pageOf(text, offset, record);
  const page = shownPage({ text, quotedFrom }, start, end);
  return { ...record, text: page, nextId: next === null ? undefined : `${record.id}?offset=${next}` };
}

/** Returns a page of a record's text, and appends a hint on how to get the rest. */
export function pageWithHint(record: Fetched, offset: number) {
  const { text, more, nextId, ...page } = pageOfRecord(record, offset);
  // The offset is past the end, so there is nothing left to read.
  if (text === "") return { ...page, text, nextId, hint: undefined };
  const hint = nextId === undefined ? more : `The text continues: fetch ${nextId}`;
  return { ...page, text: hint === undefined ? text : `${text}\n\n(${hint})`, nextId, hint };
}

/**
 * Returns the record as text. Tries both kinds if `kind` is undefined. Fails with NOT_FOUND if the account has no such
 * record.
 */
export async function fetchRecord(kind: string | undefined, id: string, context: ToolContext): Promise<Fetched> {
  if (kind === "session") return fetchSession(id, context);
  if (kind === "contact") return fetchContact(id, context);
  return fetchContact(id, context)
    .catch((error: unknown) => (isUnknown(error) ? fetchSession(id, context) : Promise.reject(error)))
    .catch((error: unknown) =>
      isUnknown(error) ? fail(Reason.NOT_FOUND, { message: ofNoKind }) : Promise.reject(error),
    );
}

const ofNoKind =
  "There is no such record in this account. Check the id. search finds the ids of contacts and sessions.";

function isUnknown(error: unknown): boolean {
  return error instanceof Failure && error.reason === Reason.NOT_FOUND;
}

async function fetchContact(id: string, { calls, inbound, baseUrl }: ToolContext): Promise<Fetched> {
  const { body } = await calls.call("getContact", { contact_id: id }, inbound);
  const contact = body["data"] as Body & ContactRow;
  const title = nameOfContact(contact);
  return {
    id: `contact:${id}`,
    title,
    ...contactText(title, contact),
    url: recordUrl(baseUrl, "contact", id),
    metadata: { kind: "contact", ...storedTimes(contact) },
    more: olderNotes([contact]),
  };
}

async function fetchSession(id: string, { calls, inbound, baseUrl }: ToolContext): Promise<Fetched> {
  const [detail, transcript] = await Promise.all([
    calls.call("getSession", { session_id: id }, inbound),
    calls.call("getSessionTranscript", { session_id: id }, inbound),
  ]);
  const session = detail.body["data"] as Body & SessionRow;
  const title = titleOfSession(session);
  const person = nameOfClient((detail.message as GetSessionResponse).session?.client) ?? "Unnamed contact";
  return {
    id: `session:${id}`,
    title,
    ...sessionText({ title, session, person, spoken: transcript.body["data"] as Body }),
    url: recordUrl(baseUrl, "session", id),
    metadata: { kind: "session", date: session.session_date ?? "", ...storedTimes(session) },
  };
}

function storedTimes(record: Body): { readonly created_at: string; readonly updated_at: string } {
  return { created_at: String(record["created_at"]), updated_at: String(record["updated_at"]) };
}

/** Parses a resource URI such as `contact://<uuid>`. Fails with NOT_FOUND for any other text. */
export function recordOf(uri: string): { readonly kind: string; readonly id: string } {
  const [, kind, id] = /^(contact|session):\/\/([0-9a-f-]{36})$/i.exec(uri) ?? [];
  if (kind === undefined || id === undefined)
    return fail(Reason.NOT_FOUND, {
      message: `There is no resource ${sanitizeForEcho(uri, 100)}: it must be contact://<uuid> or session://<uuid>.`,
    });
  return { kind: kind.toLowerCase(), id: id.toLowerCase() };
}
