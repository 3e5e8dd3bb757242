// search and fetch, in the form that general assistants expect: fetch returns what search finds.
import { beforeAll, describe, expect, test } from "vitest";
import { truncateQuery } from "../../../src/mcp/first-words.ts";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf } from "./set-up.ts";

interface Found {
  readonly id: string;
  readonly title: string;
  readonly url: string;
}

const fixture = useSignInFixture();
let holder: Holder;
let zoe: string;
let kickOff: string;
beforeAll(async () => {
  holder = await holderOf(fixture());
  const { put } = holder;
  zoe = await put.contact({
    full_name: "Zoë Martin",
    email: "zoe@example.org",
    phone: "+33 1 99 00 41 07",
    notes: 'Likes <b>tea</b> & "quotes"',
    memory: "Met in Lyon",
  });
  kickOff = await put.session({
    contact_id: zoe,
    title: "Kick-off",
    subtitle: "The plan",
    session_date: "2026-03-01T09:00:00Z",
    recording_status: "completed",
  });
  await put.contactNotes({
    contact_id: zoe,
    content: "Prefers mornings 🌅",
    source: "manual",
    created_at: "2026-02-03T10:00:00Z",
  });
  await put.sessionNotes({
    session_id: kickOff,
    title: "Summary",
    content: "The lighthouse comes first",
    position: 0,
    type: "SESSION_NOTE_TYPE_AI_PREDEFINED",
  });
  await put.transcript({ session_id: kickOff, transcript: "Maya: hello\nZoë: hello 👋" });
});

async function search(query: string): Promise<readonly Found[]> {
  const { isError, text, structured } = await call(holder, "search", { query });
  if (isError) throw new Error(`search ${query}: ${text}`);
  return structured.results as Found[];
}
const fetchOne = async (
  id: string,
): Promise<Found & { readonly text: string; readonly metadata: Record<string, string> }> =>
  (await call(holder, "fetch", { id })).structured;

