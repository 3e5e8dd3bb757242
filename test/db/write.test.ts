// Writes that rest on what was read before: they are tried again, and not for ever.
import { expect, test } from "vitest";
import { withoutInterference } from "../../src/db/write.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";

test("a write is tried again until nothing comes between", async () => {
  let attempts = 0;
  expect(await withoutInterference(() => Promise.resolve(++attempts === 3 ? "written" : undefined))).toBe("written");
  expect(attempts).toBe(3);
});

test("a write that is come between every time ends as unavailable, for a person to read", async () => {
  let attempts = 0;
  const failed = withoutInterference(() => Promise.resolve(void attempts++));
  await expect(failed).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, message: "The record is being changed by many at once; try again." });
  expect(attempts).toBe(50);
});

test("a failure of the write itself is not tried again", async () => {
  let attempts = 0;
  const failed = withoutInterference(() => {
    attempts++;
    return Promise.reject(new Error("of its own"));
  });
  await expect(failed).rejects.toThrow("of its own");
  expect(attempts).toBe(1);
});
