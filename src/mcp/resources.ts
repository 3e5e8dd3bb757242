// Resources: contacts and sessions as text, by URI, and a list of the newest ones.
import { nameOfContact, titleOfSession } from "../text/display-name.ts";
import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { endOfCodePoint } from "../text/text.ts";
import { fetchRecord, pageWithHint } from "./fetch.ts";
import type { ContactRow, SessionRow } from "./rows.ts";
import type { ToolContext } from "./tool.ts";

const mimeType = "text/markdown";
/** The maximum number of contacts, and of sessions, in the list. */
const maxListed = 25;
/** In UTF-16 units. Many clients show the list in a menu. */
const maxTitleLength = 100;

export const templates = [
  { name: "contact", title: "A contact", description: "A person with notes and the last sessions, as text." },
  {
    name: "session",
    title: "A session",
    description: "A session with its notes and its transcript, as text: the first page.",
  },
].map((template) => ({ uriTemplate: `${template.name}://{id}`, ...template, mimeType }));

/** Lists the newest active contacts and the latest past sessions. Fails with a Failure. */
export async function listResources({ calls, inbound }: ToolContext): Promise<Resource[]> {
  const [contacts, sessions] = await Promise.all([
    calls.call("searchContacts", { limit: maxListed, brief: true }, inbound),
    calls.call("listSessions", { limit: maxListed, to: new Date().toISOString() }, inbound),
  ]);
  return [
    ...(contacts.body["data"] as readonly ContactRow[]).map((row) =>
      resource("contact", row.id, nameOfContact(row), "A contact."),
    ),
    ...(sessions.body["data"] as readonly SessionRow[]).map((row) =>
      resource("session", row.id, titleOfSession(row), `A session on ${(row.session_date ?? "").slice(0, 10)}.`),
    ),
  ];
}

function resource(kind: string, id: string, title: string, description: string): Resource {
  const name = title.length <= maxTitleLength ? title : `${title.slice(0, endOfCodePoint(title, maxTitleLength - 2))}…`;
  return { uri: `${kind}://${id}`, name, description, mimeType };
}

/** Returns the first page of a record's text. Fails with a Failure. */
export async function readResource(
  uri: string,
  { kind, id }: { readonly kind: string; readonly id: string },
  context: ToolContext,
): Promise<ReadResourceResult> {
  const { text } = pageWithHint(await fetchRecord(kind, id, context), 0);
  return { contents: [{ uri, mimeType, text }] };
}
