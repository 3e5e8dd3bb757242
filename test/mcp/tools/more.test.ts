// A result that REST's own limits cut says so, and how to get the rest.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf, request } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
/** A contact with 52 notes, and one with 49. */
let noted: string;
let few: string;
beforeAll(async () => {
  holder = await holderOf(fixture());
  const named = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ full_name: `${name} ${at}`, notes: "n".repeat(10_000) }));
  await holder.put.contacts(...named("Martin", 27), ...named("Larsen", 24));
  noted = await holder.put.contact({ full_name: "Noted" });
  const notes = Array.from({ length: 52 }, (_, at) => ({
    contact_id: noted,
    content: `note ${at}`,
    source: "app",
    created_at: new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString(),
  }));
  await holder.put.contactNotes(...notes);
  few = await holder.put.contact({ full_name: "Few" });
  await holder.put.contactNotes(...notes.slice(0, 49).map((note) => ({ ...note, contact_id: few })));
});

const idsOf = (data: readonly { readonly id: string }[]): string[] => data.map(({ id }) => id);

describe("search_contacts", () => {
  test.each([
    ["only a query", { query: "martin" }],
    ["other arguments that count as left out", { query: "martin", limit: null, state: "", offset: "" }],
  ])("returns REST's body for %s, and says that there may be more than 25 [MCP-08] [MCP-22]", async (_, given) => {
    const { structured } = await call(holder, "search_contacts", given);
    expect(Object.keys(structured).sort()).toEqual(["data", "hint", "truncated"]);
    expect(structured.truncated).toBe(true);
    expect(structured.hint).toMatch(
      /^There may be more contacts: pass offset 25 for the next ones\. Long texts are cut/,
    );
    const next = await call(holder, "search_contacts", { query: "martin", offset: 25 });
    expect(next.structured.pagination).toEqual({ limit: 25, offset: 25, has_more: false, next_offset: null });
    expect(new Set(idsOf([...structured.data, ...next.structured.data])).size).toBe(27);
  });

  test("has no hint if all contacts are returned, or if pagination has it [MCP-22]", async () => {
    for (const given of [{ query: "larsen 2" }, { query: "martin", limit: 25, brief: true }])
      expect(Object.keys((await call(holder, "search_contacts", given)).structured)).not.toContain("hint");
  });
});

describe("a timeline with 50 notes", () => {
  const older =
    "A timeline ends after the 50 newest notes: search_notes with the contact_id and offset 50 returns any older ones.";

  test.each([
    ["search_contacts", (id: string) => ({ query: id === noted ? "noted" : "few" })],
    ["search_contacts", (id: string) => ({ query: id === noted ? "noted" : "few", limit: 5 })],
    ["get_contact", (id: string) => ({ contact_id: id })],
    ["fetch", (id: string) => ({ id: `contact:${id}` })],
  ])("says in %s how to get older notes, case %# [MCP-24]", async (name, given) => {
    expect((await call(holder, name, given(noted))).structured).toMatchObject({ truncated: true, hint: older });
    expect(Object.keys((await call(holder, name, given(few))).structured)).not.toContain("hint");
  });

  test("says so in the text of fetch and of the resource, which are the same [MCP-24]", async () => {
    const { text } = (await call(holder, "fetch", { id: `contact:${noted}` })).structured;
    expect(text).toMatch(/- 2026-01-01 \(source [a-z]+\): note 2\n\n\(A timeline ends [^)]*\)$/);
    const { body } = await request(holder, "2026-07-28", "resources/read", { uri: `contact://${noted}` });
    expect(body.result.contents[0].text).toBe(text);
  });

  test("continues in search_notes as the hint says [MCP-24]", async () => {
    const { structured } = await call(holder, "search_notes", { contact_id: noted, offset: 50 });
    expect((structured.data as { content: string }[]).map(({ content }) => content)).toEqual(["note 1", "note 0"]);
  });

  test("is named along with what is cut for its size [MCP-14] [MCP-24]", async () => {
    await holder.put.contactNotes({ contact_id: noted, content: "z".repeat(70_000), source: "app" });
    const { structured } = await call(holder, "get_contact", { contact_id: noted });
    expect(structured.hint).toMatch(/^A timeline ends .* Long texts are cut, /);
  });
});

test("a search for passages says how to get the others if there are more than 20 [MCP-16] [MCP-17]", async () => {
  const session_id = await holder.put.session({});
  const transcript = `[00:00:01] Bob: the xylophone costs ten. ${"and so on ".repeat(100)}`.repeat(21);
  await holder.put.transcript({ session_id, transcript });
  const { structured } = await call(holder, "get_session_transcript", { session_id, query: "xylophone" });
  const says = /^There may be more passages\. .*leave out query/;
  expect(structured).toMatchObject({ complete: false, truncated: true, hint: expect.stringMatching(says) });
  expect(structured.passages).toHaveLength(20);
});
