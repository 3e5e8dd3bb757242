// The tools' errors for invalid arguments and unknown records.
import { describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { randomId } from "../../fixtures/service/service.ts";
import { useListed } from "./listed.ts";
import { call } from "./set-up.ts";

const fixture = useSignInFixture();
const { holder, flaws } = useListed(fixture);

describe("rejected arguments", () => {
  const [contactId, sessionId] = [
    "must be a valid UUID. search_contacts finds the ids of contacts.",
    "must be a valid UUID. list_sessions finds the ids of sessions.",
  ];
  const date =
    "must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z. Now it is …";
  test.each([
    ["search_contacts", { query: true }, "query: must be a string"],
    ["search_contacts", { query: "a" }, "query: must be at least 2 characters"],
    ["search_contacts", { query: "a".repeat(101) }, "query: must be at most 100 characters"],
    ["search_contacts", { query: "ann\ud800" }, "query: must not contain a lone surrogate"],
    [
      "search_contacts",
      { query: "ann", page: 5 },
      "page: must be left out: the arguments are query, state, has_email, limit, offset, any_word, brief, last_session_before, in_notes, phone_ends_with",
    ],
    ["search_contacts", { phone_ends_with: "4x" }, "phone_ends_with: must be 2 to 10 digits"],
    ["get_contact", {}, "contact_id: is required"],
    ["get_contact", { contact_id: ["x"] }, "contact_id: must be a string"],
    ["get_contact", { contact_id: "Zoë" }, `contact_id: ${contactId}`],
    ["get_contact", { contact_id: `session:${randomId()}` }, `contact_id: ${contactId}`],
    ["get_contact", { contact_id: `https://records.example.com/sessions/${randomId()}` }, `contact_id: ${contactId}`],
    ["get_contact", { id: "x" }, "id: must be left out: the arguments are contact_id; contact_id: is required"],
    [
      "get_contact",
      { "\udc00": 1, contact_id: "x" },
      `\ufffd: must be left out: the arguments are contact_id; contact_id: ${contactId}`,
    ],
    ["list_sessions", { limit: "five" }, "limit: must be a whole number"],
    ["list_sessions", { limit: 1.5 }, "limit: must be a whole number"],
    ["list_sessions", { limit: 0 }, "limit: must be from 1 to 25"],
    ["list_sessions", { limit: 26 }, "limit: must be from 1 to 25"],
    ["list_sessions", { limit: 3_000_000_000 }, "limit: must be at most 25"],
    ["list_sessions", { limit: "-9999999999" }, "limit: must be at least 1"],
    ["list_sessions", { offset: 3_000_000_000 }, "offset: must be at most 2147483647"],
    ["list_sessions", { offset: -1 }, "offset: must be at least 0"],
    ["list_sessions", { from: "2026-02-30" }, `from: ${date}`],
    ["list_sessions", { to: "yesterday" }, `to: ${date}`],
    ["list_sessions", { from: "2026-13" }, `from: ${date}`],
    ["list_sessions", { from: "2026-03-01 24:00" }, `from: ${date}`],
    ["search_transcripts", { query: "mouse", to: "1772355600" }, `to: ${date}`],
    ["list_sessions", { has_transcript: "yes" }, "has_transcript: must be true or false"],
    ["get_session", { session_id: "null" }, "session_id: is required"],
    [
      "get_contact",
      { contact_id: randomId(), contactId: randomId() },
      "contactId: must be left out: the arguments are contact_id",
    ],
    ["list_sessions", { from: ["2026-01-01"] }, "from: must be a string"],
    ["list_sessions", { contact_id: "x", limit: true }, `limit: must be a whole number; contact_id: ${contactId}`],
    ["get_session", { session_id: "" }, "session_id: must not be empty"],
    [
      "get_session_transcript",
      { session_id: "x", offset: -1 },
      `offset: must be a whole number from 0 to 2147483647; session_id: ${sessionId}`,
    ],
    [
      "get_session_transcript",
      { session_id: randomId(), offset: "forty" },
      "offset: must be a whole number from 0 to 2147483647",
    ],
    ["get_session_transcript", { limit: 1 }, "limit: must be left out: the arguments are session_id, offset, query"],
    ["search_notes", { query: "ab", limit: 26 }, "limit: must be from 1 to 25"],
    ["search_contacts", { state: "asleep" }, "state: must be one of active, archived, any"],
    ["search", {}, "query: is required"],
    ["search", { query: ["a"] }, "query: must be a string"],
    ["search", { query: " " }, "query: must be at least 2 characters"],
    ["search", { query: "ann", limit: 3 }, "limit: must be left out: the arguments are query"],
    ["fetch", {}, "id: must be contact:<uuid> or session:<uuid>, as search returns it"],
    ["fetch", { id: `${randomId()}0` }, "id: must be contact:<uuid> or session:<uuid>, as search returns it"],
    ["fetch", { id: `note:${randomId()}` }, "id: must be contact:<uuid> or session:<uuid>, as search returns it"],
    ["fetch", { id: "contact:x", page: 1 }, "page: must be left out: the arguments are id"],
    [
      "fetch",
      { page: 1, size: 2 },
      "page: must be left out: the arguments are id; size: must be left out: the arguments are id",
    ],
  ])("%s with %j returns the error: %s [MCP-11]", async (name, given, said) => {
    for (const revision of ["2026-07-28", "2025-06-18"] as const) {
      const { isError, text, structured } = await call(holder(), name, given, revision);
      expect(text.replace(/(?<=Now it is )[-0-9T:.]{23}Z\.$/, "…")).toBe(said);
      expect(isError).toBe(true);
      expect(structured).toBeUndefined();
    }
  });

  test("the input schema accepts the arguments that the tool accepts, and rejects most others [MCP-07] [MCP-11]", () => {
    const check = (name: string, given: unknown): boolean =>
      Array.isArray(flaws(name, "inputSchema", given)) && (flaws(name, "inputSchema", given) as unknown[]).length === 0;
    expect(
      [{ query: "an" }, { query: "a" }, { query: "an", page: 1 }].map((given) => check("search_contacts", given)),
    ).toEqual([true, false, false]);
    expect(
      [{}, { limit: 25 }, { limit: 26 }, { from: "2026-02-30" }, { from: "2026-01-31T09:30:00Z" }].map((given) =>
        check("list_sessions", given),
      ),
    ).toEqual([true, true, false, true, true]);
    expect([{ query: "x".repeat(5_000) }, { query: "" }].map((given) => check("search", given))).toEqual([true, false]);
  });

  test("the response stays small, however many arguments are invalid [MCP-11]", async () => {
    const given = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`argument_${at}`, at]));
    const { isError, text } = await call(holder(), "get_session", given);
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(5_000);
    const more = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`argument_${at}`, at]));
    await expect(call(holder(), "get_session", more)).rejects.toThrow(/^get_session: .{1,1000}$/);
  });

  test.each([
    ["get_contact", "contact_id", "", "search_contacts finds the ids of contacts."],
    ["get_session", "session_id", "", "list_sessions finds the ids of sessions."],
    ["get_session_transcript", "session_id", "", "list_sessions finds the ids of sessions."],
    ["fetch", "id", "contact:", "search_contacts finds the ids of contacts."],
    ["fetch", "id", "session:", "list_sessions finds the ids of sessions."],
    ["fetch", "id", "", "search finds the ids of contacts and sessions."],
  ])("%s says after an unknown %s where to find ids: %s [MCP-11]", async (name, argument, prefix, where) => {
    expect(await call(holder(), name, { [argument]: prefix + randomId() })).toEqual({
      isError: true,
      text: `There is no such record in this account. Check the id. ${where}`,
      structured: undefined,
    });
  });
});
