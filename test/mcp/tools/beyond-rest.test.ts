// What assistants and internal callers may request beyond REST: the same over MCP, Connect and gRPC.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
const ids: Record<string, string> = {};

beforeAll(async () => {
  holder = await holderOf(fixture());
  const { put } = holder;
  ids["zoe"] = await put.contact({ full_name: "Zoë Martin", email: "zoe@example.com" });
  ids["ben"] = await put.contact({ full_name: "Ben Martin", phone: "+1 415 555 0100" });
  ids["old"] = await put.contact({ full_name: "Olga Martin", email: "olga@example.com" });
  ids["gone"] = await put.contact({ full_name: "Gus Stone 42", phone: "+49170001" });
  await put.archive(ids["old"], ids["gone"]);
  ids["kick"] = await put.session({ contact_id: ids["zoe"], title: "Kick-off", session_date: "2026-03-01T09:00:00Z" });
  ids["price"] = await put.session({ contact_id: ids["zoe"], title: "Price", session_date: "2026-03-02T09:00:00Z" });
  ids["zoo"] = await put.session({ contact_id: ids["ben"], title: "Zoe's zoo", session_date: "2026-03-03T09:00:00Z" });
  await put.transcript({ session_id: ids["price"], transcript: spoken });
  await put.transcript({ session_id: ids["zoo"], transcript: "Ben: No word of money." });
  await put.contactNotes(
    { contact_id: ids["zoe"], content: "Likes tea", source: "app", created_at: "2026-01-05T09:00:00Z" },
    { contact_id: ids["zoe"], content: "Likes coffee", source: "app", created_at: "2026-02-05T09:00:00Z" },
    { contact_id: ids["ben"], content: "Likes tea as well", source: "app", created_at: "2026-02-06T09:00:00Z" },
  );
  await put.sessionNotes({
    session_id: ids["kick"],
    content: "Tea was served",
    type: "SESSION_NOTE_TYPE_USER_MANUAL",
    position: 0,
    created_at: "2026-03-01T10:00:00Z",
  });
});

const filler = Array.from({ length: 200 }, (_, line) => `Ann: This is line ${line} 🙂 of small talk.`);
const spoken = [
  ...filler.slice(0, 100),
  "Zoë: What would the second shop cost?",
  "Ann: The price is 4,000 a month.",
  "Zoë: That is a fair Prîce, I would say.",
  ...filler.slice(100),
].join("\n");

interface Case {
  readonly what: string;
  readonly tool: string;
  readonly rpc: readonly [service: string, method: string, list: string];
  given(): Record<string, unknown>;
  readonly found: readonly string[];
}

const contacts = ["ContactService", "SearchContacts", "contacts"] as const;
const sessions = ["SessionService", "ListSessions", "sessions"] as const;
const notes = ["NoteService", "SearchNotes", "notes"] as const;

function of(tool: string, rpc: Case["rpc"]): (what: string, found: readonly string[], given: Case["given"]) => Case {
  return (what, found, given) => ({ what, tool, rpc, given, found });
}
const ofContacts = of("search_contacts", contacts);
const ofSessions = of("list_sessions", sessions);
const ofNotes = of("search_notes", notes);

