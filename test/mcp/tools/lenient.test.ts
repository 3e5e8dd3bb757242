// Unambiguous arguments are accepted, and an empty result says what to try.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf, request } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
let zoe: string;
let kickOff: string;
let spoken: string;
let lone: string;
beforeAll(async () => {
  holder = await holderOf(fixture());
  zoe = await holder.put.contact({ full_name: "Zoë Martin" });
  kickOff = await holder.put.session({ contact_id: zoe, title: "Kick-off", session_date: "2026-03-01T09:00:00Z" });
  spoken = await holder.put.session({ contact_id: zoe, title: "Second", session_date: "2026-03-02T09:00:00Z" });
  await holder.put.transcript({ session_id: spoken, transcript: "Zoë: A mouse." });
  lone = await holder.put.contact({ full_name: "Lone Larsen", notes: "Allergic to peanuts." });
  await holder.put.archive(await holder.put.contact({ full_name: "Quibbleton" }));
});

describe("unambiguous arguments [MCP-15]", () => {
  test.each([
    ["list_sessions", () => ({ limit: "1", offset: "1" }), () => ({ limit: 1, offset: 1 })],
    ["list_sessions", () => ({ limit: "1.0", has_transcript: "True" }), () => ({ limit: 1, has_transcript: true })],
    ["list_sessions", () => ({ has_transcript: "FALSE" }), () => ({ has_transcript: false })],
    ["search_contacts", () => ({ state: "ARCHIVED" }), () => ({ state: "archived" })],
    [
      "search_notes",
      () => ({ kind: " Session", contact_id: `Contact:${zoe}` }),
      () => ({ kind: "session", contact_id: zoe }),
    ],
    ["search_contacts", () => ({ query: "" }), () => ({})],
    ["search_contacts", () => ({ query: null }), () => ({ offset: 0 })],
    ["search_contacts", () => ({ query: "", state: "", brief: "", limit: "", offset: "" }), () => ({ offset: 0 })],
    ["search_contacts", () => ({ phone_ends_with: 142 }), () => ({ phone_ends_with: "142" })],
    ["search_contacts", () => ({ phone_ends_with: "+44 77 00900142" }), () => ({ phone_ends_with: "7700900142" })],
    ["search_contacts", () => ({ query: 2026, brief: " True " }), () => ({ query: "2026", brief: true })],
    ["search", () => ({ query: 2026 }), () => ({ query: "2026" })],
    ["search_transcripts", () => ({ query: 2026, limit: " +1 " }), () => ({ query: "2026", limit: 1 })],
    ["search_notes", () => ({ query: "" }), () => ({})],
    ["list_sessions", () => ({ query: "", contact_id: "", from: "", to: "", limit: "" }), () => ({})],
    ["list_sessions", () => ({ contact_id: `contact:${zoe}` }), () => ({ contact_id: zoe })],
    ["get_contact", () => ({ contact_id: `contact:${zoe}` }), () => ({ contact_id: zoe })],
    ["get_contact", () => ({ contact_id: `contact://${zoe}` }), () => ({ contact_id: zoe })],
    ["get_contact", () => ({ contact_id: ` ${zoe} ` }), () => ({ contact_id: zoe })],
    ["get_contact", () => ({ contactId: zoe }), () => ({ contact_id: zoe })],
    ["get_session_transcript", () => ({ sessionId: spoken }), () => ({ session_id: spoken })],
    ["get_contact", () => ({ contact_id: `"${zoe}"` }), () => ({ contact_id: zoe })],
    ["list_sessions", () => ({ contact_id: `{urn:uuid:${zoe}}` }), () => ({ contact_id: zoe })],
    ["list_sessions", () => ({ contact_id: "null", to: "None", limit: " undefined " }), () => ({})],
    ["list_sessions", () => ({ query: "null" }), () => ({ query: "NULL" })],
    ["list_sessions", () => ({ from: " 2026-03-02\n" }), () => ({ from: "2026-03-02" })],
    ["list_sessions", () => ({ from: "2026-03" }), () => ({ from: "2026-03-01" })],
    ["list_sessions", () => ({ to: "2026/3/1" }), () => ({ to: "2026-03-01" })],
    ["list_sessions", () => ({ from: "2026‑03‑02T08:30:00 UTC" }), () => ({ from: "2026-03-02T08:30:00Z" })],
    ["list_sessions", () => ({ from: "2026-03-01T09:00:01" }), () => ({ from: "2026-03-01T09:00:01Z" })],
    ["list_sessions", () => ({ to: "2026-03-01 09:00" }), () => ({ to: "2026-03-01T09:00:00Z" })],
    ["search_notes", () => ({ to: "2026-03-01T09:00:00.5+0200" }), () => ({ to: "2026-03-01T09:00:00.5+02:00" })],
    [
      "search_transcripts",
      () => ({ query: "mouse", from: "2026-03-02 10:00:00 +01" }),
      () => ({ query: "mouse", from: "2026-03-02T10:00:00+01:00" }),
    ],
    ["get_contact", () => ({ contact_id: `https://records.example.com/contacts/${zoe}` }), () => ({ contact_id: zoe })],
    ["get_session", () => ({ session_id: `session:${kickOff}` }), () => ({ session_id: kickOff })],
    [
      "get_session_transcript",
      () => ({ session_id: kickOff, offset: "0" }),
      () => ({ session_id: kickOff, offset: 0 }),
    ],
    [
      "get_session_transcript",
      () => ({ session_id: spoken, offset: "3.0" }),
      () => ({ session_id: spoken, offset: 3 }),
    ],
    ["get_session_transcript", () => ({ session_id: kickOff, offset: "" }), () => ({ session_id: kickOff })],
    [
      "get_session_transcript",
      () => ({ session_id: ` session:${spoken}`, query: 2026 }),
      () => ({ session_id: spoken, query: "2026" }),
    ],
    ["fetch", () => ({ id: zoe }), () => ({ id: `contact:${zoe}` })],
    ["fetch", () => ({ id: ` contact:${zoe}\n` }), () => ({ id: `contact:${zoe}` })],
    ["fetch", () => ({ id: `https://records.example.com/sessions/${kickOff}` }), () => ({ id: `session:${kickOff}` })],
    ["fetch", () => ({ id: kickOff }), () => ({ id: `session:${kickOff}` })],
    ["fetch", () => ({ id: `session://${kickOff}?offset=0` }), () => ({ id: `session:${kickOff}` })],
  ] as const)("are accepted by %s, case %#", async (name, given, exact) => {
    const [lenient, strict] = [await call(holder, name, given()), await call(holder, name, exact())];
    expect(strict.isError, strict.text).toBe(false);
    expect([lenient.structured, lenient.hint]).toEqual([strict.structured, strict.hint]);
  });

  test("whoami ignores the argument that some clients send to tools without any", async () => {
    const { structured } = await call(holder, "whoami", { random_string: "any" });
    expect(structured).toHaveProperty("now");
  });
});

