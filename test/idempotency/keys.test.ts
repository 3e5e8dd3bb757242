// The form of an idempotency key, and how long the database keeps its claim.
import { expect, test } from "vitest";
import { claimCollection, keyViolations } from "../../src/guards/idempotency.ts";

test.each(["", " ", "a b", " a", "a ", "a\t", "\u007f", "ü", "a\nb", "x".repeat(129)])(
  "rejects the key %j, and says what is allowed [IDM-02, IDM-03, IDM-04]",
  (key) => {
    expect(keyViolations(key)).toEqual([
      {
        field: "Idempotency-Key",
        rule: "string.pattern",
        message: "must be 1 to 128 printable ASCII characters without spaces (! to ~)",
      },
    ]);
  },
);

test("claims are stored an hour longer than the 24 hours that they count [IDM-05]", () => {
  expect(claimCollection.indexes).toContainEqual({
    key: { created_at: 1 },
    name: "expiry",
    expireAfterSeconds: 90_000,
  });
});