const cases: readonly Case[] = [
  ofContacts("without an email", ["ben"], () => ({ has_email: false })),
  ofContacts("with an email", ["zoe"], () => ({ has_email: true })),
  ofContacts("archived", ["gone", "old"], () => ({ state: "archived" })),
  ofContacts("archived, by the beginning of a word", ["old"], () => ({ state: "archived", query: "mart" })),
  ofContacts("archived, by two words", ["old"], () => ({ state: "archived", query: "martin olg" })),
  ofContacts("archived, by a number and a phone with spaces", ["gone"], () => ({
    state: "archived",
    query: "gus 42 +49 17",
  })),
  ofContacts("archived, by a word that none has", [], () => ({ state: "archived", query: "zoe" })),
  ofContacts("archived, with an email", ["old"], () => ({ state: "archived", has_email: true })),
  ofContacts("any, the active ones first", ["ben", "zoe", "old"], () => ({ state: "any", query: "martin" })),
  ofContacts("any, the second page", ["old"], () => ({ state: "any", query: "martin", limit: 2, offset: 2 })),
  ofContacts("active, the second of a page of one", ["zoe"], () => ({ query: "martin", limit: 1, offset: 1 })),
  ofContacts("all that are active, by pages", ["ben", "zoe"], () => ({ limit: 5 })),
  ofContacts("with any of the words, the best first", ["zoe", "ben"], () => ({ query: "martin zoe", any_word: true })),
  ofContacts("with any of the words, the second", ["ben"], () => ({ query: "martin zoe", any_word: true, offset: 1 })),
  ofContacts("with any of words that none has", [], () => ({ query: "nobody nowhere", any_word: true })),
  ofSessions("with any of the words", ["zoo", "kick", "price"], () => ({ query: "zoo zoe kick", any_word: true })),
  ofSessions("with any of the words, of a name", ["kick", "price"], () => ({
    query: "zoo zoe kick",
    any_word: true,
    contact_name: "zoe",
  })),
  ofSessions("with any of the words, without a transcript", ["kick"], () => ({
    query: "zoe kick",
    any_word: true,
    has_transcript: false,
  })),
  ofNotes("with any of the words", ["kick tea", "zoe coffee"], () => ({
    query: "coffee served nothing",
    any_word: true,
  })),
  ofNotes("with any of the words, of a contact", ["zoe coffee"], () => ({
    query: "coffee served nothing",
    any_word: true,
    contact_id: ids["zoe"],
  })),
  ofContacts("by the last digits of a phone, across its blanks", ["ben"], () => ({ phone_ends_with: "50100" })),
  ofContacts("by the last digits of an archived phone", ["gone"], () => ({ state: "any", phone_ends_with: "0001" })),
  ofContacts("by last digits and a word", ["ben"], () => ({ query: "martin", phone_ends_with: "00" })),
  ofContacts("by digits within a phone", [], () => ({ state: "any", phone_ends_with: "017" })),
  ofContacts("in brief", ["ben", "zoe"], () => ({ query: "martin", brief: true })),
  ofContacts("without an email, by words", ["ben"], () => ({ query: "martin", has_email: false })),
  ofSessions("with a transcript", ["zoo", "price"], () => ({ has_transcript: true })),
  ofSessions("without a transcript", ["kick"], () => ({ has_transcript: false })),
  ofSessions("without a transcript, of a contact", ["kick"], () => ({ contact_id: ids["zoe"], has_transcript: false })),
  ofSessions("with a transcript, the second", ["price"], () => ({ has_transcript: true, limit: 1, offset: 1 })),
  ofSessions("with notes", ["kick"], () => ({ has_notes: true })),
  ofSessions("without notes", ["zoo", "price"], () => ({ has_notes: false })),
  ofSessions("with a transcript and notes", [], () => ({ has_transcript: true, has_notes: true })),
  ofSessions("with any of the words and notes", ["kick"], () => ({
    query: "zoo zoe kick",
    any_word: true,
    has_notes: true,
  })),
  ofSessions("of a contact's name", ["price", "kick"], () => ({ contact_name: "zoe" })),
  ofSessions("of a contact's name, not of a title", [], () => ({ contact_name: "kick" })),
  ofSessions("of a name and a title", ["kick"], () => ({ contact_name: "martin zoe", query: "kick" })),
  ofSessions("of a name, and of the contact", ["zoo"], () => ({ contact_name: "ben", contact_id: ids["ben"] })),
  ofSessions("of a name without a letter", [], () => ({ contact_name: "?" })),
  ofNotes("of a contact, the newest first", ["zoe coffee", "zoe tea"], () => ({ contact_id: ids["zoe"] })),
  ofNotes("of a contact, with a word", ["zoe tea"], () => ({ contact_id: ids["zoe"], query: "te" })),
  ofNotes("of a session", ["kick tea"], () => ({ session_id: ids["kick"] })),
  ofNotes("of a session that is a contact", [], () => ({ session_id: ids["zoe"] })),
  ofNotes("of a contact that is a session", [], () => ({ contact_id: ids["kick"], query: "tea" })),
  ofNotes("of a contact's sessions", ["kick tea"], () => ({ contact_id: ids["zoe"], kind: "session" })),
  ofNotes("of a contact's sessions, by a word that only its own notes have", [], () => ({
    contact_id: ids["zoe"],
    kind: "session",
    query: "coffee",
  })),
  ofNotes("of a contact's sessions, by any of the words", ["kick tea"], () => ({
    contact_id: ids["zoe"],
    kind: "session",
    query: "coffee served",
    any_word: true,
  })),
  ofNotes("of the sessions of a contact without notes in them", [], () => ({
    contact_id: ids["ben"],
    kind: "session",
  })),
  ofNotes("of a contact's own", ["zoe coffee", "zoe tea"], () => ({ contact_id: ids["zoe"], kind: "contact" })),
  ofNotes("of sessions", ["kick tea"], () => ({ kind: "session", query: "tea" })),
  ofNotes("of contacts", ["ben tea", "zoe tea"], () => ({ kind: "contact", query: "tea" })),
  ofNotes("of a type", ["kick tea"], () => ({ note_type: "user_manual", kind: "session" })),
  ofNotes("of a type, by a word", [], () => ({ note_type: "reader_comment", query: "tea" })),
  ofNotes("of a type, by any of the words", ["kick tea"], () => ({
    note_type: "user_manual",
    query: "served nothing",
    any_word: true,
  })),
  ofNotes("between dates", ["ben tea", "zoe coffee"], () => ({ from: "2026-02-01", to: "2026-02-28" })),
  ofNotes("between dates, with a word", ["ben tea"], () => ({ query: "tea", from: "2026-02-01", to: "2026-02-28" })),
  ofNotes("of a contact whom the account does not have", [], () => ({
    contact_id: "00000000-0000-4000-8000-000000000000",
  })),
];

