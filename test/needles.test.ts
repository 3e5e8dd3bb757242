// The search for many texts at once, compared with one search for each.
import fc from "fast-check";
import { expect, test } from "vitest";
import { createNeedles } from "../fixtures/service/needles.ts";
import { inForm } from "./support/form.ts";

const width = 4;

function namesIn(text: string, needles: readonly string[]): string[] {
  const all = createNeedles(width);
  for (const needle of needles) all.add(needle, `the name of ${needle}`);
  return all.namesIn(text).sort();
}

test("finds the same texts as a search for each of them", () => {
  // Few letters, so that texts overlap, repeat and begin alike; the last has a high code.
  const text = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom("a", "b", "c", "\ufb01"), { minLength, maxLength }).map((letters) => letters.join(""));
  fc.assert(
    fc.property(text(0, 60), fc.uniqueArray(text(width, 9), { maxLength: 12 }), (within, needles) => {
      const expected = needles.filter((needle) => within.includes(needle)).map((needle) => `the name of ${needle}`);
      expect(namesIn(within, needles)).toEqual(expected.sort());
    }),
    { numRuns: inForm(400, 2_000) },
  );
});

test("finds texts at the beginning and at the end, and none in a shorter text or without texts", () => {
  expect(namesIn("abcdxxxxefgh", ["abcd", "efgh", "bcdx", "none"])).toEqual(
    ["abcd", "bcdx", "efgh"].map((needle) => `the name of ${needle}`),
  );
  expect(namesIn("abc", ["abcd"])).toEqual([]);
  expect(namesIn("", ["abcd"])).toEqual([]);
  expect(namesIn("abcdef", [])).toEqual([]);
});

test("rejects a text that is shorter than the width", () => {
  expect(() => createNeedles(width).add("abc", "short")).toThrow(RangeError);
});
