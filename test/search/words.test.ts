// What a word is, in a record and in a query, in scripts with blanks and without (contract §3.1).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wordReadings } from "../../src/search/readings.ts";
import { isUnspaced, nameKeys, nameWords, queryWords, recordWords } from "../../src/search/words.ts";
import { finds } from "./finding.ts";
import { anyText, queryTerms } from "./reference.ts";
import { inForm } from "../support/form.ts";

describe("words", () => {
  test.each([
    ['Met Anna, about "budget"!', ["met", "anna", "about", "budget"]],
    ["O'Brien-Smith", ["o", "brien", "smith"]],
    ["anna.schmidt+work@example.com", ["anna", "schmidt", "work", "example", "com"]],
    ["anna ANNA Anna bob", ["anna", "bob"]],
    ["½ Ⅷ Q3", ["1", "2", "viii", "q3"]],
    ["Kaʻahumanu ʿAlī", ["ka", "ahumanu", "ali"]],
    ["हिन्दी", ["हिंदी"]],
    ["iPhone手机2024年", ["iphone", "手机", "2024", "年"]],
    ["ห้อง๑๒", ["หอง", "12"]],
    ["人々のサーバー", ["人人ノサーバー"]],
    ["ジョン・スミス", ["ジョン", "スミス"]],
  ])("the words of %s are %j, in a record and in a query [SRC-04]", (text, words) => {
    expect(recordWords(text).slice(0, words.length)).toEqual(words);
    expect(queryWords(text)).toEqual(words);
  });

  test.each([
    ["O'Brien-Smith", ["obriensmith", "briensmith"], ["o brien smith", "obriensmith", "obrien smith", "o briensmith"]],
    ["J.R.R. Halden", ["jrr", "rr"], ["j r halden", "jrr halden", "jr r halden", "j rr halden"]],
    ["kick-off e‐mail", ["kickoff", "email"], ["kick off e mail", "kickoff email", "kickoff e mail", "kick off email"]],
    ["col·lega", ["collega"], ["col lega", "collega"]],
    ["ジョン・スミス", ["ジョンスミス"], ["ジョン スミス", "ジョンスミス"]],
    ["AT&T", ["att", "&"], ["at t", "att"]],
    ["a - b, c--d e'", [], ["a b c d e"]],
    ["a.会", [], ["a 会"]],
  ])("the joined words of %s are %j, and as a query it reads %j [SRC-04]", (text, joined, read) => {
    expect(recordWords(text).slice(queryWords(text).length)).toEqual(joined);
    expect(wordReadings(text, false).map(({ words }) => words.join(" "))).toEqual(read);
  });

  test.each([
    ["Jörg Müller", ["jorg", "muller", "joerg", "mueller"], []],
    ["Bjørn Åse", ["bjorn", "ase", "bjoern", "aase"], []],
    ["山田 太郎", ["山田", "太郎", "山田太郎"], []],
    ["김민준", ["김민준"], ["민준", "준"]],
    ["김 민준", ["김", "민준", "김민준"], ["준"]],
    ["Ann Lee", ["ann", "lee"], []],
  ])("the words of the name %s are %j, and their endings %j [CSR-07]", (name, words, endings) => {
    const decomposed = (texts: readonly string[]): string[] => texts.map((text) => text.normalize("NFKD"));
    expect(nameWords(name, null)).toEqual({ words: decomposed(words), endings: decomposed(endings) });
  });

  test.each([
    ["Sean O'Brien", "sean obrien", true],
    ["Jean-Luc", "jean luc", true],
    ["Hanna Müller", "HANNA MUELLER", true],
    ["山田 太郎", "山田太郎", true],
    ["Ann Lee", "lee ann", false],
    ["Ann Lee", "ann", false],
    ["Anne-Marie O'Neil", "anne marie oneil", true],
    ["Ann Lee", "annlee", true],
  ])("the name %s can be the whole query %s: %s [CSR-11]", (name, query, same) => {
    expect(nameKeys(query).some((key) => nameKeys(name).includes(key))).toBe(same);
  });

  test.each([
    [""],
    ["   "],
    ["--"],
    ["🎉🎉"],
    ["👩‍👧"],
    ["\u0301\u0301"],
    ["\u0000\u0000"],
    ["\u3164\u3164"],
    ["…!"],
    ["＋＋"],
  ])("%j has no letter or digit, and so no word [SRC-06]", (text) => {
    expect(queryWords(text)).toEqual([]);
    expect(recordWords(text)).toEqual([]);
  });

  test("a record without the text has no words [SRC-04]", () => {
    expect([recordWords(null), recordWords(undefined)]).toEqual([[], []]);
  });

  test.each(["a", "𐐨", "会"])("every letter of a word counts, however many there are: %s [SRC-04]", (letter) => {
    for (const length of [31, 32, 33, 100]) {
      expect(recordWords(letter.repeat(length))).toEqual([letter.repeat(length)]);
      expect(queryWords(letter.repeat(length))).toEqual([letter.repeat(length)]);
    }
  });

  test.each([
    ["会", true],
    ["ひ", true],
    ["カ", true],
    ["ー", true],
    ["々", true],
    ["ไ", true],
    ["ລ", true],
    ["ខ", true],
    ["မ", true],
    ["ㄅ", true],
    ["𠀀", true],
    ["a", false],
    ["é", false],
    ["σ", false],
    ["ж", false],
    ["א", false],
    ["ع", false],
    ["ह", false],
    ["\u1112", false],
    ["7", false],
    ["አ", false],
    ["𐐨", false],
  ])("%s is of a script without blanks: %s [SRC-03]", (letter, unspaced) => {
    expect(isUnspaced(letter)).toBe(unspaced);
  });

  test.each([
    ["José", "jose"],
    ["Straße", "strasse"],
    ["Strasse", "STRAẞE"],
    ["Ødegård", "odegard"],
    ["Łódź", "lodz"],
    ["ﬁnance", "fin"],
    ["Ａｎｎａ", "anna"],
    ["İstanbul", "istanbul"],
    ["istanbul", "İSTANBUL"],
    ["ΣΊΣΥΦΟΣ", "σίσυφος"],
    ["σίσυφος", "ΣΊΣ"],
    ["Henry Ⅷ", "viii"],
    ["½ cup", "1 2"],
  ])("%s is found by %s [SRC-01, SRC-02]", (record, query) => {
    expect(finds(record, query)).toBe(true);
  });

  test.each([
    ["明天会议室开会", "会议"],
    ["明天会议室开会", "开会"],
    ["明天会议室开会", "天会议室开会"],
    ["明天会议室开会", "会"],
    ["これはひらがなです", "ひらがな"],
    ["ミーティング", "ティング"],
    ["ภาษาไทยง่าย", "ไทย"],
    ["ພາສາລາວ", "ລາວ"],
    ["ភាសាខ្មែរ", "ខ្មែរ"],
    ["မြန်မာစာ", "စာ"],
    ["iPhone手机", "手机 iph"],
    ["5月3日", "3日 5月"],
    ["김철수", "김철"],
    ["김철수", "김처"],
    ["김철수", "김ㅊ"],
  ])("%s is found by %s [SRC-03]", (record, query) => {
    expect(finds(record, query)).toBe(true);
  });

  test.each([
    ["明天会议室开会", "会室"],
    ["明天会议室开会", "会开"],
    ["김철수", "철수"],
    ["budget", "udget"],
    ["Anna met Bob", "anna carl"],
    ["Anna", "annab"],
    ["", "a"],
  ])("%j is not found by %s [SRC-05]", (record, query) => {
    expect(finds(record, query)).toBe(false);
  });

  test("the words of a query can be in any order [SRC-05]", () => {
    expect([finds("met Anna about budget", "bud ann"), finds("met Anna about budget", "ann bud met")]).toEqual([
      true,
      true,
    ]);
  });

  test("the words of every query are those of the contract [SRC-04]", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(queryWords(text)).toEqual([...new Set(queryTerms(text))]);
      }),
      { numRuns: inForm(400, 2_000) },
    );
  });

  test.each([
    ["budget\u200bplan", ["budget", "plan"]],
    ["a\u200b\u200bb", ["a", "b"]],
    ["bud\u00adget", ["budget"]],
    ["co\u2060op\ufeff", ["coop"]],
    ["会\u200b议", ["会议"]],
    ["ខ្មែរ\u200bខ្មែរ", recordWords("ខ្មែរខ្មែរ")],
    ["会\u200bbudget", ["会", "budget"]],
  ])("a zero-width space ends a word, and other invisible characters do not: %j [SRC-09]", (text, words) => {
    expect(recordWords(text)).toEqual(words);
    expect(queryWords(text)).toEqual(words);
  });

  test("a zero-width non-joiner in the Arabic script joins words, and is ignored in others [SRC-09, SRC-13]", () => {
    expect(recordWords("می\u200cخواهم")).toEqual(["مي", "خواهم", "ميخواهم"]);
    expect(recordWords("क\u200cष")).toEqual(["कष"]);
  });
});
