// The search terms of transcripts: every word that a query can begin with has its term.
import { describe, expect, test } from "vitest";
import { queryTerms, spokenTerms } from "../../src/sessions/spoken-terms.ts";
import { queryWords } from "../../src/search/words.ts";

const termsOf = (text: string) => spokenTerms(text, () => undefined);
const all = (query: string): string[] => queryWords(query).flatMap(queryTerms);

describe("the terms of a transcript [MCP-40]", () => {
  test.each([
    ["The hollyhocks bloom.", ["th", "the", "hollyhocks", "hollyho", "bloom", "bl"], ["hob", "bloomers"]],
    ["Straße, Zoë!", ["strasse", "str", "zoe"], ["strong"]],
    ["我们明天去图书馆", ["图书馆", "天去", "馆", "我们明天"], ["书图", "我们去"]],
    ["plan b 7", ["b 7 plan"], ["p", "b 8"]],
  ])("of %j have those of %j, and not those of %j", async (text, found, missing) => {
    const terms = new Set(await termsOf(text));
    const has = (query: string): boolean => all(query).every((term) => terms.has(term));
    expect(found.filter((query) => !has(query))).toEqual([]);
    expect(missing.filter(has)).toEqual([]);
  });

  test("are those of the whole text, however long it is and wherever it is divided", async () => {
    for (const text of [
      `${"filler ".repeat(20_000)}hollyhock`,
      `${"x".repeat(16_383)}😀 hollyhock`,
      `${"木".repeat(16_383)}図書館${"木".repeat(40_000)} hollyhock`,
      `${"a".repeat(16_380)}hollyhock hollyhock`,
    ])
      expect(await termsOf(text)).toEqual(expect.arrayContaining(all("hollyhock")));
    const terms = await termsOf(`${"木".repeat(16_383)}図書館${"木".repeat(40_000)}`);
    for (const pair of ["木図", "図書", "書館", "館木"]) expect(terms).toContain(pair);
  });

  test("are at most 200,000, the first ones", async () => {
    const text = Array.from({ length: 100_000 }, (_, at) => (at * 7_919_317).toString(36).padStart(8, "q")).join(" ");
    const terms = await termsOf(`hollyhock ${text}`);
    expect(terms).toHaveLength(200_000);
    expect(terms).toEqual(expect.arrayContaining(all("hollyhock")));
  });

  test("end at the deadline", async () => {
    const late = new Error("too late");
    const text = Array.from({ length: 300_000 }, (_, at) => at.toString(36)).join(" ");
    await expect(
      spokenTerms(text, () => {
        throw late;
      }),
    ).rejects.toBe(late);
  });
});
