// No result fills a model's context, whatever the records hold: a cut result says so, and how to get the rest.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { bounded, resultBytes } from "../../../src/mcp/bounds.ts";
import type { Holder, Outcome } from "./set-up.ts";
import { call, holderOf } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
let ann: string;
let meeting: string;
/** Characters of every size in JSON, from one byte to six. */
const wide = (length: number): string =>
  `ann ${'a"é漢🙂\u0001'.repeat(Math.ceil(length / 6))}`.slice(0, length).replace(/\p{Surrogate}/gu, "");
const long = wide(100_000);

beforeAll(async () => {
  holder = await holderOf(fixture());
  const { put } = holder;
  const contact = (at: number) => ({
    full_name: `ann ${at} ${wide(190)}`.slice(0, 200).replace(/\p{Surrogate}/gu, ""),
    inferred_name: wide(200),
    email: `ann${at}@${"a".repeat(60)}.${"b".repeat(60)}.example.org`,
    phone: "1".repeat(50),
    notes: long,
    memory: long,
  });
  const contacts: string[] = [];
  for (let at = 0; at < 25; at++) contacts.push(await put.contact(contact(at)));
  ann = contacts[24] ?? "";
  for (let at = 0; at < 50; at++)
    await put.contactNotes({ contact_id: ann, content: `${at} ${wide(10_000)}`, source: wide(100) });
  const session = (at: number) => ({
    contact_id: ann,
    title: `ann ${at} ${wide(980)}`,
    subtitle: wide(1_000),
    session_date: new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString(),
    recording_status: wide(100),
    source: wide(100),
    conference_provider: wide(100),
    conference_url: `https://example.org/${"x".repeat(1_900)}`,
    provider_doc_url: `https://example.org/${"x".repeat(1_900)}`,
  });
  for (let at = 0; at < 60; at++) meeting = await put.session(session(at));
  for (let at = 0; at < 12; at++)
    await put.sessionNotes({
      session_id: meeting,
      title: wide(1_000),
      title_slug: wide(1_000),
      content: long,
      position: at,
      type: "SESSION_NOTE_TYPE_USER_MANUAL",
    });
  await put.transcript({ session_id: meeting, transcript: long });
});

/** Calls a tool, and checks its result against the bound. */
async function within(name: string, given: Record<string, unknown>): Promise<Outcome> {
  const outcome = await call(holder, name, given);
  expect(outcome.isError, outcome.text.slice(0, 500)).toBe(false);
  expect(Buffer.byteLength(JSON.stringify(outcome.structured)), name).toBeLessThanOrEqual(60_000);
  expect(Buffer.byteLength(outcome.text), name).toBeLessThanOrEqual(60_000);
  return outcome;
}

