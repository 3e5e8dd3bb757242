// How percent-encoding is decoded (RFC 3986 §2.1, §6.2.2.2).
import { expect, test } from "vitest";
import { decodePercent, decodeUnreserved } from "../../gateway/percent.ts";

test.each([
  ["%63ont%61cts", "contacts"],
  ["%2D%2e%5F%7E", "-._~"],
  ["%4A%6a%30", "Jj0"],
  ["contacts", "contacts"],
])("escaped unreserved characters of %s are the characters themselves [ERR-18]", (text, decoded) => {
  expect(decodeUnreserved(text)).toBe(decoded);
});

test.each(["a%2Fb", "%3a", "%40", "%5b", "%60", "%7B", "%25", "%20", "%1f", "%80", "%6", "%6G", "%g1", "%"])(
  "the escape in %s keeps its meaning, as no unreserved character is behind it [ERR-18]",
  (text) => {
    expect(decodeUnreserved(text)).toBe(text);
  },
);

test("a text is decoded once, and not at all where it is not well-formed [ERR-18]", () => {
  expect(decodePercent("%2541")).toBe("%41");
  expect(decodePercent("%C3%A9")).toBe("é");
  for (const text of ["%", "%6", "%GG", "%FF", "%C3", "é", "a b", "\t"]) expect(decodePercent(text)).toBeUndefined();
});
