// The passages in which words were said: all of them, none without the words, and where they begin.
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { queryWords } from "../../src/search/words.ts";
import { findPassages } from "../../src/sessions/passages.ts";
import { inForm } from "../support/form.ts";

const generous = () => ({ passages: 1_000, pieces: 1_000_000 });

async function find(text: string, query: string, budget = generous()): Promise<readonly [number, string][]> {
  const found = await findPassages(text, [queryWords(query)], budget, () => undefined);
  return found.map(({ offset, text: passage }) => [offset, passage]);
}

test("a word that is repeated in the next line gives no passage without it", async () => {
  expect(await find("A: the price one\nB: the price two\nC: nothing here\nD: bye\n", "price")).toEqual([
    [0, "A: the price one\nB: the price two"],
  ]);
  expect(await find("A: the price one\nB: the price two", "price")).toEqual([
    [0, "A: the price one\nB: the price two"],
  ]);
});

test("finds words of scripts without blanks at any position", async () => {
  for (const before of [0, 150, 198, 199, 200, 201, 399, 65_535, 65_536])
    expect((await find(`${"あ".repeat(before)}価格${"い".repeat(300)}`, "価格")).length, String(before)).toBe(1);
});

test("finds words that any blank separates by their beginnings, and not by their middles", async () => {
  const text = `${"abcd\u00a0".repeat(39)}abcdprice\u00a0${"abcd\u3000".repeat(60)}the\tprice`;
  expect(await find(text, "rice")).toEqual([]);
  expect((await find(text, "price")).length).toBe(1);
});

test.each(["kickoff", "dont", "1500", "usa", "צהל"])("finds %s where signs join its parts", async (query) => {
  const text = "Ann: Don't miss the kick-off.\nBo: It costs 1,500 in the U.S.A., or at צה״ל.\n";
  expect(await find(text.repeat(3), query, { passages: 1, pieces: 100 })).toHaveLength(1);
});

test("each passage contains all the words, and has its position", async () => {
  const word = fc.constantFrom("price", "shop", "Ann:", "🙂", "é", "価格", "\n", "\n\n", "x".repeat(230), "preis");
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 120 }), async (said) => {
      const text = said.join(" ");
      for (const query of ["price", "shop price", "価格", "é"]) {
        const found = await find(text, query);
        let last = -1;
        for (const [offset, passage] of found) {
          expect([...text].slice(offset, offset + [...passage].length).join("")).toBe(passage);
          expect(offset).toBeGreaterThan(last);
          last = offset + [...passage].length - 1;
          for (const one of query.split(" ")) expect(passage).toContain(one);
        }
        const isSaid = query.split(" ").every((one) => said.includes(one));
        if (isSaid && !query.includes(" ")) expect(found.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: inForm(100, 300) },
  );
});

test.each(["", " ", "\n", "\ud800", "\u200b", "🙂".repeat(300)])(
  "the search ends in a text of only %j",
  async (unit) => {
    expect(await find(unit.repeat(3_000), "price")).toEqual([]);
    expect(await find(unit.repeat(3_000), Array.from({ length: 50 }, (_, at) => `w${at}`).join(" "))).toEqual([]);
  },
);

test.each([
  ["a word of many letters", "本".repeat(90)],
  ["a word that is longer than a piece once it is folded", "㌖".repeat(60)],
])("folds no part of a text more than a few times, for %s [VAL-04]", async (_title, word) => {
  const text = (word + "語".repeat(20_000)).repeat(5);
  const normalize = vi.spyOn(String.prototype, "normalize");
  expect(await find(text, `${word} zebra`)).toEqual([]);
  const folded = normalize.mock.contexts.reduce<number>((sum, one) => sum + String(one).length, 0);
  normalize.mockRestore();
  expect(folded).toBeGreaterThan(text.length);
  expect(folded).toBeLessThan(5 * text.length);
});

test("finds a word that is longer than a piece once it is folded, at any position", async () => {
  for (const before of [0, 150, 199, 200, 2_040, 2_047, 2_048])
    expect((await find(`${"語".repeat(before)}${"㌖".repeat(60)}`, "㌖".repeat(60))).length, String(before)).toBe(1);
});

test("a search lets other requests run every few milliseconds [VAL-04]", async () => {
  let pauses = 0;
  const proceed = (): void => {
    pauses += 1;
    if (pauses === 3) throw new Error("the deadline");
  };
  const text = "\ufdfa".repeat(200_000);
  await expect(findPassages(text, [queryWords("price")], generous(), proceed)).rejects.toThrow("the deadline");
});

test("searches a text without a blank in linear time, also one that exceeds the budget [VAL-04]", async () => {
  expect(await find("ab".repeat(500_000), "ab zz")).toEqual([]);
  const budget = { passages: 1_000, pieces: 10 };
  await find("price shop\n".repeat(1_000), "price zz shop", budget);
  await find("price zz\n\n\n\n\nshop".repeat(1_000), "price zz shop", budget);
  expect(budget.pieces).toBeLessThanOrEqual(10);
});
