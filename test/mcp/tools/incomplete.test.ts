// Results that may lack something say so, and how to get the rest; and names are found that are stop words.
import { beforeAll, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { useListed } from "./listed.ts";
import type { Holder } from "./set-up.ts";
import { call, request } from "./set-up.ts";

const { holder: holding } = useListed(useSignInFixture());
let holder: Holder;
let busy: string;
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const day = (at: number): string => new Date(Date.UTC(2001, 0, 1 + at)).toISOString();

beforeAll(async () => {
  holder = holding();
  const { put } = holder;
  await put.contact({ full_name: "Old Friend", notes: "Works at Platypus Ltd.", updated_at: day(0) });
  await put.contacts(
    ...times(250, (at) => ({ full_name: `Coached ${at}`, notes: "many words ".repeat(190), updated_at: day(1) })),
  );
  await put.contacts(
    { full_name: "Will Goodall" },
    { full_name: "Salma Haddad" },
    { full_name: "Ext One", phone: "+1 (512) 555-0156 ext. 4" },
    { full_name: "Thai One", phone: "๐๗๗๐๐๙๐๐๕๓๘" },
  );
  busy = await put.contact({ full_name: "Bea Busy" });
  const sessions = await put.sessions(
    ...times(60, (at) => ({ title: `Busy ${at}`, contact_id: busy, session_date: day(at) })),
  );
  await put.sessionNotes(
    ...sessions.map((session_id) => ({
      session_id,
      content: "Seen the pelican.",
      type: "SESSION_NOTE_TYPE_USER_MANUAL",
    })),
  );
  await put.transcripts({ session_id: sessions[0] as string, transcript: "We spoke." });
  for (let from = 0; from < 2_100; from += 700)
    await put.sessions(...times(700, (at) => ({ title: "Plain", session_date: day(1_000 + from + at) })));
});

test("a search of the notes and memory of more contacts than are read says so [MCP-18, MCP-43]", async () => {
  const found = await call(holder, "search_contacts", { query: "platypus", in_notes: true });
  expect(found.structured).toMatchObject({
    data: [],
    truncated: true,
    hint: expect.stringMatching(/only the most recently changed/),
  });
  const searched = await call(holder, "search", { query: "Platypus" });
  expect(searched.structured).toMatchObject({
    truncated: true,
    hint: expect.stringMatching(/only the most recently changed/),
  });
});

test("sessions with a transcript are followed by a date to go on with, where more sessions than are looked up match", async () => {
  const { structured } = await call(holder, "list_sessions", { has_transcript: true });
  expect(structured).toMatchObject({ data: [], truncated: true });
  const [, date] = /to (\S+): to go on, pass this date as to/.exec(structured.hint) ?? [];
  const rest = await call(holder, "list_sessions", { has_transcript: true, to: date });
  expect(rest.structured.data.map(({ title }: { title: string }) => title)).toEqual(["Busy 0"]);
  expect(rest.structured.truncated).toBeUndefined();
});

test("the notes of a contact's sessions end with how to find those of older sessions", async () => {
  const given = { contact_id: busy, kind: "session", limit: 25 };
  expect((await call(holder, "search_notes", given)).structured.truncated).toBeUndefined();
  const last = await call(holder, "search_notes", { ...given, offset: 25 });
  expect(last.structured).toMatchObject({ truncated: true, hint: expect.stringMatching(/newest 50 sessions/) });
});

test("search says if it has more than it returns, and if no record has all the words [MCP-43]", async () => {
  expect((await call(holder, "search", { query: "pelican" })).structured).toMatchObject({ truncated: true });
  const partial = await call(holder, "search", { query: "Salma Ben Salah" });
  expect(partial.structured.results[0].title).toBe("Salma Haddad");
  expect(partial.hint).toMatch(/No record has all the words/);
  const whole = await call(holder, "search", { query: "Salma Haddad" });
  expect([whole.structured.truncated, whole.hint]).toEqual([undefined, undefined]);
});

test.each(["What did I promise Will last week?"])(
  "search finds a person whose name is a stop word: %s",
  async (query) => {
    const { structured } = await call(holder, "search", { query });
    expect(structured.results.map(({ title }: { title: string }) => title)).toContain("Will Goodall");
  },
);

test("without a planned session, the soonest of a contact is empty with the last one, and names what to try [MCP-16, MCP-44]", async () => {
  const { structured, hint } = await call(holder, "list_sessions", { contact_id: busy, order: "soonest" });
  expect(structured.data).toEqual([]);
  expect(hint).toMatch(/previous session is \S+, at 2001-03-01/);
  const misspelt = await call(holder, "list_sessions", { contact_name: "Bea Bussy" });
  expect(misspelt.hint).toMatch(/contact_name finds no misspelt names: search_contacts does/);
});

test.each([
  ["0156", "Ext One"],
  ["55 0156", "Ext One"],
  ["0538", "Thai One"],
])("the end %s of a phone is found before an extension, in any script, with blanks or without", async (end, name) => {
  const { structured } = await call(holder, "search_contacts", { phone_ends_with: end });
  expect(structured.data.map(({ full_name: found }: { full_name: string }) => found)).toEqual([name]);
});

test("prompts find the topic of a question, and the next session of a contact", async () => {
  const textOf = async (name: string, given: object): Promise<string> => {
    const { body } = await request(holder, "2025-11-25", "prompts/get", { name, arguments: given });
    return body.result.messages[0].content.text;
  };
  expect(await textOf("catch_up", { topic: "What happened with the pelican?" })).toContain("Seen the pelican.");
  const id = await holder.put.session({ title: "Next", contact_id: busy, session_date: "2098-01-01T09:00:00Z" });
  expect(await textOf("prepare_meeting", { contact: "Bea Busy" })).toContain(`next session is ${id}, at 2098-01-01`);
});
