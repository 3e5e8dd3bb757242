// How a query string is taken apart (contract §2.3, §2.4).
import fc from "fast-check";
import { expect, test } from "vitest";
import { readQuery } from "../../src/http/query.ts";
import type { Violation } from "../../src/call/errors.ts";

function read(query: string, ...known: string[]): { values: unknown; violations: Violation[] } {
  const violations: Violation[] = [];
  return { values: Object.fromEntries(readQuery(query, new Set(known), violations)), violations };
}

test("reports every violation of known names once, however many other names are wrong [ERR-03]", () => {
  const { violations } = read(`${"%ff&".repeat(60)}${"a=%ff&".repeat(9)}b=1&b=2`, "a", "b");
  expect(violations).toHaveLength(52);
  expect(violations[49]).toEqual({
    field: "%ff",
    rule: "encoding",
    message: "must be percent-encoded UTF-8 (and 10 more)",
  });
  expect(violations.slice(50).map(({ field, rule }) => `${field} ${rule}`)).toEqual(["a encoding", "b repeated"]);
});

test("reads a well-formed query as URLSearchParams does", () => {
  const names = fc.uniqueArray(fc.string({ unit: "grapheme" }), { maxLength: 5 });
  fc.assert(
    fc.property(names, fc.array(fc.string({ unit: "grapheme" }), { minLength: 5, maxLength: 5 }), (known, values) => {
      const params = new URLSearchParams(known.map((name, at): [string, string] => [name, values[at] ?? ""]));
      expect(read(params.toString(), ...known)).toEqual({ values: Object.fromEntries(params), violations: [] });
    }),
  );
});

test("accepts or rejects any query without an exception", () => {
  const pieces = fc.constantFrom("&", "=", "+", "%", "%2", "%41", "%c3", "%a9", "a", "b", "é", "\ud83d", "\u0000");
  fc.assert(
    fc.property(
      fc.array(pieces).map((parts) => parts.join("")),
      (query) => void read(query, "a", "b"),
    ),
  );
});

test("decodes names and values, and reads a plus as a blank", () => {
  expect(read("q%75ery=a+b%2Bc%20d", "query")).toEqual({ values: { query: "a b+c d" }, violations: [] });
  expect(read("a=%E2%82%AC=%3D&b&c=", "a", "b", "c").values).toEqual({ a: "€==", b: "", c: "" });
  expect(read("&&a=1&", "a").values).toEqual({ a: "1" });
  expect(read("b&a", "a").values).toEqual({ a: "" });
});

test("shows a name that cannot be decoded as it was sent, and shortened", () => {
  expect(read("%zz=1").violations).toMatchObject([{ field: "%zz" }]);
  expect(read(`${"%ff".repeat(99)}=1`).violations[0]?.field).toHaveLength(65);
  expect(read(`${"n".repeat(64)}=%ff`).violations[0]?.field).toBe("n".repeat(64));
  expect(read("=%ff").violations[0]?.field).toBe('""');
});
