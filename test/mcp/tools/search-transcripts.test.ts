// search_transcripts: what was said, across sessions, newest first, with the contact, the date and the speaker.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
const ids: Record<string, string> = {};
const days = { mill: "2026-01-10", barn: "2026-02-10", ferry: "2026-03-10" } as const;
const spoken = {
  mill: "[00:00:03] Ira: The lavender honey sold out before noon.\n[00:00:09] Maya: Then order more.",
  barn: "Jon Tarn: Nobody wanted the lavender soap.\nMaya: A pity. The honey went well.\n",
  ferry: "Jon Tarn (0:04): The ferry needs a coat of paint.\nMaya (0:09): Blue?",
} as const;

beforeAll(async () => {
  holder = await holderOf(fixture());
  const { put } = holder;
  ids["ira"] = await put.contact({ full_name: "Ira Moor" });
  ids["jon"] = await put.contact({ full_name: "Jon Tarn" });
  for (const [name, day] of Object.entries(days)) {
    const contact_id = name === "mill" ? ids["ira"] : ids["jon"];
    ids[name] = await put.session({ contact_id, title: `The ${name}`, session_date: `${day}T09:00:00Z` });
  }
  for (const [name, transcript] of Object.entries(spoken)) await put.transcript({ session_id: ids[name], transcript });
});

const find = (query: string, given: Record<string, unknown> = {}) =>
  call(holder, "search_transcripts", { query, ...given });

/** Returns the names of the sessions that a search finds, in its order. */
async function found(query: string, given: Record<string, unknown> = {}): Promise<string[]> {
  const { structured, isError, text } = await find(query, given);
  expect(isError, text).toBe(false);
  return structured.data.map(({ session_id }: { session_id: string }) => nameOf(session_id));
}

function nameOf(id: string): string {
  return Object.entries(ids).find(([, one]) => one === id)?.[0] ?? id;
}