test("no description promises a search of everything, and the times in the instructions are accepted [MCP-11] [MCP-16]", async () => {
  const { tools } = (await request(holder, "2026-07-28", "tools/list")).body.result;
  const { instructions } = (await request(holder, "2026-07-28", "server/discover")).body.result;
  expect(instructions).toMatch(/search covers neither archived contacts/);
  expect(instructions + JSON.stringify(tools)).not.toMatch(/everything,|search everything|to now\b/i);
  const [to = ""] = /2026-[0-9-]+T[0-9:]+Z/.exec(instructions) ?? [];
  expect((await call(holder, "list_sessions", { to })).structured.data).toEqual([]);
});

describe("the hint of an empty result [MCP-16]", () => {
  test.each([
    ["search_contacts", { query: "nobody" }, /fewer or different words.*search_notes/],
    ["list_sessions", { from: "2026-03-02", to: "2026-03-01" }, /`from` is later than `to`/],
    ["list_sessions", { from: "2031-03-01T10:00:00Z", to: "2031-03-01" }, /longer period/],
    ["list_sessions", { from: "2031-03-02T10:00:00+14:00", to: "2031-03-01" }, /longer period/],
    ["list_sessions", { offset: 100 }, /smaller offset/],
    ["list_sessions", { query: "nothing" }, /longer period/],
    ["search_notes", { query: "nothing" }, /list_sessions/],
    ["search_notes", { query: "nothing", offset: 5 }, /smaller offset/],
    ["search_notes", { query: "nothing", from: "2026-03-02", to: "2026-03-01" }, /`from` is later than `to`/],
    ["search_notes", { kind: "session", query: "nothing" }, /fewer conditions/],
    ["search_contacts", { state: "archived", has_email: true }, /No archived contact was found/],
    ["search_contacts", { state: "ARCHIVED", has_email: "TRUE" }, /No archived contact was found/],
    ["search_notes", { kind: "SESSION", contact_id: "5f0c3a52-8a1e-4f1e-9a4f-0d7c6b1f2e31" }, /newest 50 sessions/],
    ["search_notes", { contact_id: "5f0c3a52-8a1e-4f1e-9a4f-0d7c6b1f2e31" }, /the contact itself.*kind to session/],
    ["search_contacts", { state: "any", query: "nobody" }, /^No contact was found/],
    ["search_contacts", { last_session_before: "2020" }, /No active contact was found.*Use fewer conditions/],
    // With in_notes, archived contacts cannot be searched.
    [
      "search_contacts",
      { query: "nobody", in_notes: "True" },
      /^No notes.* omit in_notes\.(?!.*(?:state|with in_notes))/,
    ],
    ["search_contacts", { query: "zoe", offset: 5 }, /smaller offset/],
    ["search", { query: "nothing" }, /the person's name as it is written/],
    ["search", { query: "last week" }, /and dates \(list_sessions\)/],
    // The name of an archived contact is not searched.
    ["search", { query: "quibbleton" }, /^Nothing was found in names.* archived contacts \(search_contacts with state/],
    ["search_notes", { query: "peanuts" }, /^No note was found\..*search_contacts with in_notes/],
    ["search_contacts", { query: "peanuts" }, /search_contacts with in_notes/],
    ["search_notes", { query: "nothing" }, /with any_word: true, only some must/],
    ["search_notes", { query: "nothing", any_word: "True" }, /Use fewer conditions\. Try fewer or different words/],
  ] as const)("says what to try after %s, case %#", async (name, given, says) => {
    const { hint, structured } = await call(holder, name, given);
    expect(structured.data ?? structured.results).toEqual([]);
    expect(hint).toMatch(says);
  });

  test.each([
    ["get_session", () => ({ session_id: kickOff }), /get_session_transcript/],
    ["get_session_transcript", () => ({ session_id: kickOff }), /no transcript.*has_transcript/],
    ["get_session_transcript", () => ({ session_id: spoken, offset: 100 }), /smaller one/],
    ["get_session_transcript", () => ({ session_id: spoken, query: "elephant" }), /leave out query/],
    ["search_transcripts", () => ({ contact_id: lone, query: "elephant" }), /without contact_id.*search_notes/],
    ["search_transcripts", () => ({ query: "mouse", offset: 1 }), /smaller offset/],
    ["get_contact", () => ({ contact_id: lone }), /^This contact has no timeline notes and .*list_sessions/],
    ["search_notes", () => ({ contact_id: lone, kind: "session" }), /^No note of the contact's newest 50 sessions/],
    ["fetch", () => ({ id: `contact:${lone}?offset=99999` }), /ends before this offset: pass the id without it/],
  ] as const)("says what to try after %s for one record, case %#", async (name, given, says) => {
    const { hint, isError, text } = await call(holder, name, given());
    expect(isError, text).toBe(false);
    expect(hint).toMatch(says);
  });

  test("is absent from every other result [MCP-16]", async () => {
    for (const [name, given] of [
      ["list_sessions", {}],
      ["get_contact", { contact_id: zoe }],
      ["get_session_transcript", { session_id: spoken }],
      ["fetch", { id: `session:${kickOff}` }],
    ] as const)
      expect((await call(holder, name, given)).hint, name).toBeUndefined();
  });
});