describe("the filters beyond REST find the same on every wire [MCP-17]", () => {
  test.each(cases.map((one) => [`${one.tool}: ${one.what}`, one] as const))("%s", async (_, one) => {
    const { structured, isError, text } = await call(holder, one.tool, one.given());
    expect(isError, text).toBe(false);
    expect(structured.data.map(name)).toEqual(one.found);
    const { status, body } = await overConnect(one.rpc, one.given());
    expect([status, (body[one.rpc[2]] ?? []).map(name)]).toEqual([200, one.found]);
  });
});

test("a page of contacts has its position; without a field beyond REST only contacts are returned [MCP-17, MCP-08]", async () => {
  const paged = await call(holder, "search_contacts", { query: "martin", limit: 1 });
  expect(paged.structured.pagination).toEqual({ limit: 1, offset: 0, has_more: true, next_offset: 1 });
  const last = await call(holder, "search_contacts", { query: "martin", limit: 1, offset: 1 });
  expect(last.structured.pagination).toEqual({ limit: 1, offset: 1, has_more: false, next_offset: null });
  const plain = await call(holder, "search_contacts", { query: "martin" });
  const rest = await fixture().service.rest("/v1/contacts?query=martin", { key: holder.key });
  expect(plain.structured).toEqual(rest.body);
});

test("contacts in brief have what a list needs, and no long texts [MCP-17]", async () => {
  const [whole] = (await call(holder, "search_contacts", { query: "zoe" })).structured.data;
  const { data } = (await call(holder, "search_contacts", { query: "zoe", brief: true })).structured;
  expect([whole.notes_timeline.length, whole.recent_sessions.length]).toEqual([2, 2]);
  const left = ["notes", "memory", "notes_timeline", "recent_sessions"];
  const kept = Object.entries(whole).filter(([member, value]) => value !== null && !left.includes(member));
  expect(data).toEqual([{ ...Object.fromEntries(kept), last_session_date: whole.recent_sessions[0].session_date }]);
  const { structured } = await call(holder, "search_contacts", { query: "zoe", brief: false });
  expect(structured.data).toEqual([whole]);
});

test("REST ignores the fields that it does not have [MCP-17]", async () => {
  const get = (path: string) => fixture().service.rest(path, { key: holder.key });
  const plain = await get("/v1/contacts?query=martin");
  const more = await get("/v1/contacts?query=martin&state=archived&has_email=nonsense&limit=0&offset=-1");
  expect([more.status, more.body]).toEqual([200, plain.body]);
  expect((await get("/v1/contacts?state=archived")).status).toBe(422);
  expect((await get(`/v1/notes?contact_id=${ids["zoe"]}`)).status).toBe(422);
});

