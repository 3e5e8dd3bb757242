// The excerpt around the words that a query found, however the text writes them (contract §3.1, §3.4).
import { describe, expect, test } from "vitest";
import { excerptBeyond, partAround } from "../../src/search/excerpt.ts";
import { wordReadings } from "../../src/search/readings.ts";

const excerpt = (text: string, query: string, shown = 0): string | undefined =>
  excerptBeyond(text, shown, wordReadings(query, false), 80);
const filler = "lorem ipsum dolor sit amet ".repeat(60);

describe("an excerpt is around the match", () => {
  test.each([
    ["Straße", "STRASSE"],
    ["Łódź", "lodz"],
    ["kick-off", "kickoff"],
    ["J.R.R.", "jrr"],
    ["J.R.R.", "rr"],
    ["U.S.A", "u.s.a."],
    ["nodejs", "node.js"],
    ["e\u0301te\u0301", "été"],
    ["שָׁלוֹם", "שלום"],
    ["مُحَمَّد", "محمد"],
    ["علی\u200cرضا", "علیرضا"],
    ["علی\u200cرضا", "رضا"],
    ["मोहन", "मोहन"],
    ["ﾐｰﾃｨﾝｸﾞ", "みーてぃんぐ"],
    ["プロジェクト・キックオフ", "プロジェクトキックオフ"],
    ["การประชุมใหญ่", "ใหญ่"],
    ["회의록을", "회의"],
    ["ﬁnal", "final"],
    ["ПОДЪЁМ", "подъем"],
    ["C++", "c "],
    ["٣٤٥", "345"],
  ])("%s ← %s", (written, query) => {
    for (const before of [filler, "😀👨‍👩‍👧 ".repeat(150), "é\u0301\u0302".repeat(300).concat(" ")]) {
      const found = excerpt(`${before}${written} ${filler}`, query) ?? "";
      expect(found).toContain(query === "rr" ? "R.R." : query === "رضا" ? "رضا" : written);
      expect(found.length).toBeLessThan(200);
    }
  });

  test("one letter is a whole word, and a word begins where a word of the text does", () => {
    expect(excerpt(`cab ${filler}xc ${filler}plan C here`, "c ")).toMatch(/plan C/);
    expect(excerpt(`banana ${filler}ana here`, "ana")).toMatch(/ana here/);
  });

  test("the first word beyond what is shown decides, in the reading that the text matches", () => {
    const text = `kick ${filler}budget ${filler}kick-off ${filler}`;
    expect(excerpt(text, "kick budget", 1_000)).toContain("budget");
    expect(excerpt(text, "kickoff", 1_000)).toContain("kick-off");
    expect(excerpt(text, "kick", 1_000)).toBeUndefined();
    expect(excerpt(text, "missing", 1_000)).toBeUndefined();
    expect(excerpt(`Q&A ${filler}and ${filler}`, "q and a", 1_000)).toBeUndefined();
  });
});

test("a part of a text begins and ends between characters that a reader sees as one", () => {
  const whole = new Intl.Segmenter("und", { granularity: "grapheme" });
  for (const letter of ["👨‍👩‍👧", "🇩🇪", "é\u0301", "क्षि", "각", "\r\n", " \u0301"]) {
    const text = letter.repeat(400);
    const ends = new Set([...whole.segment(text)].map(({ index }) => index).concat(text.length));
    for (let place = 0; place < 300; place += 1) {
      const { from, to } = partAround(text, place, 61);
      expect(ends.has(from) && ends.has(to)).toBe(true);
      expect(from <= place && place < to).toBe(true);
    }
  }
});
