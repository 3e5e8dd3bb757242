// Everyday questions in few calls: who the user has not met since, what comes next, who works where, who "I" is.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { ann } from "../../fixtures/sign-in/users.ts";
import { useListed } from "./listed.ts";
import type { Holder } from "./set-up.ts";
import { call, message, post, request, revisions } from "./set-up.ts";

const fixture = useSignInFixture();
const { holder: holding, listed } = useListed(fixture);
let holder: Holder;
const ids: Record<string, string> = {};

beforeAll(async () => {
  holder = holding();
  const { put } = holder;
  const contact = async (name: string, more: object = {}): Promise<void> => {
    ids[name] = await put.contact({ full_name: name, ...more });
  };
  const session = async (title: string, more: object): Promise<void> => {
    ids[title] = await put.session({ title, ...more });
  };
  await contact("Orla Quist", { memory: "Runs the ticket counter of the Brackwater ferry.", notes: "Likes figs." });
  await contact("Odd Quist", { memory: "Works as a potter. Knows Über-Wasser boats." });
  await contact("Pia Never");
  await session("Spring talk", { contact_id: ids["Orla Quist"], session_date: "2025-04-02T10:00:00Z" });
  await session("Autumn talk", { contact_id: ids["Odd Quist"], session_date: "2025-10-02T10:00:00Z" });
  await session("Far away", { contact_id: ids["Orla Quist"], session_date: "2098-12-01T09:00:00Z" });
  await session("Soon", { contact_id: ids["Orla Quist"], session_date: "2098-02-01T09:00:00Z" });
  await session("Later", { session_date: "2098-07-01T09:00:00Z" });
  await session("Some day", {});
  await put.sessionNotes({
    session_id: ids["Spring talk"] as string,
    content: `${"Nothing else. ".repeat(90)}The glazier wants marzipan.`,
    position: 0,
    created_at: "2025-03-20T08:00:00Z",
    type: "SESSION_NOTE_TYPE_AI_MEETING_PREP",
  });
});

const names = async (given: Record<string, unknown>): Promise<string[]> =>
  (await call(holder, "search_contacts", given)).structured.data.map((row: { full_name: string }) => row.full_name);
const titles = async (given: Record<string, unknown>): Promise<string[]> =>
  (await call(holder, "list_sessions", given)).structured.data.map((row: { title: string }) => row.title);

describe("last_session_before [MCP-17] [MCP-45]", () => {
  test.each([
    [{ last_session_before: "2025-06-01" }, ["Orla Quist"]],
    [{ last_session_before: "2025-04-02" }, []],
    [{ last_session_before: "2025-04-02T10:00:00.001Z" }, ["Orla Quist"]],
    [{ last_session_before: "2025-04-02T10:00:00Z" }, []],
    [{ last_session_before: "2026-01-01" }, ["Odd Quist", "Orla Quist"]],
    [{ last_session_before: "2026-01-01", query: "quist", limit: 1 }, ["Odd Quist"]],
    [{ last_session_before: "2026-01-01", query: "quist", limit: 1, offset: 1 }, ["Orla Quist"]],
    [{ last_session_before: "2025-06-01", query: "quist odd", any_word: true }, ["Orla Quist"]],
    [{ last_session_before: "2025-06-01", query: "works", in_notes: true }, []],
    [{ last_session_before: "2097-01-01", brief: true, state: "any" }, ["Odd Quist", "Orla Quist"]],
  ])("%j finds %j: planned meetings do not count, and neither do contacts without a past one", async (given, found) => {
    expect((await names(given)).sort()).toEqual(found);
  });

  test("rows show the date, in brief and in full, and follow changed sessions", async () => {
    const row = async (given: object): Promise<unknown> =>
      (await call(holder, "search_contacts", { query: "orla", ...given })).structured.data[0].last_session_date;
    expect(await row({ brief: true })).toBe("2025-04-02T10:00:00.000Z");
    expect(await row({ last_session_before: "2026-01-01" })).toBe("2025-04-02T10:00:00.000Z");
    const extra = {
      contact_id: ids["Orla Quist"] as string,
      session_date: "2025-05-05T10:00:00Z",
      external_id: "moved",
    };
    await holder.put.session(extra);
    expect(await row({ brief: true })).toBe("2025-05-05T10:00:00.000Z");
    await holder.put.session({ ...extra, session_date: "2097-05-05T10:00:00Z" });
    expect(await row({ brief: true })).toBe("2025-04-02T10:00:00.000Z");
    const pia = (await call(holder, "search_contacts", { query: "pia", brief: true })).structured.data[0];
    expect(pia).not.toHaveProperty("last_session_date");
    expect(pia).not.toHaveProperty("notes");
  });
});

