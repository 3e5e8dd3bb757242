// Ten questions as a person asks them, each a trace of calls over the demo's records: what one call answers the next
// one takes.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, test } from "vitest";
import type { DemoRecords } from "../../../src/embedded/demo/records.ts";
import { useHouse } from "../../../fixtures/sign-in/house.ts";
import { fillDemo } from "./demo.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf } from "./set-up.ts";

type Fields = Record<string, unknown>;
type Session = DemoRecords["sessions"][number];

const house = useHouse();
const dayMs = 86_400_000;
let holder: Holder;
let demo: DemoRecords;
beforeAll(async () => {
  holder = await holderOf(house());
  demo = await fillDemo(holder);
});

/** A call that is expected to succeed. */
async function ask(name: string, given: Fields): Promise<any> {
  const { isError, structured, text } = await call(holder, name, given);
  expect(isError, `${name} ${JSON.stringify(given)}: ${text}`).toBe(false);
  return structured;
}

/** All pages of a list. */
async function all(name: string, given: Fields): Promise<any[]> {
  const records: any[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { data, pagination } = await ask(name, { ...given, offset });
    records.push(...data);
    offset = pagination.next_offset as number | null;
  }
  return records;
}

const begin = ({ sessionDate }: Session): number => (sessionDate === undefined ? Number.NaN : timestampMs(sessionDate));
const newestFirst = (sessions: readonly Session[]): Session[] =>
  [...sessions].sort((one, other) => begin(other) - begin(one));
const contactOf = (name: string) =>
  demo.contacts.find(({ fullName }) => fullName === name) as DemoRecords["contacts"][number];
const sessionsOf = (name: string) =>
  newestFirst(demo.sessions.filter(({ contactId }) => contactId === contactOf(name).id));
const pastOf = (name: string) => sessionsOf(name).filter((session) => begin(session) < Date.now());
const notesOf = (session: Session | undefined) =>
  demo.sessionNotes.filter(({ sessionId }) => sessionId === session?.id);

test("What did I promise Ann at our last meeting with action items? [MCP-06] [MCP-08]", async () => {
  const [contact] = (await ask("search_contacts", { query: "ann le" })).data;
  expect(contact.id).toBe(contactOf("Ann Lee").id);
  const sessions = await all("list_sessions", { contact_id: contact.id, to: new Date().toISOString() });
  let found: string | undefined;
  for (const { id } of sessions) {
    const { notes } = (await ask("get_session", { session_id: id })).data;
    found = notes.find(({ title }: { title: string | null }) => title === "Action items")?.content;
    if (found !== undefined) break;
  }
  const expected = pastOf("Ann Lee").flatMap((session) =>
    notesOf(session).filter(({ title }) => title === "Action items"),
  )[0];
  expect(expected).toBeDefined();
  expect(found).toBe(expected?.content);
});

test("Who wrote me from this number, 0182? [MCP-06] [MCP-08]", async () => {
  const { data } = await ask("search_contacts", { query: "+44 20 7946 0182" });
  expect(data.map(({ full_name }: Fields) => full_name)).toContain("José Álvarez");
  const contact = (await ask("get_contact", { contact_id: data[0].id })).data;
  expect(contact.phone.replace(/\D/g, "")).toContain("442079460182");
});

test("What is Soren's address? (asked without the special letters) [MCP-06] [MCP-08]", async () => {
  const [{ id }] = (await ask("search_contacts", { query: "soren odeg" })).data;
  expect((await ask("get_contact", { contact_id: id })).data.email).toBe("soren@fjordlys.example.net");
});

test("Which meetings did I have in that week? [MCP-06] [MCP-08]", async () => {
  // The week that begins with the day of the tenth meeting from the last.
  const past = newestFirst(demo.sessions.filter((session) => begin(session) < Date.now()));
  const first = Math.floor(begin(past[9] as Session) / dayMs) * dayMs;
  const last = first + 7 * dayMs - 1;
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const sessions = await all("list_sessions", { from: day(first), to: day(last), limit: 5 });
  const expected = newestFirst(demo.sessions.filter((session) => begin(session) >= first && begin(session) <= last));
  expect(expected.length).toBeGreaterThan(0);
  expect(new Set(sessions.map(({ id }) => id as string))).toEqual(new Set(expected.map(({ id }) => id)));
});

