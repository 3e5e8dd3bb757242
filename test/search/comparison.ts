// Compares what an account finds with the oracle.
import type { Client } from "../support/client.ts";
import type { OracleContact } from "./oracle.ts";
import { joinersIn, matchesText, prepare, searchContacts } from "./oracle.ts";

/** What an account is filled with. A later one is newer. */
export interface Contents {
  readonly contacts: readonly OracleContact[];
  readonly titles: readonly string[];
  readonly notes: readonly string[];
  readonly clientName: string;
}

export interface Filled extends Contents {
  /** All texts in which something may be found. */
  readonly texts: readonly string[];
  readonly prepared: ReturnType<typeof prepare>;
  readonly ids: readonly string[];
}

const maxFound = 25;
/** The service tries every way to read so many joiners of a query; of more, the likeliest ways. */
const maxJoiners = 4;
const batch = 200;
const minuteAt = (at: number): string => new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString();

function batchesOf<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / batch) }, (_, at) => all.slice(at * batch, (at + 1) * batch));
}

export async function fillWith(client: Client, contents: Contents): Promise<Filled> {
  const { contacts, titles, notes, clientName } = contents;
  const ids: string[] = [];
  const owner: OracleContact = { fullName: clientName };
  const all = [...contacts, owner];
  const items = all.map(({ fullName, inferredName, email, phone }, at) => ({
    ...(fullName === undefined ? {} : { full_name: fullName }),
    ...(inferredName === undefined ? {} : { inferred_name: inferredName }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone }),
    updated_at: minuteAt(at),
  }));
  for (const some of batchesOf(items)) ids.push(...(await client.put.contacts(...some)));
  const contact_id = ids.at(-1) ?? "";
  const sessions = titles.map((title, at) => ({ title, contact_id, session_date: minuteAt(at) }));
  for (const some of batchesOf(sessions)) await client.put.sessions(...some);
  const written = notes.map((content, at) => ({ contact_id, content, source: "import", created_at: minuteAt(at) }));
  for (const some of batchesOf(written)) await client.put.contactNotes(...some);
  const names = all.flatMap(({ fullName, inferredName, email }) => [fullName, inferredName, email]);
  const texts = [...names.filter((name) => name !== undefined), ...titles, ...notes];
  return { ...contents, contacts: all, texts, prepared: prepare(all), ids };
}

/** Returns a line for each list in which the service and the oracle differ. */
export async function compare(client: Client, filled: Filled, query: string): Promise<string[]> {
  if ([...query].length < 2 || joinersIn(query) > maxJoiners) return [];
  const { prepared, contacts, titles, notes, ids, clientName } = filled;
  const find = async (path: string): Promise<Record<string, string>[]> => {
    const response = await client.get(`/v1/${path}query=${encodeURIComponent(query)}`);
    if (response.status !== 200) throw new Error(`${response.status} for ${query}: ${response.text}`);
    return response.body.data;
  };
  const newest = (texts: readonly string[], matches: (text: string) => boolean): string[] =>
    texts.toReversed().filter(matches).slice(0, maxFound);
  // All before the oracle computes: the service is in this process, and responds only while it can confirm its primary.
  const found = {
    contacts: (await find("contacts?")).map(({ id = "" }) => contacts[ids.indexOf(id)]),
    sessions: (await find(`sessions?limit=${maxFound}&`)).map(({ title }) => title),
    notes: (await find(`notes?limit=${maxFound}&`)).map(({ content }) => content),
  };
  const lists: [string, unknown, unknown][] = [
    ["contacts", found.contacts, searchContacts(prepared, query).map((at) => contacts[at])],
    [
      "sessions",
      found.sessions,
      newest(titles, (title) => matchesText(title, query, { isNote: false, name: clientName })),
    ],
    ["notes", found.notes, newest(notes, (note) => matchesText(note, query, { isNote: true }))],
  ];
  return lists.flatMap(([list, own, expected]) =>
    JSON.stringify(own) === JSON.stringify(expected)
      ? []
      : [`${list} ${JSON.stringify(query)}: found ${JSON.stringify(own)}, expected ${JSON.stringify(expected)}`],
  );
}
