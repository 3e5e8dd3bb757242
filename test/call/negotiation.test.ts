// Parsers of list-valued headers, compared with slow reference parsers.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  acceptsType,
  chooseCoding,
  matchesTag,
  namesType,
  readCookie,
  readMediaType,
  readPreferences,
} from "../../src/call/negotiation.ts";
import { inForm } from "../support/form.ts";

test.each([
  ["gzip", "gzip"],
  ["br, gzip", "gzip"],
  ["br ,gzip", "gzip"],
  ["gzip;q=1", "gzip"],
  ["gzip;q=1.000", "gzip"],
  ["gzip ; q=0.001 ", "gzip"],
  ["gzip;Q=0.5", "gzip"],
  ["gzip;q=0.3333", "gzip"],
  ["GZIP,br", "gzip"],
  ["br, GZIP;q=0.5, *;q=0", "gzip"],
  ["x-gzip", "gzip"],
  [",, gzip", "gzip"],
  ["*", "gzip"],
  ["*;q=0.1", "gzip"],
  ["gzip, identity", "gzip"],
  ["identity;q=0, gzip;q=0.1", "gzip"],
  ["gzip;q=0.5, identity;q=1", "identity"],
  ["gzip;q=0.5, *", "identity"],
  ["gzip;q=0.", "identity"],
  ["gzip;q=2", "identity"],
  ["gzip;q=1.001", "identity"],
  ["gzip;q=0.5x", "identity"],
  ["gzip;q=", "identity"],
  ["gzip;q=-1", "identity"],
  ["gzip;q=x, *", "identity"],
  ["agzip", "identity"],
  ["gzip;q=0", "identity"],
  ["gzip;q=0.000", "identity"],
  ["*, gzip;q=0", "identity"],
  ["*;q=0", "identity"],
  ["identity;q=0", "identity"],
  ["br", "identity"],
  ["gzipped", "identity"],
  ["", "identity"],
  [undefined, "identity"],
])("Accept-Encoding %j selects %s if gzip is offered [NEG-01]", (header, expected) => {
  expect(chooseCoding(header, ["gzip"])).toBe(expected);
});

test.each([
  ["gzip, br", "br"],
  ["gzip;q=1, br;q=0.5", "gzip"],
  ["br;q=0, *", "gzip"],
  ["br;q=0, gzip;q=0", "identity"],
])("Accept-Encoding %j selects %s if br and gzip are offered [NEG-01]", (header, expected) => {
  expect(chooseCoding(header, ["br", "gzip"])).toBe(expected);
});

test("reads only the first hundred elements of a list [NEG-02]", () => {
  const others = (count: number): string => "x,".repeat(count);
  expect(chooseCoding(`${others(99)}gzip`, ["gzip"])).toBe("gzip");
  expect(chooseCoding(`${others(100)}gzip`, ["gzip"])).toBe("identity");
  expect(matchesTag(`${'"x",'.repeat(99)}"a"`, '"a"')).toBe(true);
  expect(matchesTag(`${'"x",'.repeat(100)}"a"`, '"a"')).toBe(false);
});

test.each([
  ["text/html", true],
  ["TEXT/HTML;q=0.9,application/xml", true],
  ["application/json, text/html;level=1", true],
  ['text/plain;x="a,text/html"', false],
  ["text/html;q=0", false],
  ["text/htmlx", false],
  ["*/*", false],
  ["text/*", false],
  [undefined, false],
])("Accept %j names text/html: %s", (header, expected) => {
  expect(namesType(header, "text/html")).toBe(expected);
});

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b","a" ,"c"', true],
  ["*", true],
  [" * ", true],
  ['"b"', false],
  ["a", false],
  ['"a', false],
  ['"b, "a""', false],
  ['*, "b"', false],
  ["", false],
  [undefined, false],
])("If-None-Match %j matches the entity tag a: %s [NEG-03]", (header, expected) => {
  expect(matchesTag(header, '"a"')).toBe(expected);
});

test("a comma or a backslash within an entity tag belongs to the tag [NEG-03]", () => {
  expect(matchesTag('"x", "a,b"', '"a,b"')).toBe(true);
  expect(matchesTag('"a", "b"', '"a,b"')).toBe(false);
  expect(matchesTag('"a\\", "b"', '"b"')).toBe(true);
});