test.each([
  ["search_contacts", () => ({ in_notes: true }), /query: is required if in_notes is true/],
  ["search_contacts", () => ({ query: "ann", in_notes: true, state: "any" }), /in_notes: must be left out/],
  ["search_contacts", () => ({ last_session_before: "summer" }), /last_session_before: /],
  ["list_sessions", () => ({ query: "ann", any_word: true, order: "soonest" }), /order: must not be soonest/],
  ["list_sessions", () => ({ order: "oldest" }), /order: must be one of/],
  ["search_contacts", () => ({ query: "ann", any_word: true, state: "any" }), /any_word: must be left out/],
  ["search_notes", () => ({ contact_id: ids["zoe"], session_id: ids["kick"] }), /session_id: must be left out/],
  ["get_session_transcript", () => ({ query: "price" }), /session_id: is required/],
  ["search_transcripts", () => ({}), /query: is required/],
  ["get_session_transcript", () => ({ query: "p", session_id: ids["price"] }), /query: /],
  [
    "get_session_transcript",
    () => ({ query: "price", session_id: ids["price"], offset: 5 }),
    /offset: must not be given/,
  ],
] as const)("%s rejects invalid arguments, case %# [MCP-11, MCP-17]", async (tool, given, message) => {
  const { isError, text } = await call(holder, tool, given());
  expect([isError, text]).toEqual([true, expect.stringMatching(message)]);
});

describe("get_session_transcript with a query [MCP-17]", () => {
  test("returns the passage with the words, in any case and with or without accents, and its position", async () => {
    const { structured } = await call(holder, "get_session_transcript", {
      session_id: ids["price"],
      query: "PRICE fair",
    });
    expect(structured.complete).toBe(true);
    const [passage, ...others] = structured.passages;
    expect(others).toEqual([]);
    expect(passage).toMatchObject({
      session_id: ids["price"],
      session_title: "Price",
      session_date: "2026-03-02T09:00:00.000Z",
    });
    expect(passage.text).toContain("That is a fair Prîce");
    const characters = [...spoken];
    expect(characters.slice(passage.offset, passage.offset + [...passage.text].length).join("")).toBe(passage.text);
  });

  test("finds words that were said in sequence, and not words far apart", async () => {
    const near = await call(holder, "get_session_transcript", { session_id: ids["price"], query: "shop month" });
    expect(near.structured.passages).toHaveLength(1);
    const far = await call(holder, "get_session_transcript", { session_id: ids["price"], query: "shop 199" });
    expect(far.structured).toEqual({ passages: [], complete: true });
    expect(far.hint).toMatch(/^No passage has all these words/);
  });

  test("returns at most 20 passages, and says that there are more", async () => {
    const { structured } = await call(holder, "get_session_transcript", { session_id: ids["price"], query: "talk" });
    expect([structured.passages.length, structured.complete]).toEqual([20, false]);
    const texts = structured.passages.map(({ text }: { text: string }) => text);
    expect(new Set(texts).size).toBe(20);
  });

  test("finds none without a transcript, and an unknown session is not found", async () => {
    const none = await call(holder, "get_session_transcript", { session_id: ids["kick"], query: "price" });
    expect(none.structured).toEqual({ passages: [], complete: true });
    const unknown = { session_id: "00000000-0000-4000-8000-000000000000", query: "price" };
    expect((await call(holder, "get_session_transcript", unknown)).isError).toBe(true);
  });

  test("is SearchTranscripts in Connect", async () => {
    const given = { session_id: ids["price"], query: "fair" };
    const { status, body } = await overConnect(["SessionService", "SearchTranscripts", "passages"], given);
    expect([status, body.complete, body.passages.length]).toEqual([200, true, 1]);
  });
});

/** What a record is called in the cases. */
function name(record: Record<string, unknown>): string {
  const id = record["id"] ?? record["parent_id"] ?? record["parentId"];
  const known = Object.entries(ids).find(([, one]) => one === id)?.[0] ?? "unknown";
  const word = /tea|coffee/i.exec(String(record["content"] ?? ""))?.[0].toLowerCase();
  return word === undefined ? known : `${known} ${word}`;
}

async function overConnect([service, method]: Case["rpc"], given: Record<string, unknown>) {
  const response = await fetch(`${fixture().base}/records.v1.${service}/${method}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${holder.key}` },
    body: JSON.stringify(given),
  });
  return { status: response.status, body: (await response.json()) as Record<string, any> };
}
