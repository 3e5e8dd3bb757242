// Values of documents as text.
import { UUID } from "mongodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { idText } from "../../src/db/message.ts";

test("writes an id as text as the library does", () => {
  fc.assert(
    fc.property(fc.uuid(), (text) => {
      expect(idText(new UUID(text))).toBe(new UUID(text).toHexString());
    }),
  );
});
