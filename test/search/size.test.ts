// The longest and most hostile notes are folded in time, fit in a document, and lose no match.
import { describe, expect, test } from "vitest";
import { fold } from "../../src/search/fold.ts";
import { contactReadings } from "../../src/search/readings.ts";
import { NOTE_SHAPE, terms } from "../../src/search/terms.ts";
import { recordWords } from "../../src/search/words.ts";
import { finds } from "./finding.ts";
import { everyCodePoint } from "./reference.ts";

/** So many letters from a row of code points, always the same. */
function letters(count: number, first: number, last: number): string {
  let state = 1;
  return Array.from({ length: count }, () => {
    state = (state * 48271) % 2147483647;
    return String.fromCodePoint(first + (state % (last - first + 1)));
  }).join("");
}

const HOSTILE: Array<[name: string, content: string]> = [
  ["marks in the wrong order", `a${"\u0301".repeat(5000)}${"\u0323".repeat(4999)}`],
  ["zalgo", "z\u0301\u0323\u0300\u0316".repeat(2000)],
  ["one word", "é".repeat(10_000)],
  ["words of nine letters", letters(10_000, 0x61, 0x7a).replace(/(.{9})./g, "$1 ")],
  ["Han", letters(10_000, 0x4e00, 0x9fff)],
  ["Han beyond the first plane", letters(10_000, 0x20000, 0x2a6df)],
  ["squares of up to six kana", letters(10_000, 0x3300, 0x3357)],
  ["ligatures of 18 letters", "ﷺ".repeat(10_000)],
  [
    "letters between ligatures of 18",
    Array.from({ length: 5000 }, (_, at) => `${String.fromCodePoint(0xa000 + (at % 1000))}ﷺ`).join(""),
  ],
  [
    "syllables between ligatures of 18",
    Array.from({ length: 5000 }, (_, at) => `${String.fromCodePoint(0xac00 + at)}ﷺ`).join(""),
  ],
  ["scripts in turn", "a会".repeat(5000)],
  ["digits", "٣".repeat(10_000)],
];

describe("size", () => {
  test.each(HOSTILE)(
    "10,000 code points of %s take less than 300 ms of processor time and use less than 4 MB [SRC-08]",
    (_, content) => {
      expect([...content]).toHaveLength(10_000);
      const begun = process.cpuUsage();
      const { searchTerms, searchText } = terms(recordWords(content), NOTE_SHAPE);
      // The slowest took 50 ms where this was written.
      const { user, system } = process.cpuUsage(begun);
      expect((user + system) / 1_000).toBeLessThan(300);
      const stored = searchTerms.reduce(
        (sum, term) => sum + Buffer.byteLength(term) + 13,
        Buffer.byteLength(searchText),
      );
      expect(stored).toBeLessThan(4_000_000);
      expect(searchTerms.length).toBeLessThanOrEqual(40_000);
    },
  );

  test.each([
    ["joined letters with umlauts", "ä-ö-ü-ø-å-".repeat(10)],
    ["joined digits", "0.1.2.3.4.5.6.7.8.9.".repeat(5)],
    ["joined umlauts and numbers", `ä-ö-ü-å${" 1".repeat(46)}`],
  ])("the readings of a query of %s take less than 100 ms of processor time [SRC-08]", (_, query) => {
    contactReadings(query, false);
    const begun = process.cpuUsage();
    expect(contactReadings(query, false)).toHaveLength(16);
    // The slowest took 4 ms where this was written.
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1_000).toBeLessThan(100);
  });

  test("the time to fold marks in the wrong order grows linearly with their number [SRC-01]", () => {
    const row = (count: number): string => `a${"\u0301".repeat(count)}${"\u0323".repeat(count)}`;
    const begun = performance.now();
    expect(fold(row(50_000))).toBe("a");
    // NFKD alone took 4 s for it, and the whole fold 3 ms, where this was written.
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  test("no code point folds to more than 6 letters of a script without blanks [SRC-03]", () => {
    const long: string[] = [];
    for (const text of everyCodePoint()) {
      // What no script has yet folds to itself.
      if (/[\p{Cn}\p{Co}]/u.test(text)) continue;
      if (
        recordWords(text).some(
          (word) => /[\p{scx=Han}\p{scx=Kana}\p{scx=Hira}\p{scx=Thai}]/u.test(word) && [...word].length >= 6,
        )
      )
        long.push(text);
    }
    expect(long).toEqual(["㌖"]);
    expect(recordWords("㌖")).toEqual(["キロメートル"]);
  });

  test.each([
    ["Han", letters(10_000, 0x4e00, 0x9fff), 4],
    ["words of nine letters", letters(10_000, 0x61, 0x7a).replace(/(.{9})./g, "$1 "), 9],
  ])("finds the last word in 10,000 code points of %s [SRC-05]", (_, content, length) => {
    expect(finds(content, content.trimEnd().slice(-length))).toBe(true);
  });
});
