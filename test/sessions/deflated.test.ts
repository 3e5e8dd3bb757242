// A stored text, inflated piece by piece, is the text; its beginning is a beginning of it.
import fc from "fast-check";
import { expect, test } from "vitest";
import { deflateText, inflateResponseText, inflateText, defineDeflatedField } from "../../src/large/deflated.ts";
import { inForm } from "../support/form.ts";

const letters = fc.constantFrom("a", " ", "é", "王", "🙂", '"', "\\", "\n", "\u0001", "\u2028", "\ud800", "n");

test("inflates a text of any letters, and each beginning of it, unchanged [STR-01]", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: letters, maxLength: 300 }), fc.nat(400), async (text, maxBytes) => {
      const deflated = await deflateText(text);
      expect(await inflateText(deflated, Infinity)).toBe(text);
      expect(text.startsWith(await inflateText(deflated, maxBytes + 1))).toBe(true);
    }),
    { numRuns: inForm(100, 300) },
  );
});

test.each([
  ["with blanks", "Zoë says 🙂 "],
  ["without a blank", "王小明"],
  ["of escapes only", '"\\\n'],
])("splits a long text %s and joins it unchanged", async (_what, unit) => {
  const text = unit.repeat(1_500_000 / Buffer.byteLength(unit));
  const deflated = await deflateText(text);
  expect((await inflateText(deflated, Infinity)) === text).toBe(true);
  const beginning = await inflateText(deflated, 700_000);
  expect(text.startsWith(beginning)).toBe(true);
  const message = defineDeflatedField({ transcript: undefined as string | undefined }, "transcript", deflated);
  await inflateResponseText({ response: message });
  expect(message.transcript === text).toBe(true);
});
