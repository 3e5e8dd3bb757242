// A write that depends on an earlier read is retried if that is safe, and not forever.
import { UUID } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { newRevision, pause, retryOnConflict } from "../../src/db/conflicts.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
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
    because: "contention",
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

test("attempts nothing after the deadline, and fails for it", async () => {
  let attempts = 0;
  const late = grantWrites(readScope(new UUID(), { ...deadlineIn(600_000), at: performance.now() - 1 }));
  const failed = retryOnConflict(late, () => Promise.resolve(void attempts++));
  await expect(failed).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, because: "deadline" });
  expect(attempts).toBe(0);
});

test("pauses for a random time that grows with the attempts, up to a limit", async () => {
  const random = vi.spyOn(Math, "random");
  const timer = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => void vi.restoreAllMocks());
  const pauses: unknown[] = [];
  for (const [attempt, part] of [
    [0, 0],
    [0, 1],
    [1, 1],
    [3, 0.5],
    [9, 1],
  ] as const) {
    random.mockReturnValueOnce(part);
    const paused = pause(attempt);
    pauses.push(timer.mock.calls.at(-1)?.[1]);
    await paused;
  }
  expect(pauses).toEqual([2, 6, 10, 18, 102]);
});

test("a revision is a whole number below the largest that a double counts, and never the same", () => {
  const revisions = Array.from({ length: 1_000 }, newRevision);
  expect(new Set(revisions).size).toBe(1_000);
  expect(revisions.filter((revision) => !Number.isSafeInteger(revision) || revision < 0)).toEqual([]);
});
