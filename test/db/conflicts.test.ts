// A write that depends on an earlier read is retried if that is safe, and not forever.
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { retryOnConflict } from "../../src/db/conflicts.ts";
import { deadlineIn } from "../../src/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";

const writer = grantWrites(readScope(new UUID(), deadlineIn(600_000)));

test("retries a write until no other write intervenes", async () => {
  let attempts = 0;
  expect(await retryOnConflict(writer, () => Promise.resolve(++attempts === 3 ? "written" : undefined))).toBe(
    "written",
  );
  expect(attempts).toBe(3);
});

test("a write that conflicts every time fails as unavailable, with a message for the user", async () => {
  let attempts = 0;
  const failed = retryOnConflict(writer, () => Promise.resolve(void attempts++));
  await expect(failed).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    message: "Too many requests change this record at once. Try again.",
  });
  expect(attempts).toBe(50);
});

test("does not retry a failure of the write itself", async () => {
  let attempts = 0;
  const failed = retryOnConflict(writer, () => {
    attempts++;
    return Promise.reject(new Error("of its own"));
  });
  await expect(failed).rejects.toThrow("of its own");
  expect(attempts).toBe(1);
});