describe("with every field at its limit", () => {
  test.each([
    ["search_contacts", () => ({ query: "ann" }), /get_contact.*fetch/],
    ["get_contact", () => ({ contact_id: ann }), /fetch, with the id contact:/],
    ["get_session", () => ({ session_id: meeting }), /fetch, with the id session:/],
  ] as const)("%s is cut, says so, and says how to get the rest [MCP-14]", async (name, given, rest) => {
    const { structured } = await within(name, given());
    expect(structured).toMatchObject({ truncated: true, hint: expect.stringMatching(rest) });
    expect(JSON.stringify(structured)).toContain("… (cut: the text has ");
    // The result is not empty.
    expect(Buffer.byteLength(JSON.stringify(structured))).toBeGreaterThan(30_000);
  });

  test("search_contacts names all 25 contacts [MCP-14]", async () => {
    const { structured } = await within("search_contacts", { query: "ann" });
    expect(new Set((structured.data as { id: string }[]).map(({ id }) => id)).size).toBe(25);
  });

  test.each([
    ["list_sessions", { limit: 25 }, 60],
    ["search_notes", { query: "ann", limit: 25 }, 62],
  ] as const)("%s has shorter pages, which together have everything once [MCP-14]", async (name, given, all) => {
    const seen: string[] = [];
    let cut = 0;
    for (let offset: number | null = 0; offset !== null; ) {
      const { structured } = await within(name, { ...given, offset });
      cut += structured.truncated === true ? 1 : 0;
      const items = structured.data as { id?: string; content?: string }[];
      expect(structured.pagination.has_more).toBe(structured.pagination.next_offset !== null);
      seen.push(...items.map((item) => item.id ?? JSON.stringify(item)));
      offset = structured.pagination.next_offset as number | null;
    }
    expect([seen.length, cut > 0]).toEqual([all, true]);
    if (name === "list_sessions") expect(new Set(seen).size).toBe(all);
  });

  test.each([
    ["session", () => meeting],
    ["contact", () => ann],
  ] as const)("fetch returns everything of a %s, page by page [MCP-10, MCP-14]", async (kind, id) => {
    let whole = "";
    let pages = 0;
    for (let next: string | undefined = `${kind}:${id()}`; next !== undefined; pages++) {
      const { structured } = await within("fetch", { id: next });
      expect(structured.id).toBe(`${kind}:${id()}`);
      next = structured.metadata.next_id as string | undefined;
      // The contact has 50 notes, and so may have older ones.
      expect(structured.truncated).toBe(next === undefined && kind === "session" ? undefined : true);
      whole += withoutMarks(structured.text as string, next);
    }
    expect(pages).toBeGreaterThan(2);
    expect(whole.replace(/^ *> /gm, "").includes(long)).toBe(true);
  });

  test.each([
    ["🙂".repeat(1_000), "ж".repeat(60_000)],
    [`x${"\u0001".repeat(999)}`, "x".repeat(100_000)],
  ])("fetch loses nothing next to a large title, case %# [MCP-10, MCP-14]", async (title, transcript) => {
    const session = await holder.put.session({ title });
    await holder.put.transcript({ session_id: session, transcript });
    let whole = "";
    for (let next: string | undefined = `session:${session}`; next !== undefined; ) {
      const { structured } = await within("fetch", { id: next });
      next = structured.metadata.next_id as string | undefined;
      whole += withoutMarks(structured.text as string, next);
    }
    expect(whole).toBe(`# ${title}\n\n## Transcript\n> ${transcript}`);
  });

  test("search is within the bound [MCP-14]", async () => {
    expect((await within("search", { query: "ann" })).structured.results).toHaveLength(20);
  });
});

/** The page of a text, without the hint at its end and the mark of a line that the page before begins. */
function withoutMarks(text: string, next: string | undefined): string {
  return text.replace(`\n\n(The text continues: fetch ${next})`, "").replace(/^(?:> )?… /, "");
}

test("a result that fits is unchanged, and one byte more is cut [MCP-14]", () => {
  const of = (length: number) => ({ data: { text: "x".repeat(length) } });
  const most = resultBytes - JSON.stringify(of(0)).length - 20;
  expect(bounded(of(most - 20), "rest").content).toEqual(of(most - 20));
  expect(bounded(of(resultBytes), "rest").content).toMatchObject({ truncated: true, hint: "rest" });
});

test("keeps as many items of an inner list as fit [MCP-14]", () => {
  const notes = Array.from({ length: 250 }, () => ({ content: "x".repeat(400) }));
  const { text } = bounded({ data: { notes } }, "rest");
  expect(Buffer.byteLength(text)).toBeGreaterThan(40_000);
});

test("cutting takes no longer for a larger result, and splits no character [MCP-14]", () => {
  const notes = Array.from({ length: 200_000 }, () => ({ content: "🙂🙂🙂" }));
  const { content, text } = bounded({ data: { notes, memory: "🙂".repeat(400_000) } }, "rest");
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(resultBytes);
  expect(text).not.toMatch(/\p{Surrogate}/u);
  expect(content).toMatchObject({ truncated: true });
});
