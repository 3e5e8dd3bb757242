// Completions: contacts and sessions for what a user begins to type into a prompt or an address.
import { firstWords } from "./first-words.ts";
import { nameOfContact } from "./rows.ts";
import type { ContactRow, SessionRow } from "./rows.ts";
import type { ToolContext } from "./tool.ts";

/** Values for what is typed, the best first, each once. Fails with a Failure. */
export type Complete = (typed: string, context: ToolContext) => Promise<string[]>;

const mostValues = 25;

/**
 * What can be completed: a prompt's name or a template of addresses, after its kind, and the argument. The names of
 * people are text that the search for them finds again.
 */
export const completers: ReadonlyMap<string, Complete> = new Map([
  ["prompt prepare_meeting contact", async (typed, context) => namesOf(await contacts(typed, context))],
  ["prompt follow_up session_id", async (typed, context) => idsOf(await sessions(typed, context))],
  ["resource contact://{id} id", async (typed, context) => idsOf(await contacts(typed, context))],
  ["resource session://{id} id", async (typed, context) => idsOf(await sessions(typed, context))],
]);

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

function namesOf(rows: readonly ContactRow[]): string[] {
  return [...new Set(rows.flatMap((contact) => nameOfContact(contact) ?? []))];
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
