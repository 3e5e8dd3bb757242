// Completions: suggests contacts and sessions while a user types a prompt argument or a resource URI.
import { displayName, nameOfContact } from "../text/display-name.ts";
import { queryWords } from "../search/words.ts";
import { oneLine } from "../text/text.ts";
import { truncateQuery } from "./first-words.ts";
import type { ContactRow, SessionRow } from "./rows.ts";
import type { ToolContext } from "./tool.ts";

/** Returns distinct values for the typed text, best first, and whether there are more. Fails with a Failure. */
export type Complete = (typed: string, context: ToolContext) => Promise<{ values: string[]; hasMore: boolean }>;

/** A page of a REST list. */
interface List<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly has_more: boolean };
}

const maxValues = 25;

/** The completers, by kind, name of the prompt or URI template, and argument. */
export const completers: ReadonlyMap<string, Complete> = new Map<string, Complete>([
  ["prompt prepare_meeting contact", (typed, context) => valuesOf(contacts(typed, context), namesOf)],
  ["prompt follow_up session_id", (typed, context) => valuesOf(sessions(typed, context), idsOf)],
  ["resource contact://{id} id", (typed, context) => valuesOf(contacts(typed, context), idsOf)],
  ["resource session://{id} id", (typed, context) => valuesOf(sessions(typed, context), idsOf)],
]);

/** Finds the active contacts that match the words. Returns the newest ones until 2 characters are typed. */
async function contacts(typed: string, { calls, inbound }: ToolContext): Promise<List<ContactRow>> {
  const given = { ...queryOf(typed), limit: maxValues, brief: true };
  return (await calls.call("searchContacts", given, inbound)).body as unknown as List<ContactRow>;
}

/** Finds the past sessions that match the words. Returns the latest ones until 2 characters are typed. */
async function sessions(typed: string, { calls, inbound }: ToolContext): Promise<List<SessionRow>> {
  const given = { ...queryOf(typed), limit: maxValues, to: new Date().toISOString() };
  return (await calls.call("listSessions", given, inbound)).body as unknown as List<SessionRow>;
}

function queryOf(typed: string): { readonly query?: string } {
  const query = truncateQuery(typed);
  return [...query].length < 2 ? {} : { query };
}

async function valuesOf<Row>(
  list: Promise<List<Row>>,
  namesOfRows: (rows: readonly Row[]) => string[],
): ReturnType<Complete> {
  const { data, pagination } = await list;
  return { values: namesOfRows(data), hasMore: pagination.has_more };
}

/**
 * Returns the text by which the prompt finds each contact: its name. If contacts share a name, the email is added.
 * Without an email, or if the search of the prompt cannot take the text, the id is used instead.
 */
function namesOf(rows: readonly ContactRow[]): string[] {
  const names = rows.map((row) => (displayName(row) === undefined ? undefined : nameOfContact(row)));
  return rows.flatMap(({ id, email }, at) => {
    const name = names[at];
    if (name === undefined) return [];
    const isShared = names.indexOf(name) !== names.lastIndexOf(name);
    const text = isShared ? email && `${name} ${oneLine(email)}` : name;
    return text !== null && isSearchable(text) ? text : `contact:${id}`;
  });
}

/** Whether a search takes the whole text, and finds something by it. */
function isSearchable(text: string): boolean {
  return truncateQuery(text) === text && [...text].length >= 2 && queryWords(text).length > 0;
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
