// What is stored for a record, and that a search for it finds just what the contract says (contract §3.1, §3.2).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wordReadings } from "../../src/search/readings.ts";
import {
  checkPattern,
  CONTACT_SHAPE,
  NOTE_SHAPE,
  probe,
  SESSION_SHAPE,
  terms,
  wholeCheckPattern,
  wholeProbe,
} from "../../src/search/terms.ts";
import { isUnspaced, queryWords, recordWords } from "../../src/search/words.ts";
import { matchesReadings, matchesStoredText } from "./finding.ts";
import { anyText, cuts, matches, matchesWhole, recordAndQuery } from "./reference.ts";
import { inForm } from "../support/form.ts";

const cases = inForm(800, 4_000);
const SHAPES = [
  ["notes", NOTE_SHAPE],
  ["sessions", SESSION_SHAPE],
  ["contacts", CONTACT_SHAPE],
] as const;

describe("terms", () => {
  test("notes have prefixes of 2 to 8 letters, sessions of 1 to 8, and contacts of 1 to 12, and their whole words [SRC-08]", () => {
    expect([NOTE_SHAPE, SESSION_SHAPE, CONTACT_SHAPE]).toEqual([
      { min: 2, max: 8, whole: false },
      { min: 1, max: 8, whole: false },
      { min: 1, max: 12, whole: true },
    ]);
  });

  test("a note has the distinct prefixes of its words, and its words as one text [SRC-04]", () => {
    expect(terms(["met", "anna", "a", "met", "internationally"], NOTE_SHAPE)).toEqual({
      searchTerms: [
        "me",
        "met",
        "an",
        "ann",
        "anna",
        "a",
        "in",
        "int",
        "inte",
        "inter",
        "intern",
        "interna",
        "internat",
      ],
      searchText: " met anna a internationally ",
    });
  });

  test("a contact has each whole word too, followed by a blank [CSR-11]", () => {
    expect(terms(["bo", "abcdefghijklmnop"], CONTACT_SHAPE).searchTerms).toEqual([
      "b",
      "bo",
      "bo ",
      "a",
      "ab",
      "abc",
      "abcd",
      "abcde",
      "abcdef",
      "abcdefg",
      "abcdefgh",
      "abcdefghi",
      "abcdefghij",
      "abcdefghijk",
      "abcdefghijkl",
      "abcdefghijklmnop ",
    ]);
  });

  test("in a script without blanks, one to four letters are indexed from each character, and the run once [SRC-03]", () => {
    expect(terms(["开会议室了"], NOTE_SHAPE)).toEqual({
      searchTerms: [
        "开",
        "开会",
        "开会议",
        "开会议室",
        "会",
        "会议",
        "会议室",
        "会议室了",
        "议",
        "议室",
        "议室了",
        "室",
        "室了",
        "了",
      ],
      searchText: " 开会议室了 ",
    });
    expect(terms(["𠀀𠀁"], CONTACT_SHAPE).searchTerms).toEqual(["𠀀", "𠀀𠀁", "𠀁", "𠀀𠀁 "]);
  });

  test("a record without a word has no terms [SRC-06]", () => {
    expect(terms([], CONTACT_SHAPE)).toEqual({ searchTerms: [], searchText: "" });
  });

  test.each([
    ["a", NOTE_SHAPE, { term: "a", exact: true }],
    ["a", SESSION_SHAPE, { term: "a", exact: true }],
    ["会", NOTE_SHAPE, { term: "会", exact: true }],
    ["internat", NOTE_SHAPE, { term: "internat", exact: true }],
    ["internati", NOTE_SHAPE, { term: "internat", exact: false }],
    ["internationa", CONTACT_SHAPE, { term: "internationa", exact: true }],
    ["international", CONTACT_SHAPE, { term: "internationa", exact: false }],
    ["会议室开", CONTACT_SHAPE, { term: "会议室开", exact: true }],
    ["会议室开会", CONTACT_SHAPE, { term: "会议室开", exact: false }],
    ["𐐨𐐨𐐨𐐨𐐨𐐨𐐨𐐨𐐨", NOTE_SHAPE, { term: "𐐨𐐨𐐨𐐨𐐨𐐨𐐨𐐨", exact: false }],
  ])("%s in %o is looked up by %o [SRC-08]", (word, shape, expected) => {
    expect(probe(word, shape)).toEqual(expected);
  });

  test("a word is matched in the text after a blank, and a whole word between two blanks [SRC-04, CSR-11]", () => {
    expect([checkPattern("anna", NOTE_SHAPE), wholeCheckPattern("anna"), wholeProbe("anna")]).toEqual([
      " anna",
      " anna ",
      { term: "anna ", exact: true },
    ]);
    expect([checkPattern("会议", NOTE_SHAPE), wholeCheckPattern("会议"), wholeProbe("会议")]).toEqual([
      "会议",
      " 会议 ",
      { term: "会议 ", exact: true },
    ]);
    expect(wholeProbe("𐐨".repeat(33))).toEqual({ term: `${"𐐨".repeat(32)} `, exact: false });
  });

  test.each([
    ["王小明", "王小明", true],
    ["王小明", "小明", false],
    ["王小明", "王小", false],
    ["王 小明", "小明 王", true],
    ["Anna Schmidt", "schmidt ANNA", true],
    ["Anna Schmidt", "anna schmid", false],
    ["会".repeat(40), "会".repeat(33), false],
    ["会".repeat(40), "会".repeat(40), true],
    ["a".repeat(40), "a".repeat(33), false],
    ["a".repeat(40), "a".repeat(40), true],
  ])("%s has every word of %s as a whole word: %s [CSR-11]", (record, query, whole) => {
    const words = queryWords(query);
    const stored = terms(recordWords(record), CONTACT_SHAPE);
    expect(words.map((_, driver) => matchesStoredText(stored, words, driver))).toEqual(words.map(() => whole));
  });

  describe.each(SHAPES)("the search terms of %s", (_, shape) => {
    test("every query finds the matches of the contract, whichever word drives [SRC-01, SRC-02, SRC-03, SRC-04, SRC-05, SRC-06]", () => {
      const met = { found: 0, missed: 0 };
      fc.assert(
        fc.property(recordAndQuery, ([record, query]) => {
          const stored = terms(recordWords(record), shape);
          const found = matchesReadings(stored, wordReadings(query, false), shape);
          const expected = matches(record, query, shape === NOTE_SHAPE);
          met[expected ? "found" : "missed"] += 1;
          // Among more joined words, not every way to join them is tried.
          if (cuts(query).length <= 8 || found) expect(found).toBe(expected);
        }),
        { numRuns: cases },
      );
      expect(Math.min(met.found, met.missed)).toBeGreaterThan(cases / 8);
    });
  });

  test("every query finds the whole words of the contract, whichever word drives [CSR-11]", () => {
    let count = 0;
    fc.assert(
      fc.property(recordAndQuery, ([record, query]) => {
        const stored = terms(recordWords(record), CONTACT_SHAPE);
        const found = wordReadings(query, false).some(({ words }) => {
          const byDriver = new Set(words.map((_, driver) => matchesStoredText(stored, words, driver)));
          expect(byDriver.size).toBe(1);
          return byDriver.has(true);
        });
        if (found) count += 1;
        if (cuts(query).length <= 8 || found) expect(found).toBe(matchesWhole(record, query));
      }),
      { numRuns: cases },
    );
    expect(count).toBeGreaterThan(cases / 20);
  });

  test("every record has at most one prefix for a letter, four in a script without blanks, and the words [SRC-08]", () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(NOTE_SHAPE, SESSION_SHAPE, CONTACT_SHAPE), (text, shape) => {
        const words = recordWords(text);
        const bound = words.reduce(
          (sum, word) => sum + [...word].length * (isUnspaced(word) ? 4 : 1),
          shape.whole ? words.length : 0,
        );
        const { searchTerms } = terms(words, shape);
        expect(searchTerms.length).toBeLessThanOrEqual(bound);
        expect(new Set(searchTerms).size).toBe(searchTerms.length);
      }),
      { numRuns: inForm(250, 1_000) },
    );
  });

  test("every pattern consists of letters, digits and blanks, and no term is a lone surrogate or contains NUL [SRC-04]", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: "binary", maxLength: 100 })), (text) => {
        for (const word of queryWords(text)) {
          expect(checkPattern(word, SESSION_SHAPE) + wholeCheckPattern(word)).toMatch(/^[\p{L}\p{N}\p{M} ]+$/u);
          expect(probe(word, SESSION_SHAPE)?.term ?? "").not.toMatch(/\p{Cs}/u);
        }
        expect(terms(recordWords(text), CONTACT_SHAPE).searchTerms.filter((term) => /[\p{Cs}\0]/u.test(term))).toEqual(
          [],
        );
      }),
      { numRuns: inForm(250, 1_000) },
    );
  });
});