describe("order [MCP-17] [MCP-44]", () => {
  test.each([
    [{ from: "2098-01-01", order: "soonest" }, ["Soon", "Later", "Far away"]],
    [{ from: "2098-01-01" }, ["Far away", "Later", "Soon"]],
    [{ from: "2098-01-01", order: "newest" }, ["Far away", "Later", "Soon"]],
    [{ from: "2098-01-01", order: "Soonest", limit: 1, offset: 1 }, ["Later"]],
    [{ to: "2026-01-01", order: "soonest" }, ["Spring talk", "Autumn talk"]],
    [{ to: "2098-06-30", order: "soonest", contact_name: "odd" }, []],
    [{ from: "2098-01-01", order: "soonest", contact_name: "orla" }, ["Soon", "Far away"]],
    [{ from: "2098-01-01", order: "soonest", query: "far" }, ["Far away"]],
  ])("%j lists %j", async (given, found) => {
    expect(await titles(given)).toEqual(found);
  });

  test("an empty period names the next session and the one before, by the same conditions [MCP-16, MCP-47]", async () => {
    const hintOf = async (given: Record<string, unknown>): Promise<string> =>
      (await call(holder, "list_sessions", given)).hint ?? "";
    const next = (title: string, at: string): string => `The next session is ${ids[title]}, at ${at}.`;
    const previous = (title: string, at: string): string => `The previous session is ${ids[title]}, at ${at}.`;
    const [spring, autumn] = ["2025-04-02T10:00:00.000Z", "2025-10-02T10:00:00.000Z"];
    const soon = "2098-02-01T09:00:00.000Z";
    const between = await hintOf({ from: "2025-06-01", to: "2025-06-01" });
    expect(between).toContain(`${next("Autumn talk", autumn)} ${previous("Spring talk", spring)}`);
    const ofOrla = await hintOf({ from: "2097-06-01", to: "2097-06-30", contact_id: ids["Orla Quist"], limit: 3 });
    expect(ofOrla).toContain(next("Soon", soon));
    const late = await hintOf({ from: "2099-06-01", contact_id: `contact:${ids["Odd Quist"]}` });
    expect(late).toContain(previous("Autumn talk", autumn));
    expect(late).not.toContain("The next session");
    const early = await hintOf({ to: "2025-04-02T09:59:59.999Z", order: "soonest", query: "talk" });
    expect(early).toContain(next("Spring talk", spring));
    expect(early).not.toContain("The previous");
    for (const given of [{ from: "2026-01-02", to: "2026-01-01" }, { query: "zzzzzz" }, { offset: 500 }])
      expect(await hintOf(given)).not.toMatch(/The (next|previous) session/);
  });

  test("soonest begins now, and leaves out sessions without a date", async () => {
    const found = await titles({ order: "soonest", contact_id: ids["Orla Quist"] });
    expect(found.filter((title) => title !== null)).toEqual(["Soon", "Far away"]);
    expect(await titles({ order: "soonest" })).not.toContain("Some day");
  });
});

