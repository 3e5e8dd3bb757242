// Transcripts page by page: by characters, none of them parted, and nothing lost between the pages.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { randomId } from "../../fixtures/service/service.ts";
import type { Holder, Outcome } from "./set-up.ts";
import { call, holderOf } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
beforeAll(async () => {
  holder = await holderOf(fixture());
});

async function sessionWith(transcript?: string): Promise<string> {
  const id = await holder.put.session({ title: "Talk" });
  if (transcript !== undefined) await holder.put.transcript({ session_id: id, transcript });
  return id;
}

const page = (session_id: string, offset?: number): Promise<Outcome> =>
  call(holder, "get_session_transcript", { session_id, ...(offset === undefined ? {} : { offset }) });

/** Follows next_offset from the beginning to the end. */
async function walk(id: string): Promise<{ pages: string[]; offsets: number[] }> {
  const pages: string[] = [];
  const offsets: number[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { structured, text } = await page(id, offset);
    expect(text).toBe(JSON.stringify(structured));
    expect(structured.pagination.has_more).toBe(structured.pagination.next_offset !== null);
    expect(structured.pagination).toMatchObject({ limit: 40_000, offset });
    pages.push(structured.data.transcript as string);
    offsets.push(offset);
    offset = structured.pagination.next_offset as number | null;
  }
  return { pages, offsets };
}

describe("get_session_transcript", () => {
  test.each([1, 39_999, 40_000])(
    "a text of %i characters is one page, the response of REST with its position [MCP-08] [MCP-09]",
    async (length) => {
      const id = await sessionWith("a".repeat(length));
      const { body } = await fixture().service.rest(`/v1/sessions/${id}/transcript`, { key: holder.key });
      expect((await page(id)).structured).toEqual({
        data: body.data,
        pagination: { limit: 40_000, offset: 0, has_more: false, next_offset: null },
      });
    },
  );

  test("a page of fewer characters, because they take many bytes, says how to get the rest [MCP-09]", async () => {
    const id = await sessionWith("漢".repeat(30_000));
    const { structured } = await page(id);
    expect(structured.data.transcript.length).toBeLessThan(30_000);
    expect(structured).toMatchObject({ truncated: true, hint: expect.stringContaining("pass next_offset") });
    const last = await page(id, structured.pagination.next_offset as number);
    expect(Object.keys(last.structured)).toEqual(["data", "pagination"]);
  });

  test("a text of 40,001 characters is two pages [MCP-09]", async () => {
    const id = await sessionWith(`${"a".repeat(40_000)}b`);
    expect((await page(id)).structured).toMatchObject({
      data: { transcript: "a".repeat(40_000) },
      pagination: { offset: 0, has_more: true, next_offset: 40_000 },
    });
    expect((await page(id, 40_000)).structured).toMatchObject({
      data: { transcript: "b" },
      pagination: { offset: 40_000, has_more: false, next_offset: null },
    });
  });

  test("returns the whole text by following next_offset, in any script [MCP-09]", async () => {
    const texts = [
      "👋".repeat(100_001),
      `x${"👨‍👩‍👧\n".repeat(17_000)}`,
      "Zoë: “ça va?”\r\n".repeat(6_000),
      "王小明\t".repeat(25_000),
    ];
    for (const text of texts) {
      const { pages, offsets } = await walk(await sessionWith(text));
      expect(pages.join("")).toBe(text);
      // A page begins where the one before ends; it is shorter where its characters are large.
      for (const [at, part] of pages.slice(0, -1).entries())
        expect(offsets[at + 1]).toBe((offsets[at] ?? 0) + [...part].length);
      for (const part of pages) {
        expect([...part].length).toBeLessThanOrEqual(40_000);
        expect(part).not.toMatch(/\p{Surrogate}/u);
      }
    }
  });

  test("accepts any offset, which counts characters, and splits none [MCP-09]", async () => {
    const id = await sessionWith("a👋b👋c");
    const parts = await Promise.all([0, 1, 2, 3, 4, 5].map((offset) => page(id, offset)));
    expect(parts.map(({ structured }) => structured.data.transcript as string)).toEqual([
      "a👋b👋c",
      "👋b👋c",
      "b👋c",
      "👋c",
      "c",
      "",
    ]);
  });

  test("returns nothing beyond the end, and no next page [MCP-09]", async () => {
    const id = await sessionWith("short");
    for (const offset of [5, 6, 40_000, 2_147_483_647]) {
      expect((await page(id, offset)).structured).toMatchObject({
        data: { session_id: id, transcript: "" },
        pagination: { limit: 40_000, offset, has_more: false, next_offset: null },
      });
    }
  });

  test("a missing transcript is null, at every offset [MCP-08] [MCP-09]", async () => {
    const id = await sessionWith();
    for (const offset of [0, 40_000]) {
      expect((await page(id, offset)).structured).toEqual({
        data: { session_id: id, transcript: null, recording: null },
        pagination: { limit: 40_000, offset, has_more: false, next_offset: null },
      });
    }
  });

  test("an empty transcript is empty and not null [MCP-08] [MCP-09]", async () => {
    const id = await sessionWith("");
    const { body } = await fixture().service.rest(`/v1/sessions/${id}/transcript`, { key: holder.key });
    expect((await page(id)).structured.data).toEqual(body.data);
  });

  test("every page has the recording [MCP-08]", async () => {
    const id = await holder.put.session({});
    await holder.put.transcript({
      session_id: id,
      transcript: "x".repeat(40_001),
      recording: { id: randomId(), duration_seconds: 12.5 },
    });
    const { body } = await fixture().service.rest(`/v1/sessions/${id}/transcript`, { key: holder.key });
    for (const offset of [0, 40_000])
      expect((await page(id, offset)).structured.data.recording).toEqual(body.data.recording);
    expect(body.data.recording.duration_seconds).toBe(12.5);
  });
});
