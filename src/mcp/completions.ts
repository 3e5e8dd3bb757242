// Completions: contacts and sessions for what a user begins to type into a prompt or an address.
import { firstWords } from "./first-words.ts";
import { nameOfContact } from "./rows.ts";
import type { ContactRow, SessionRow } from "./rows.ts";
import type { ToolContext } from "./tool.ts";

type Complete = (typed: string, context: ToolContext) => Promise<readonly string[]>;

const mostValues = 25;

/** What can be completed. The names of people are text that the search for them finds again. */
const completions = new Map<string, Complete>([
  ["prompt prepare_meeting contact", async (typed, context) => (await contacts(typed, context)).flatMap(textOf)],
  ["prompt follow_up session_id", async (typed, context) => idsOf(await sessions(typed, context))],
  ["resource contact://{id} id", async (typed, context) => idsOf(await contacts(typed, context))],
  ["resource session://{id} id", async (typed, context) => idsOf(await sessions(typed, context))],
]);

/**
 * Values for what is typed, the best first, each once. `what` is a prompt's name or a template of addresses, after its
 * kind, and the argument; where that is not completed, there are none. Fails with a Failure.
 */
export async function complete(what: string, typed: string, context: ToolContext): Promise<string[]> {
  return [...new Set((await completions.get(what)?.(typed, context)) ?? [])];
}

/** The active contacts with these words; the newest until there is enough of a word. */
async function contacts(typed: string, { calls, inbound }: ToolContext): Promise<readonly ContactRow[]> {
  const given = { ...queryOf(typed), limit: mostValues, brief: true };
  return (await calls.call("searchContacts", given, inbound)).body["data"] as readonly ContactRow[];
}

/** The same of the sessions that have taken place, the last first. */
async function sessions(typed: string, { calls, inbound }: ToolContext): Promise<readonly SessionRow[]> {
  const given = { ...queryOf(typed), limit: mostValues, to: new Date().toISOString() };
  return (await calls.call("listSessions", given, inbound)).body["data"] as readonly SessionRow[];
}

function queryOf(typed: string): { readonly query?: string } {
  const query = firstWords(typed);
  return [...query].length < 2 ? {} : { query };
}

function textOf(contact: ContactRow): string[] {
  const name = nameOfContact(contact);
  return name === undefined ? [] : [name];
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
