// Labels: the first text that a reader can see, of the names of a contact.
import { expect, test } from "vitest";
import { displayName, keepDisplayName, keptDisplayName } from "../../src/text/display-name.ts";
import { firstVisible } from "../../src/text/text.ts";

test.each([
  ["spaces", "  \t\n\u00a0\u2003\u3000"],
  ["a zero width space", "\u200b"],
  ["joiners, marks of direction and a byte order mark", "\u200c\u200d\u200e\u202e\u2066\ufeff"],
  ["a soft hyphen, fillers and variation selectors", "\u00ad\u115f\u3164\uffa0\ufe0f\u{e0100}"],
  ["controls and anchors of annotations", "\u0000\u007f\u0085\ufff9"],
  ["a blank Braille pattern", "\u2800"],
  ["nothing", ""],
  ["null", null],
  ["undefined", undefined],
])("skips %s and selects the next text [MCP-10]", (_, text) => {
  expect(firstVisible(text, "next")).toBe("next");
  expect(firstVisible(text)).toBeUndefined();
});

test.each(["x", " x ", "\u200bx", "李", "👋🏽", "\u0301", "-"])("keeps %j as it is [MCP-10]", (text) => {
  expect(firstVisible(text, "next")).toBe(text);
});

test("selects the full name, then the inferred name, the email and the phone [MCP-10]", () => {
  const names = { full_name: "Ann Lee", inferred_name: "Ann", email: "ann@example.org", phone: "+1 415 555 0100" };
  expect(displayName(names)).toBe("Ann Lee");
  expect(displayName({ ...names, full_name: " " })).toBe("Ann");
  expect(displayName({ ...names, full_name: null, inferred_name: "\u200b" })).toBe("ann@example.org");
  expect(displayName({ phone: "+1 415 555 0100", email: null })).toBe("+1 415 555 0100");
  expect(displayName({})).toBeUndefined();
});

test("keeps a display name next to a message, and adds no member to it [MCP-10]", () => {
  const message = keepDisplayName({ id: "1" }, { full_name: null, inferred_name: "Ann" });
  expect([keptDisplayName(message), message]).toEqual(["Ann", { id: "1" }]);
  expect(keptDisplayName(keepDisplayName({}, { full_name: "Ann Lee", inferred_name: "Ann" }))).toBeUndefined();
  expect(keptDisplayName(keepDisplayName({}, {}))).toBeUndefined();
});