test("Who is my next meeting with, and what is prepared for it? [MCP-06] [MCP-08]", async () => {
  const coming = await all("list_sessions", { from: new Date().toISOString(), limit: 25 });
  const withNotes = [];
  for (const { id } of coming.toReversed()) withNotes.push((await ask("get_session", { session_id: id })).data);
  const expected = newestFirst(demo.sessions.filter((session) => begin(session) >= Date.now())).toReversed();
  expect(expected.length).toBeGreaterThan(3);
  expect(withNotes.map(({ id }) => id as string)).toEqual(expected.map(({ id }) => id));
  expect(withNotes.map(({ notes }) => notes.length as number)).toEqual(
    expected.map((session) => notesOf(session).length),
  );
});

test("What was noted about the warehouse, and about whom? [MCP-06] [MCP-08]", async () => {
  const notes = await all("search_notes", { query: "warehouse", limit: 25 });
  const has = (text: string | undefined): boolean => /(^|[^\p{L}])warehouse/iu.test(text ?? "");
  const parents = new Set([
    ...demo.sessionNotes.filter(({ content, title }) => has(content) || has(title)).map(({ sessionId }) => sessionId),
    ...demo.contactNotes.filter(({ content }) => has(content)).map(({ contactId }) => contactId),
  ]);
  expect(parents.size).toBeGreaterThan(3);
  for (const { parent_id } of notes) expect(parents).toContain(parent_id);
  const [{ parent_id, kind }] = notes;
  const { text } = await ask("fetch", { id: `${kind}:${parent_id}` });
  expect(text).toMatch(/warehouse/i);
});

test("What did we say in the longest talk, to the last word? [MCP-06] [MCP-09]", async () => {
  const longest = [...demo.transcripts].sort(
    (one, other) => (other.transcript?.length ?? 0) - (one.transcript?.length ?? 0),
  )[0];
  const { title } = demo.sessions.find(({ id }) => id === longest?.sessionId) as Session;
  const sessions = await all("list_sessions", { query: (title ?? "").split(/\s+/).slice(0, 3).join(" ") });
  const { id } = sessions.find((session) => session.id === longest?.sessionId);
  let whole = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const { data, pagination } = await ask("get_session_transcript", { session_id: id, offset });
    whole += data.transcript;
    offset = pagination.next_offset as number | null;
  }
  expect(whole.length).toBeGreaterThan(80_000);
  expect(whole).toBe(longest?.transcript);
});

test("How often did I meet Zoë, and since when? [MCP-06] [MCP-08]", async () => {
  const [{ id }] = (await ask("search_contacts", { query: "zoe martin" })).data;
  const sessions = await all("list_sessions", { contact_id: id, limit: 3 });
  const expected = sessionsOf("Zoë Martin");
  expect(sessions).toHaveLength(expected.length);
  expect(new Set(sessions.map((session) => session.id as string))).toEqual(
    new Set(expected.map((session) => session.id)),
  );
});

test("Tell me about 王小明: asked in one search, read in one fetch [MCP-06] [MCP-10]", async () => {
  const { results } = await ask("search", { query: "王小明" });
  const contact = results.find(({ id }: Fields) => String(id).startsWith("contact:"));
  expect(contact).toMatchObject({ id: `contact:${contactOf("王小明").id}`, title: "王小明" });
  const { text } = await ask("fetch", { id: contact.id });
  expect(text).toContain("Email: xiaoming.wang@ninemountains.example.com");
  const [last] = pastOf("王小明");
  expect(text).toContain(`session:${last?.id}`);
  expect((await ask("fetch", { id: `session:${last?.id}` })).text).toContain(`(contact:${contactOf("王小明").id})`);
});

test("Which of José's talks has no transcript yet? [MCP-06] [MCP-08] [MCP-09]", async () => {
  const [{ id }] = (await ask("search_contacts", { query: "jose alvarez" })).data;
  const missing: string[] = [];
  for (const session of await all("list_sessions", { contact_id: id, limit: 25 })) {
    const { data } = await ask("get_session_transcript", { session_id: session.id });
    if (data.transcript === null) missing.push(session.id as string);
  }
  const written = new Set(
    demo.transcripts.filter(({ transcript }) => transcript !== undefined).map(({ sessionId }) => sessionId),
  );
  expect(missing.sort()).toEqual(
    sessionsOf("José Álvarez")
      .map((session) => session.id ?? "")
      .filter((one) => !written.has(one))
      .sort(),
  );
});
