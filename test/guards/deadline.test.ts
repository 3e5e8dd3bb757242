// A deadline never ends before its time: whoever catches its abort may rely on that.
import { afterEach, expect, test, vi } from "vitest";
import { deadlineIn, isPast, requireTime } from "../../src/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";

afterEach(() => vi.useRealTimers());

test("a timer that fires early does not abort, and the abort comes when the deadline has passed [OPS-15]", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const deadline = deadlineIn(30);
  const { signal } = deadline;
  vi.advanceTimersByTime(30);
  expect([signal.aborted, isPast(deadline)]).toEqual([false, false]);
  while (!isPast(deadline)) await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(30);
  expect(signal.aborted).toBe(true);
  expect(() => requireTime(deadline)).toThrow(expect.objectContaining({ reason: Reason.UNAVAILABLE }));
});