describe("search_transcripts [MCP-40]", () => {
  test("finds what was said in any session, newest first, with the contact, the date and the speaker", async () => {
    const { structured, text } = await find("LAVENDER");
    expect(structured).toEqual({
      data: [
        {
          session_id: ids["barn"],
          title: "The barn",
          session_date: "2026-02-10T09:00:00.000Z",
          client: { id: ids["jon"], full_name: "Jon Tarn" },
          passages: [{ speaker: "Jon Tarn", offset: 0, text: spoken.barn.trim() }],
        },
        {
          session_id: ids["mill"],
          title: "The mill",
          session_date: "2026-01-10T09:00:00.000Z",
          client: { id: ids["ira"], full_name: "Ira Moor" },
          passages: [{ speaker: "Ira", offset: 0, text: spoken.mill }],
        },
      ],
      pagination: { limit: 10, offset: 0, has_more: false, next_offset: null },
    });
    expect(text).toBe(JSON.stringify(structured));
  });

  test.each([
    ["the beginning of a word", "lav", {}, ["barn", "mill"]],
    ["two words of one passage", "honey noon", {}, ["mill"]],
    ["a word that only another session has", "ferry soap", {}, []],
    ["a longer word than any that was said", "lavenders", {}, []],
    ["a word of one letter, whole", "a coat", {}, ["ferry"]],
    ["a word of one letter, which is the beginning of a word", "n coat", {}, []],
    ["no word", "?!", {}, []],
    ["from a day", "lavender", { from: "2026-02-10" }, ["barn"]],
    ["up to a time", "lavender", { to: "2026-02-10T08:59:59.999Z" }, ["mill"]],
    ["between days, swapped", "lavender", { from: "2026-03-01", to: "2026-01-01" }, []],
    ["two words up to a day", "lavender honey", { to: "2026-01-31" }, ["mill"]],
  ] as const)("searches by %s", async (_what, query, given, expected) => {
    expect(await found(query, given)).toEqual(expected);
  });

  test("a word of one letter matches whole words only in one session, too", async () => {
    const passagesOf = async (query: string) =>
      (await call(holder, "get_session_transcript", { session_id: ids["ferry"], query })).structured.passages;
    expect([await passagesOf("n coat"), (await passagesOf("a coat")).length]).toEqual([[], 1]);
  });

  test("searches the sessions of a contact", async () => {
    expect(await found("lavender", { contact_id: `contact:${ids["jon"]}` })).toEqual(["barn"]);
    expect(await found("lavender honey", { contact_id: ids["ira"] })).toEqual(["mill"]);
    expect(await found("lavender", { contact_id: "00000000-0000-4000-8000-000000000000" })).toEqual([]);
  });

  test("another contact's session at the same instant is not found with a contact's", async () => {
    // The ranks of the sessions are equal: they are made of the time and the last byte of the id.
    const id = (end: string) => `${crypto.randomUUID().slice(0, -2)}${end}`;
    const session_date = "2026-04-01T09:00:00Z";
    const [own = "", others = ""] = await holder.put.sessions(
      { id: id("77"), contact_id: ids["ira"], session_date },
      { id: id("77"), contact_id: ids["jon"], session_date },
    );
    await holder.put.transcripts(...[own, others].map((session_id) => ({ session_id, transcript: "A glockenspiel." })));
    for (const query of ["glockenspiel", "a glockenspiel"])
      expect(await found(query, { contact_id: ids["ira"] }), query).toEqual([own]);
    expect([...(await found("a glockenspiel"))].sort()).toEqual([own, others].sort());
  });

  test("words that no passage has together are found where each was said first, if one session has them all", async () => {
    const filler = Array.from({ length: 40 }, (_, line) => `Maya: Line ${line} of something else.`).join("\n");
    ids["walk"] = await holder.put.session({ title: "A walk" });
    const transcript = `Ira: The orchid is open.\n${filler}\nJon: The cactus is not.`;
    await holder.put.transcript({ session_id: ids["walk"], transcript });
    const { structured } = await find("cactus orchid");
    const [{ passages }] = structured.data;
    expect(passages.map(({ speaker }: { speaker: string }) => speaker)).toEqual(["Ira", "Jon"]);
    expect(passages[1].text).toContain("The cactus is not.");
    expect(structured.hint).toContain("get_session_transcript");
  });

  test("shows three passages of a session, and says how to get the others", async () => {
    ids["long"] = await holder.put.session({ title: "Long" });
    const far = "and so on ".repeat(100);
    const transcript = Array.from({ length: 4 }, (_, at) => `Ira: Marimba ${at}. ${far}`).join("\n");
    await holder.put.transcript({ session_id: ids["long"], transcript });
    const { structured } = await find("marimba");
    expect(structured.data[0].passages).toHaveLength(3);
    expect(structured).toMatchObject({
      data: [{ more: true }],
      truncated: true,
      hint: expect.stringMatching(/^A session with more: true .*get_session_transcript/),
    });
    const whole = await call(holder, "get_session_transcript", { session_id: ids["long"], query: "marimba" });
    expect(whole.structured.passages).toHaveLength(4);
  });

  test("pages by sessions, and by nothing else", async () => {
    const first = await find("lavender", { limit: "1" });
    expect(first.structured).toMatchObject({
      data: [{ session_id: ids["barn"] }],
      pagination: { limit: 1, offset: 0, has_more: true, next_offset: 1 },
      truncated: true,
      hint: "There are more sessions: pass pagination.next_offset as offset.",
    });
    expect(await found("lavender", { limit: 1, offset: 1 })).toEqual(["mill"]);
    expect(await found("lavender honey", { limit: 1, offset: 1 })).toEqual(["mill"]);
  });

  test("sessions without a date come last, in pages that together have each of them once", async () => {
    // Written at once, they share their time of creation.
    const undated = await holder.put.sessions(...Array.from({ length: 60 }, () => ({ title: "Undated" })));
    await holder.put.transcripts(...undated.map((session_id) => ({ session_id, transcript: "Ira: A tin whistle." })));
    const dated = await holder.put.session({ session_date: "2020-01-01T09:00:00Z" });
    await holder.put.transcript({ session_id: dated, transcript: "Ira: A tin whistle." });
    for (const query of ["whistle", "tin whistle"]) {
      const seen: string[] = [];
      for (let offset: number | null = 0; offset !== null; ) {
        const { structured } = await find(query, { limit: 25, offset });
        seen.push(...structured.data.map(({ session_id }: { session_id: string }) => session_id));
        offset = structured.pagination.next_offset as number | null;
      }
      expect(seen[0]).toBe(dated);
      expect([...seen].sort()).toEqual([dated, ...undated].sort());
    }
    expect(await found("whistle", { from: "1970-01-01" })).toEqual([dated]);
  });

  test("finds words in scripts without blanks, with and without accents, and joined words", async () => {
    ids["scripts"] = await holder.put.session({ title: "Scripts" });
    const transcript = "王小明：我们明天去图书馆。\nZoë: À bientôt, à la Straße.\nداود: السلام";
    await holder.put.transcript({ session_id: ids["scripts"], transcript });
    for (const query of ["图书馆", "天去", "bientot", "strasse", "السلام"])
      expect(await found(query), query).toEqual(["scripts"]);
    const { structured } = await find("图书馆");
    expect(structured.data[0].passages[0].speaker).toBe("王小明");
  });

  test("a query with a joined word, an Arabic word or a word for an ampersand finds its other spellings, page by page", async () => {
    const texts = ["A slipway.", "The slip-way.", "A slip way.", "ذهب إلى المكتب", "Q&A, then R&D."];
    for (const [at, text] of texts.entries()) {
      ids[text] = await holder.put.session({ session_date: `2021-01-0${at + 1}T09:00:00Z` });
      await holder.put.transcript({ session_id: ids[text], transcript: `Ira: ${text}` });
    }
    for (const [offset, expected] of ["A slip way.", "The slip-way.", "A slipway."].entries())
      expect(await found("slip-way", { limit: 1, offset })).toEqual([expected]);
    expect(await found("slipway")).toEqual(["The slip-way.", "A slipway."]);
    for (const query of ["مكتب", "مكتب ذهب"]) expect(await found(query)).toEqual(["ذهب إلى المكتب"]);
    for (const query of ["q and a", "r & d"]) expect(await found(query)).toEqual(["Q&A, then R&D."]);
    const given = { session_id: ids["A slipway."], query: "slip-way" };
    expect((await call(holder, "get_session_transcript", given)).structured.passages).toHaveLength(1);
  });

  test("no result exceeds 20,000 tokens, and the pages together have every session [MCP-14]", async () => {
    const sessions = await holder.put.sessions(...Array.from({ length: 25 }, () => ({ title: "長".repeat(200) })));
    const line = `王：鈴${"木".repeat(190)}`;
    const transcript = Array.from({ length: 40 }, (_, at) => (at % 8 === 0 ? line : "木".repeat(190))).join("\n");
    await holder.put.transcripts(...sessions.map((session_id) => ({ session_id, transcript })));
    const seen: string[] = [];
    for (let offset: number | null = 0; offset !== null; ) {
      const { structured, text } = await find("鈴木", { limit: 25, offset });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000);
      // The page itself is small enough, so nothing cuts the result.
      expect(structured.hint ?? "").not.toContain("Pass pagination");
      seen.push(...structured.data.map(({ session_id }: { session_id: string }) => session_id));
      offset = structured.pagination.next_offset as number | null;
    }
    expect([...seen].sort()).toEqual([...sessions].sort());
  });
});