test.each<[string | undefined, [string, Record<string, string>] | undefined]>([
  ["application/json", ["application/json", {}]],
  ["Application/JSON ; Charset=UTF-8", ["application/json", { charset: "UTF-8" }]],
  ['a/b;c="d;e\\"f" ;g=h', ["a/b", { c: 'd;e"f', g: "h" }]],
  ["a/b;c=", undefined],
  ["a/b;c=d;C=e", undefined],
  ["a/b;", ["a/b", {}]],
  ["a/b; ;c=d;", ["a/b", { c: "d" }]],
  ["a/b;c", undefined],
  ["a/b;=c", undefined],
  ['a/b;c="d', undefined],
  ['a/b;c="d\\"', undefined],
  ["a/b, c/d", undefined],
  ["a/b/c", undefined],
  ["a/", undefined],
  ["a", undefined],
  ["", undefined],
  [undefined, undefined],
])("Content-Type %j is parsed as %j", (header, expected) => {
  const read = readMediaType(header);
  expect(read && [read.type, Object.fromEntries(read.parameters)]).toEqual(expected);
});

test("the first of several cookies with one name counts", () => {
  expect(readCookie("a=1; b=2; a=3", "a")).toBe("1");
  expect(readCookie("xa=1;\ta=2=3 ;", "a")).toBe("2=3");
  expect(readCookie(`${"x=y; ".repeat(500)}a=1`, "a")).toBe("1");
  expect(readCookie("aa=1", "a")).toBeUndefined();
  expect(readCookie(undefined, "a")).toBeUndefined();
});

/** The grammar of RFC 9110 §12.5.3 by the letter, an element at a time, for lists without quotes. */
function slowPreferences(header: string): object[] {
  const elements = header
    .split(",")
    .slice(0, 100)
    .filter((element) => /[^ \t]/.test(element));
  return elements.map((element) => {
    const [name = "", ...parameters] = element
      .split(";")
      .map((part) => part.replace(/^[ \t]+/, "").replace(/[ \t]+$/, ""));
    const weight = parameters.find((parameter) => /^q=/i.test(parameter));
    const valid = weight === undefined || /^q=(0(\.\d*)?|1(\.0*)?)$/i.test(weight);
    return { name: name.toLowerCase(), weight: valid ? Number(weight?.slice(2) ?? 1) : 0 };
  });
}

const pieces = fc.constantFrom(
  "gzip",
  "br",
  "*",
  "identity",
  "x-gzip",
  ",",
  ",",
  ";",
  ";",
  "q=",
  "Q=",
  "0",
  "1",
  ".",
  "5",
  " ",
  "\t",
  "x",
);
const lists = fc.array(pieces, { maxLength: 60 }).map((all) => all.join(""));

test("parses lists with weights as the reference parser does [NEG-01]", () => {
  fc.assert(
    fc.property(lists, (header) => {
      expect(readPreferences(header)).toEqual(slowPreferences(header));
    }),
    { numRuns: inForm(150, 2_000) },
  );
});

test("selects the offered and accepted coding with the greatest weight [NEG-01]", () => {
  fc.assert(
    fc.property(lists, (header) => {
      const weights = new Map<string, number>();
      for (const { name, weight } of readPreferences(header)) {
        const coding = name === "x-gzip" ? "gzip" : name;
        weights.set(coding, Math.max(weight, weights.get(coding) ?? 0));
      }
      const weightOf = (coding: string): number => weights.get(coding) ?? weights.get("*") ?? 0;
      const chosen = chooseCoding(header, ["br", "gzip"]);
      if (chosen !== "identity") expect(weightOf(chosen)).toBeGreaterThan(0);
      for (const coding of ["br", "gzip", "identity"]) expect(weightOf(coding)).toBeLessThanOrEqual(weightOf(chosen));
    }),
    { numRuns: inForm(150, 2_000) },
  );
});

/** Splits before every comma that has an even number of quotes before it. */
function slowTags(header: string): string[] {
  const cuts = [...header].flatMap((sign, at) =>
    sign === "," && header.slice(0, at).split('"').length % 2 === 1 ? [at] : [],
  );
  const ends = [...cuts, header.length].slice(0, 100);
  return ends
    .map((end, at) => header.slice(at === 0 ? 0 : (ends[at - 1] ?? 0) + 1, end).trim())
    .filter((element) => element !== "");
}

test("finds entity tags as the reference parser does [NEG-03]", () => {
  const header = fc
    .array(fc.constantFrom('"', '"', '"a"', '"b"', "W/", "a", ",", ",", " ", "*", "\\"), { maxLength: 20 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(header, (text) => {
      const tags = slowTags(text);
      expect(matchesTag(text, '"a"')).toBe(
        (tags.length === 1 && tags[0] === "*") || tags.some((tag) => tag === '"a"' || tag === 'W/"a"'),
      );
    }),
    { numRuns: inForm(150, 2_000) },
  );
});

test.each([
  [undefined, true],
  ["*/*", true],
  ["application/*", true],
  ["text/html, application/json;q=0.1", true],
  ["*/*, application/json;q=0", false],
  ["application/json;q=0, */*", false],
  ["text/*", false],
  ["", false],
])("Accept %j allows JSON: %j", (accept, allowed) => {
  expect(acceptsType(accept, "application/json")).toBe(allowed);
});
