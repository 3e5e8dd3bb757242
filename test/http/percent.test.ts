// How percent-encoding is decoded (RFC 3986 §2.1, §6.2.2.2).
import { expect, test } from "vitest";
import { decodePercent, decodeUnreserved } from "../../src/http/percent.ts";

test.each([
  ["%63ont%61cts", "contacts"],
  ["%2D%2e%5F%7E", "-._~"],
  ["%4A%6a%30", "Jj0"],
  ["contacts", "contacts"],
])("decodes the escaped unreserved characters of %s [ERR-18]", (text, decoded) => {
  expect(decodeUnreserved(text)).toBe(decoded);
});

test.each(["a%2Fb", "%3a", "%40", "%5b", "%60", "%7B", "%25", "%20", "%1f", "%80", "%6", "%6G", "%g1", "%"])(
  "keeps the escape in %s, which is not that of an unreserved character [ERR-18]",
  (text) => {
    expect(decodeUnreserved(text)).toBe(text);
  },
);

test("decodes a text once, and a malformed one not at all [ERR-18]", () => {
  expect(decodePercent("%2541")).toBe("%41");
  expect(decodePercent("%C3%A9")).toBe("é");
  for (const text of ["%", "%6", "%GG", "%FF", "%C3", "é", "a b", "\t"]) expect(decodePercent(text)).toBeUndefined();
});