describe("search_transcripts is in step with the records [MCP-41]", () => {
  test("a transcript is found as it was last put, and not after its deletion or that of its session", async () => {
    const { put } = holder;
    const [one = "", two = ""] = await put.sessions({ title: "One" }, { title: "Two" });
    const say = (session_id: string, transcript: string | undefined) => put.transcripts({ session_id, transcript });
    await say(one, "Ira: A bassoon.");
    await say(two, "Ira: A bassoon.");
    expect([...(await found("bassoon"))].sort()).toEqual([one, two].sort());
    await say(one, "Ira: An oboe.");
    expect([await found("bassoon"), await found("oboe")]).toEqual([[two], [one]]);
    await say(one, undefined);
    expect(await found("oboe")).toEqual([]);
    await say(one, "Ira: A bassoon.");
    const remove = (names: object) =>
      fixture().service.internalCall("records.ingest.v1.IngestService/DeleteRecords", {
        account_id: holder.accountId,
        ...names,
      });
    await remove({ transcript_ids: [one] });
    expect(await found("bassoon")).toEqual([two]);
    await remove({ session_ids: [two] });
    expect(await found("bassoon")).toEqual([]);
  });

  test("a session that moves to another day, contact or title is found there", async () => {
    const { put } = holder;
    const [early = "", late = ""] = await put.sessions(
      { external_id: "early", title: "Early", session_date: "2025-01-01T09:00:00Z" },
      { title: "Late", session_date: "2025-01-02T09:00:00Z" },
    );
    await put.transcripts(...[early, late].map((session_id) => ({ session_id, transcript: "Ira: A kazoo." })));
    expect(await found("kazoo")).toEqual([late, early]);
    await put.session({
      id: early,
      contact_id: ids["ira"],
      title: "Moved",
      session_date: "2025-01-03T09:00:00Z",
    });
    expect(await found("kazoo")).toEqual([early, late]);
    expect(await found("kazoo", { from: "2025-01-03" })).toEqual([early]);
    const { structured } = await find("a kazoo", { contact_id: ids["ira"] });
    expect(structured.data).toMatchObject([{ title: "Moved", client: { full_name: "Ira Moor" } }]);
  });
});