describe("search [MCP-10] [MCP-43]", () => {
  const results = async (query: string): Promise<{ id: string; date: string; person: string; snippet: string }[]> =>
    (await call(holder, "search", { query })).structured.results;

  test("a session that a note led to has its own date and contact, and the words of the note", async () => {
    const [one] = await results("marzipan");
    expect(one).toMatchObject({
      id: `session:${ids["Spring talk"]}`,
      date: "2025-04-02T10:00:00.000Z",
      person: "Orla Quist",
      snippet: expect.stringContaining("marzipan"),
    });
  });

  test("contacts are found by their notes and memory, the rarer word first", async () => {
    expect((await results("figs")).map(({ id }) => id)).toEqual([`contact:${ids["Orla Quist"]}`]);
    const [first] = await results("Who works at the Brackwater ferry?");
    expect(first?.id).toBe(`contact:${ids["Orla Quist"]}`);
    expect(await names({ query: "uber boats", in_notes: true })).toEqual(["Odd Quist"]);
    expect(await names({ query: "quist", in_notes: true })).toEqual([]);
  });

  test("a snippet is around a keyword, and never around a stop word", async () => {
    const filler = "Alone without closing words. ".repeat(20);
    await holder.put.contact({ full_name: "Tam Iver", notes: `${filler}He rows with Hubert on Fridays. ${filler}` });
    const [found] = await results("meetings with Hubert");
    expect(found?.snippet).toMatch(/Hubert/);
    expect(found?.snippet.startsWith("…")).toBe(true);
  });
});

test("search_notes without a query returns the newest notes, and a snippet where the match is cut off [MCP-17] [MCP-46]", async () => {
  const { structured } = await call(holder, "search_notes", { limit: 1 });
  expect([structured.data.length, structured.pagination.offset]).toEqual([1, 0]);
  expect(structured.data[0]).not.toHaveProperty("snippet");
  const [note] = (await call(holder, "search_notes", { query: "marzipan" })).structured.data;
  expect(note.content).not.toContain("marzipan");
  expect(note.snippet).toContain("The glazier wants marzipan.");
});

test("whoami and the instructions name the signed-in user [MCP-06] [MCP-51]", async () => {
  const { structured, hint } = await call(holder, "whoami");
  expect(structured).toEqual({ name: ann.name, email: ann.email, now: expect.stringMatching(/^2\d{3}-.*Z$/) });
  expect(hint).toMatch(/does not say the time zone/);
  const { body } = await request(holder, "2026-07-28", "server/discover");
  expect(body.result.instructions).toContain(`"I" is the signed-in user: ${ann.name}, ${ann.email}.`);
});

test("null counts as absent in params and _meta [MCP-03] [MCP-50]", async () => {
  for (const params of [null, { _meta: null }, { _meta: { progressToken: null } }, { cursor: null, _meta: null }]) {
    const sent = JSON.stringify({ ...message("2025-06-18", "tools/list"), params });
    const { status, body } = await post(holder.url, sent, { token: holder.token });
    expect([status, body.result.tools.length], JSON.stringify(params)).toEqual([200, listed().length]);
  }
});

describe("the list of tools", () => {
  /** What function calling of Gemini or OpenAI rejects in arguments, or a bridge to them. */
  const accepted = ["type", "description", "properties", "required", "additionalProperties", "enum", "items"];
  const bounds = ["minLength", "maxLength", "minimum", "maximum", "default"];

  test("has inputs with keywords that every kind of function calling accepts [MCP-07] [MCP-48]", () => {
    const keywords = (schema: unknown): string[] => {
      const { properties = {}, items, ...others } = schema as { properties?: object; items?: unknown };
      return [
        ...Object.keys(others),
        ...Object.values(properties).flatMap(keywords),
        ...(items === undefined ? [] : keywords(items)),
      ];
    };
    for (const { name, inputSchema } of listed())
      expect(
        keywords(inputSchema).filter((one) => ![...accepted, ...bounds].includes(one)),
        name,
      ).toEqual([]);
  });

  test("has at most 4,500 tokens [MCP-07] [MCP-48]", async () => {
    for (const revision of revisions) {
      const { text } = await request(holder, revision, "tools/list");
      expect(Buffer.byteLength(text) / 4, revision).toBeLessThanOrEqual(4_500);
    }
  });
});
