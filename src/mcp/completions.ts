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

/** What can be completed: a prompt's name or a template of addresses, after its kind, and the argument. */
export const completers: ReadonlyMap<string, Complete> = new Map<string, Complete>([
  ["prompt prepare_meeting contact", (typed, context) => valuesOf(contacts(typed, context), namesOf)],
  ["prompt follow_up session_id", (typed, context) => valuesOf(sessions(typed, context), idsOf)],
  ["resource contact://{id} id", (typed, context) => valuesOf(contacts(typed, context), idsOf)],
  ["resource session://{id} id", (typed, context) => valuesOf(sessions(typed, context), idsOf)],
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

async function valuesOf<Row>(
  list: Promise<List<Row>>,
  namesOfRows: (rows: readonly Row[]) => string[],
): ReturnType<Complete> {
  const { data, pagination } = await list;
  return { values: namesOfRows(data), hasMore: pagination.has_more };
}

/** What the prompt finds each contact by: the name; of several with one name also the email, or else the id. */
function namesOf(rows: readonly ContactRow[]): string[] {
  const names = rows.map(nameOfContact);
  return rows.flatMap(({ id, email }, at) => {
    const name = names[at];
    if (name === undefined || names.indexOf(name) === names.lastIndexOf(name)) return name ?? [];
    return email === null ? `contact:${id}` : `${name} ${email}`;
  });
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