describe("search", () => {
  test("finds contacts, sessions and the parents of notes, each with its id, title, address, date, contact and a snippet [MCP-10]", async () => {
    const { base } = fixture();
    const contact = expect.objectContaining({
      id: `contact:${zoe}`,
      title: "Zoë Martin",
      url: `${base}/contacts/${zoe}`,
      person: "Zoë Martin",
      date: expect.stringMatching(/^20/),
      snippet: expect.any(String),
    });
    const about = { id: `session:${kickOff}`, title: "Kick-off", url: `${base}/sessions/${kickOff}` };
    const session = expect.objectContaining({
      ...about,
      date: expect.stringMatching(/^20/),
      snippet: expect.any(String),
    });
    expect((await call(holder, "search", { query: "zoe" })).structured).toEqual({
      results: [
        {
          ...contact.sample,
          snippet: 'zoe@example.org · +33 1 99 00 41 07 · Likes <b>tea</b> & "quotes" · Met in Lyon',
        },
        { ...about, date: "2026-03-01T09:00:00.000Z", person: "Zoë Martin", snippet: "The plan" },
      ],
    });
    expect(await search("mornings")).toEqual([contact]);
    expect(await search("lighthouse")).toEqual([session]);
    expect(await search("kick off")).toEqual([session]);
    expect(await search("33199004107")).toEqual([contact]);
    expect(await search("nobody")).toEqual([]);
  });

  test.each([
    ["What did Zoë Martin say about the kick-off?", () => [zoe, kickOff]],
    ["zoe budget", () => [zoe, kickOff]],
    ["Was hat Frau Martin über den Leuchtturm gesagt, und was ist mit lighthouse?", () => [zoe, kickOff]],
    ["when was it that we had the nothing of them", () => []],
  ] as const)("understands a sentence: %s [MCP-10]", async (sentence, expected) => {
    const found = (await search(sentence)).map(({ id }: { id: string }) => id.slice(id.indexOf(":") + 1));
    expect(found.filter((id: string) => [zoe, kickOff].includes(id)).sort()).toEqual([...expected()].sort());
  });

  test.each([
    ["森口葵との顔合わせはいつですか", "森口 葵", "顔合わせ"],
    ["我上次和乔若溪开会是什么时候", "乔若溪", "开会"],
    ["ประชุมกับวิชุดาเมื่อไหร่", "วิชุดา ศรีงาม", "ประชุม"],
  ])("understands a sentence without blanks: %s [MCP-10]", async (sentence, full_name, title) => {
    const contact = await holder.put.contact({ full_name });
    const session = await holder.put.session({ contact_id: contact, title });
    const found = (await search(sentence)).map(({ id }) => id);
    expect(found).toEqual(expect.arrayContaining([`contact:${contact}`, `session:${session}`]));
  });

  test("returns a record once, however often it matches [MCP-10]", async () => {
    const id = await holder.put.session({ title: "Harbour", session_date: "2026-04-01T09:00:00Z" });
    await holder.put.sessionNotes(
      ...[0, 1, 2].map((position) => ({
        session_id: id,
        content: "harbour harbour",
        position,
        type: "SESSION_NOTE_TYPE_USER_MANUAL",
      })),
    );
    expect((await search("harbour")).map(({ id: found }) => found)).toEqual([`session:${id}`]);
  });

  test("blanks and lone surrogates before the words do not count, and only the first 1,000 characters do [MCP-10]", async () => {
    for (const before of [" ".repeat(1_500), "\ud800".repeat(1_500), `x${"\n".repeat(1_500)}`])
      expect((await search(`${before} mornings`)).length).toBeGreaterThan(0);
    expect(await search(`${"qqqq ".repeat(250)}mornings`)).toEqual([]);
  });

  test("many matches of one kind do not displace the others, and there are at most 20 results [MCP-10]", async () => {
    const ids = await holder.put.contacts(...Array.from({ length: 30 }, (_, at) => ({ full_name: `Quincy ${at}` })));
    const session = await holder.put.session({ title: "Quincy and all" });
    await holder.put.contactNotes({ contact_id: zoe, content: "knows Quincy", source: "manual" });
    const results = await search("quincy");
    expect(results).toHaveLength(20);
    expect(results.slice(1, 3).map(({ id }) => id)).toEqual([`session:${session}`, `contact:${zoe}`]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(20);
    expect(results.filter(({ id }) => ids.includes(id.slice("contact:".length)))).toHaveLength(18);
  });

  test("a record without a name still gets a title [MCP-10]", async () => {
    const [nameless, mail, imported] = await holder.put.contacts(
      { phone: "+49 30 5551234" },
      { email: "walrus@example.org" },
      { inferred_name: "Wally Walrus" },
    );
    const untitled = await holder.put.session({});
    await holder.put.sessionNotes({
      session_id: untitled,
      content: "the walrus spoke",
      position: 0,
      type: "SESSION_NOTE_TYPE_USER_MANUAL",
    });
    await holder.put.contactNotes({ contact_id: nameless, content: "walrus lover", source: "manual" });
    const titles = new Map((await search("walrus")).map(({ id, title }) => [id, title]));
    expect(titles).toEqual(
      new Map([
        [`contact:${mail}`, "walrus@example.org"],
        [`contact:${imported}`, "Wally Walrus"],
        [`session:${untitled}`, "Untitled session"],
        [`contact:${nameless}`, "Untitled contact"],
      ]),
    );
    expect((await search("5551234"))[0]?.title).toBe("+49 30 5551234");
  });

  test("a long sentence is cut to its first words and not rejected [MCP-10]", async () => {
    const id = await holder.put.session({
      title:
        "Alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon",
    });
    const sentence =
      "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon and what nobody ever said of it";
    expect((await search(sentence)).map(({ id: found }) => found)).toEqual([`session:${id}`]);
    expect(await search("x".repeat(50_000))).toEqual([]);
    expect(await search("👋".repeat(5_000))).toEqual([]);
  });

  test.each([
    ["  two words ", "two words"],
    ["a".repeat(100), "a".repeat(100)],
    ["a".repeat(101), "a".repeat(100)],
    [`${"a".repeat(98)} b c`, `${"a".repeat(98)} b`],
    [`${"a".repeat(98)} bc`, "a".repeat(98)],
    [`${"a".repeat(60)}   ${"b".repeat(60)}`, "a".repeat(60)],
    ["👋".repeat(120), "👋".repeat(100)],
    ["", ""],
  ])("searches of %j the first words %j [MCP-10]", (text, words) => {
    expect(truncateQuery(text)).toBe(words);
  });

  test.each([
    ["a name that is a stop word of some language", "Will Xlopez", { full_name: "Will Xlopez" }],
    ["a name that is a stop word without its accent", "the mail of Sara Xlopez", { full_name: "Sara Xlopez" }],
    ["groups of a phone number that repeat", "555 555 0177", { full_name: "Repeated", phone: "5555550177" }],
  ])("finds %s first [MCP-10]", async (_what, query, contact) => {
    for (const first of ["Pia", "Pat", "Per"]) await holder.put.contact({ full_name: `${first} Xlopez` });
    const id = await holder.put.contact({ ...contact, updated_at: "2020-01-01T00:00:00Z" });
    expect((await search(query))[0]).toMatchObject({ id: `contact:${id}` });
  });

  test.each([
    ["in a text without blanks", "予算会議", `${"東".repeat(400)}予算会議${"京".repeat(400)}`],
    ["in lines with tabs", "zanzibar", `${"one\ttwo\n".repeat(60)}zanzibar${"\tthree\n".repeat(60)}`],
    ["with its accents", "Müllerquux", `${"plan ".repeat(100)}Müllerquux ${"more ".repeat(100)}`],
    ["that is the rarest of several", "plan Anzebra", `${"plan ".repeat(100)}Anzebra ${"more ".repeat(100)}`],
  ])("shows the text around a word %s [MCP-10]", async (_where, query, content) => {
    await holder.put.contactNotes({ contact_id: zoe, content, source: "manual", created_at: "2026-02-04T10:00:00Z" });
    const [, word = query] = query.split(" ");
    const snippets = (await call(holder, "search", { query })).structured.results.map(
      ({ snippet }: { snippet: string }) => snippet,
    );
    expect(snippets).toContainEqual(expect.stringContaining(word));
  });
});

describe("fetch", () => {
  const instant: unknown = expect.stringMatching(/^\d{4}-.*Z$/);

  test("returns a contact as text: who it is, the notes, the last sessions with their ids [MCP-10]", async () => {
    const begin =
      '# Zoë Martin\n\nEmail: zoe@example.org\nPhone: +33 1 99 00 41 07\n\n## Notes\n> Likes <b>tea</b> & "quotes"\n\n## Memory\n> Met in Lyon\n\n## Timeline\n';
    const { text, ...others } = await fetchOne(`contact:${zoe}`);
    expect(others).toEqual({
      id: `contact:${zoe}`,
      title: "Zoë Martin",
      url: `${fixture().base}/contacts/${zoe}`,
      metadata: { kind: "contact", created_at: instant, updated_at: instant },
    });
    expect(text.slice(0, begin.length)).toBe(begin);
    expect(text).toContain("- 2026-02-03 (source manual): Prefers mornings 🌅");
    expect(text).toMatch(
      new RegExp(
        `\n\n## Recent sessions\n- 2026-03-01: Kick-off, subtitle The plan, recording completed \\(session:${kickOff}\\)$`,
      ),
    );
  });

  test("returns a session as text: when and with whom, its notes, the transcript [MCP-10]", async () => {
    expect(await fetchOne(`session:${kickOff}`)).toEqual({
      id: `session:${kickOff}`,
      title: "Kick-off",
      text: `# Kick-off\n\nSubtitle: The plan\nDate: 2026-03-01T09:00:00.000Z\nRecording: completed\nWith: Zoë Martin, zoe@example.org (contact:${zoe})\n\n## Summary (type ai_predefined)\n> The lighthouse comes first\n\n## Transcript\n> Maya: hello\n> Zoë: hello 👋`,
      url: `${fixture().base}/sessions/${kickOff}`,
      metadata: { kind: "session", date: "2026-03-01T09:00:00.000Z", created_at: instant, updated_at: instant },
    });
  });

  test("returns an empty record without headings for missing parts [MCP-10]", async () => {
    const [contact, session] = [await holder.put.contact({}), await holder.put.session({})];
    expect(await fetchOne(`contact:${contact}`)).toMatchObject({ title: "Unnamed contact", text: "# Unnamed contact" });
    expect(await fetchOne(`session:${session}`)).toMatchObject({
      title: "Untitled session",
      text: "# Untitled session",
      metadata: { kind: "session", date: "" },
    });
  });

  test("accepts every id that search returns, in either case [MCP-10]", async () => {
    const results = (await Promise.all(["zoe", "walrus", "mornings", "lighthouse", "quincy"].map(search))).flat();
    expect(results.length).toBeGreaterThan(10);
    for (const { id, url } of results) {
      expect(await fetchOne(id)).toMatchObject({ id, url });
      expect(new URL(url).pathname).toBe(`/${id.replace(":", "s/")}`);
      expect((await fixture().service.rest(`/v1${new URL(url).pathname}`, { key: holder.key })).status).toBe(200);
    }
    expect(await fetchOne(`CONTACT:${zoe.toUpperCase()}`)).toMatchObject({ id: `contact:${zoe}` });
  });
});
