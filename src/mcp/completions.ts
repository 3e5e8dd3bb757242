// Completions: contacts and sessions for what a user begins to type into a prompt or an address.
import { firstWords } from "./first-words.ts";
import { nameOfContact } from "./rows.ts";
import type { ContactRow, SessionRow } from "./rows.ts";
import type { ToolContext } from "./tool.ts";

/** Values for what is typed, the best first, each once, and whether there are others. Fails with a Failure. */
export type Complete = (typed: string, context: ToolContext) => Promise<{ values: string[]; hasMore: boolean }>;

/** A page of a list of REST. */
interface List<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly has_more: boolean };
}

const mostValues = 25;

/**
 * What can be completed: a prompt's name or a template of addresses, after its kind, and the argument. The names of
 * people are text that the search for them finds again.
 */
export const completers: ReadonlyMap<string, Complete> = new Map<string, Complete>([
  ["prompt prepare_meeting contact", (typed, context) => valuesOf(contacts(typed, context), nameOfContact)],
  ["prompt follow_up session_id", (typed, context) => valuesOf(sessions(typed, context), idOf)],
  ["resource contact://{id} id", (typed, context) => valuesOf(contacts(typed, context), idOf)],
  ["resource session://{id} id", (typed, context) => valuesOf(sessions(typed, context), idOf)],
]);

/** The active contacts with these words; the newest until there is enough of a word. */
async function contacts(typed: string, { calls, inbound }: ToolContext): Promise<List<ContactRow>> {
  const given = { ...queryOf(typed), limit: mostValues, brief: true };
  return (await calls.call("searchContacts", given, inbound)).body as unknown as List<ContactRow>;
}

/** The same of the sessions that have taken place, the last first. */
async function sessions(typed: string, { calls, inbound }: ToolContext): Promise<List<SessionRow>> {
  const given = { ...queryOf(typed), limit: mostValues, to: new Date().toISOString() };
  return (await calls.call("listSessions", given, inbound)).body as unknown as List<SessionRow>;
}

function queryOf(typed: string): { readonly query?: string } {
  const query = firstWords(typed);
  return [...query].length < 2 ? {} : { query };
}

async function valuesOf<Row>(list: Promise<List<Row>>, nameOf: (row: Row) => string | undefined): ReturnType<Complete> {
  const { data, pagination } = await list;
  return { values: [...new Set(data.flatMap((row) => nameOf(row) ?? []))], hasMore: pagination.has_more };
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}
