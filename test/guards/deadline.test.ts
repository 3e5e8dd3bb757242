// A deadline never ends early: code that catches its abort may rely on that.
import { getEventListeners } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import {
  deadlineIn,
  isTimeoutOrUnavailable,
  isPast,
  leftMs,
  onPassed,
  requireNotPast,
  withDeadline,
} from "../../src/call/deadline.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createTally, timed } from "../../src/call/tally.ts";
import { timersLeftBy } from "../support/own-timers.ts";

afterEach(() => vi.useRealTimers());

test("a timer that fires early does not abort; the abort follows once the deadline has passed [OPS-15]", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const deadline = deadlineIn(30);
  const { signal } = deadline;
  vi.advanceTimersByTime(60);
  expect([signal.aborted, isPast(deadline)]).toEqual([false, false]);
  // Deadlines of the same 20 ms share a signal.
  while (!signal.aborted) {
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(60);
  }
  expect(isPast(deadline)).toBe(true);
  expect(() => requireNotPast(deadline)).toThrow(expect.objectContaining({ reason: Reason.UNAVAILABLE }));
});

test("if both end at once, the service's deadline determines the reason", () => {
  vi.useFakeTimers();
  expect(deadlineIn(60_000, { expiresAt: performance.now() + 60_000 }).reason).toBe(Reason.UNAVAILABLE);
});

test("calls back once, exactly at the deadline, and leaves neither a timer nor a listener [OPS-15]", async () => {
  vi.useFakeTimers();
  vi.advanceTimersByTime(1_234);
  const controller = new AbortController();
  const deadline = { at: performance.now() + 100 };
  const calls: string[] = [];
  const record = (name: string, cancelled?: AbortSignal) =>
    onPassed({ ...deadline, cancelled }, () => calls.push(name));
  const listeners = (): number => getEventListeners(controller.signal, "abort").length;
  const left = await timersLeftBy(async () => {
    record("never cancelled");
    record("cancelled too late", controller.signal);
    record("stopped", controller.signal)();
    expect(listeners()).toBe(1);
    vi.advanceTimersByTime(99);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(1);
    controller.abort();
    record("cancelled before", controller.signal);
  });
  expect(calls).toEqual(["never cancelled", "cancelled too late", "cancelled before"]);
  expect([left, listeners()]).toEqual([0, 0]);
});

test("the remaining time is in whole milliseconds and at least 1: MongoDB treats a limit of 0 as no limit", () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  try {
    const left = (at: number): number => leftMs({ at });
    expect([left(1_250), left(1_000.5), left(1_000), left(900), left(-Infinity)]).toEqual([250, 1, 1, 1, 1]);
    const past = (at: number): boolean => isPast({ at });
    expect([past(1_000.5), past(1_000), past(900)]).toEqual([false, true, true]);
  } finally {
    clock.mockRestore();
  }
});

const gone = { requested: true, signal: AbortSignal.abort() };

test("the earlier of the service's and the caller's deadline counts, and determines the reason [OPS-15]", () => {
  const now = performance.now();
  const own = deadlineIn(60_000);
  expect(own.at).toBeGreaterThanOrEqual(now + 60_000);
  expect([own.reason, own.cancelled, own.signal.aborted]).toEqual([Reason.UNAVAILABLE, undefined, false]);
  const callers = deadlineIn(60_000, { expiresAt: now + 30_000 });
  expect([callers.at, callers.reason]).toEqual([now + 30_000, Reason.DEADLINE_EXCEEDED]);
  const later = deadlineIn(60_000, { expiresAt: now + 90_000 });
  expect(later.at).toBeLessThan(now + 90_000);
  expect(later.reason).toBe(Reason.UNAVAILABLE);
});

test("a deadline has passed once its caller cancels, and its signal follows the caller's [OPS-15]", () => {
  let requested = false;
  const controller = new AbortController();
  const cancellation = {
    get requested() {
      return requested;
    },
    signal: controller.signal,
  };
  const deadline = deadlineIn(60_000, { cancellation });
  expect([isPast(deadline), deadline.reason, deadline.cancelled]).toEqual([
    false,
    Reason.UNAVAILABLE,
    controller.signal,
  ]);
  requireNotPast(deadline);
  const { signal } = deadline;
  requested = true;
  expect([isPast(deadline), deadline.reason, signal.aborted]).toEqual([true, Reason.CANCELLED, false]);
  expect(() => requireNotPast(deadline)).toThrow(expect.objectContaining({ reason: Reason.CANCELLED }));
  controller.abort();
  expect([signal.aborted, deadline.signal]).toEqual([true, signal]);
  expect(signal.reason).toEqual(new Error("the client no longer waits"));
  expect(deadlineIn(60_000, { cancellation: gone }).signal.aborted).toBe(true);
});

test("abandons work that has not ended at the deadline, and reports its wait [OPS-15]", async () => {
  const tally = createTally();
  const work = timed(tally, "dbMs", "mongodb find", () => new Promise<never>(() => undefined));
  await expect(withDeadline(deadlineIn(5, {}, tally), work)).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    message: "The service could not respond in time. Try again.",
    because: "deadline",
    waitingFor: "mongodb find",
  });
  const expired = deadlineIn(60_000, { expiresAt: performance.now() + 5 });
  const failure = await withDeadline(expired, new Promise<never>(() => undefined)).catch((error: unknown) => error);
  expect(failure).toMatchObject({ reason: Reason.DEADLINE_EXCEEDED, because: "deadline", waitingFor: undefined });
  expect(failure).not.toMatchObject({ message: "The service could not respond in time. Try again." });
});

test.each([
  [Reason.UNAVAILABLE, true],
  [Reason.DEADLINE_EXCEEDED, true],
  [Reason.CANCELLED, true],
  [Reason.NOT_FOUND, false],
  [Reason.INVALID_REQUEST, false],
])("the reason %i means a lack of time or of the database: %s", (reason, givenUp) => {
  expect(isTimeoutOrUnavailable(new Failure(reason))).toBe(givenUp);
});
