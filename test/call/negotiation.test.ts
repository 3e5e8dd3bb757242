import { expect, test } from "vitest";
import {
  acceptsType,
  chooseCoding,
  matchesTag,
  namesType,
  readCookie,
  readMediaType,
} from "../../src/call/negotiation.ts";

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
