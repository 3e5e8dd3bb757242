// Searches of accounts in which every word is frequent, or many records are of one instant: what is meant comes first,
// and every page is complete (contract §3.1, §3.2, §3.4).
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();
const minute = (at: number): string => new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString();
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** Stores contacts with these names, each newer than the one before. */
async function putNames(client: Client, names: readonly string[]): Promise<string[]> {
  return client.put.contacts(...names.map((full_name, at) => ({ full_name, updated_at: minute(at) })));
}

async function call(client: Client, rpc: string, message: object) {
  return (await service().internalCall(`records.v1.${rpc}`, message, { "records-account-id": client.id })).body;
}

/** The names on all pages of contacts. */
async function everyName(client: Client, message: object): Promise<string[]> {
  const names: string[] = [];
  for (let offset = 0; ; ) {
    const { contacts, pagination } = await call(client, "ContactService/SearchContacts", {
      ...message,
      brief: true,
      limit: 25,
      offset,
    });
    names.push(...(contacts ?? []).map(({ fullName }: { fullName: string }) => fullName));
    if (pagination.hasMore !== true) return names;
    offset = pagination.nextOffset;
  }
}

test.each([
  ["jean-luc martin", "Jean-Luc Martin", ["Jean-Luc Dupont", "Paul Martin"], "Jean-Luc Martinez", 250],
  ["ann lee may fox", "Ann Lee May Fox", ["Ann Oh", "Lee Oh", "May Oh", "Fox Oh"], "Annika Leeson Mayer Foxton", 250],
  ["ann lee may", "Ann Lee May", ["Ann Oh", "Lee Oh", "May Oh"], "Annika Leeson Mayer", 900],
])(
  "a contact with all whole words of %s comes before newer ones with beginnings, however frequent each is [CSR-11]",
  async (query, meant, others, begun, count) => {
    const client = await newClient(service());
    await putNames(client, [`${meant}, the one`, ...times(count, () => others).flat(), ...times(30, () => begun)]);
    const { body } = await client.get(`/v1/contacts?query=${encodeURIComponent(query)}`);
    expect(body.data[0].full_name).toBe(`${meant}, the one`);
  },
);

test("a name with umlauts and four hyphens is found by its letters as typed and as two letters [CSR-15]", async () => {
  const client = await newClient(service());
  await putNames(client, ["Anne-Marie Mueller-Luedenscheidt O'Brien-Smith"]);
  const query = encodeURIComponent("Anne-Marie Müller-Lüdenscheidt O'Brien-Smith");
  expect((await client.get(`/v1/contacts?query=${query}`)).body.data).toHaveLength(1);
});

test("a misspelt name is found beside another word among hundreds of its name [CSR-16]", async () => {
  const client = await newClient(service());
  await putNames(client, ["Mathieu Lee", ...times(600, (at) => `Mathieu Nobody${at}`)]);
  const { body } = await client.get("/v1/contacts?query=matieu%20lee");
  expect(body.data.map(({ full_name: name }: { full_name: string }) => name)).toEqual(["Mathieu Lee"]);
});

test("a misspelt name finds the contacts that were not met since, however many others have the name [MCP-45]", async () => {
  const client = await newClient(service());
  const ids = await putNames(
    client,
    times(40, (at) => `Mathieu N${at}`),
  );
  await client.put.sessions(
    ...ids.slice(0, 5).map((contact_id) => ({ title: "x", contact_id, session_date: "2020-01-01T00:00:00Z" })),
  );
  const found = await everyName(client, { query: "matieu", lastSessionBefore: "2025-01-01" });
  expect(found).toEqual(["Mathieu N4", "Mathieu N3", "Mathieu N2", "Mathieu N1", "Mathieu N0"]);
});

test("a search in the notes of contacts finds all that were changed at one instant, and otherwise the newest first [MCP-43]", async () => {
  const client = await newClient(service());
  const updated_at = "2026-01-01T00:00:00Z";
  await client.put.contacts(
    ...times(450, (at) => ({ full_name: `C${at}`, notes: "a budget note", updated_at })),
    { full_name: "Older", notes: "the kick-off", updated_at: minute(1) },
    { full_name: "Newer", notes: "the kick off", updated_at: minute(2) },
    { full_name: "Priced", notes: "for 1,500", updated_at: minute(3) },
  );
  expect(new Set(await everyName(client, { query: "budget", inNotes: true })).size).toBe(450);
  expect(await everyName(client, { query: "kick-off", inNotes: true })).toEqual(["Newer", "Older"]);
  expect(await everyName(client, { query: "1500", inNotes: true })).toEqual(["Priced"]);
});

test("a search of transcripts for two words finds all sessions of one instant that have both [MCP-40]", async () => {
  const client = await newClient(service());
  const ids = await client.put.sessions(...times(600, () => ({ title: "s", session_date: "2026-01-01T00:00:00Z" })));
  for (let from = 0; from < ids.length; from += 100)
    await client.put.transcripts(
      ...ids.slice(from, from + 100).map((session_id, at) => ({
        session_id,
        transcript: at % 20 === 0 ? "common words with rarity" : "common words",
      })),
    );
  const found = new Set<string>();
  for (let offset = 0; ; ) {
    const message = { query: "rarity common", limit: 25, offset };
    const { passages, pagination } = await call(client, "SessionService/SearchTranscripts", message);
    for (const { sessionId } of passages) found.add(sessionId);
    if (pagination.hasMore !== true) break;
    offset = pagination.nextOffset;
  }
  expect(found.size).toBe(30);
});
