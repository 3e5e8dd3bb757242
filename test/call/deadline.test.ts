// Deadlines that share a caller's cancellation, as the batches of an import do.
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { deadlineIn, isPast, onPassed } from "../../src/call/deadline.ts";

test("a passed deadline leaves no listener on the cancellation of its caller [ING-06]", async () => {
  const cancellation = { requested: false, signal: new AbortController().signal };
  const signals = Array.from({ length: 20 }, () => deadlineIn(5, { cancellation }).signal);
  expect(getEventListeners(cancellation.signal, "abort")).toHaveLength(20);
  await Promise.all(signals.map((signal) => new Promise((resolve) => signal.addEventListener("abort", resolve))));
  expect(getEventListeners(cancellation.signal, "abort")).toEqual([]);
});

test("a cancellation aborts the deadlines that have not passed [ING-06]", () => {
  const controller = new AbortController();
  const cancellation = { requested: false, signal: controller.signal };
  const { signal } = deadlineIn(60_000, { cancellation });
  controller.abort();
  expect(signal.aborted).toBe(true);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("deadlines that nobody can cancel share a signal, which aborts after the last of them", async () => {
  const deadlines = Array.from({ length: 50 }, (_, at) => deadlineIn(30 + at / 10));
  const signals = deadlines.map(({ signal }) => signal);
  expect(new Set(signals).size).toBeLessThanOrEqual(2);
  for (const deadline of deadlines) {
    const { signal } = deadline;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    expect(isPast(deadline)).toBe(true);
  }
  // A later deadline gets a signal of its own.
  expect(deadlineIn(30).signal.aborted).toBe(false);
});

test("a deadline that has passed aborts at once, and leaves the signals of others alone", async () => {
  const later = deadlineIn(60_000).signal;
  const { signal } = deadlineIn(-60_000);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  expect([signal.aborted, later.aborted]).toEqual([true, false]);
});

test("a callback for a deadline does not wait for the signal that the deadline shares, and is not called after its release", async () => {
  const tickAt = Math.ceil((performance.now() + 40) / 20) * 20;
  const deadline = deadlineIn(tickAt + 2 - performance.now());
  const calls: string[] = [];
  onPassed(deadline, () => calls.push(`aborted: ${deadline.signal.aborted}`));
  onPassed(deadline, () => calls.push("released"))();
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  expect([calls, isPast(deadline)]).toEqual([["aborted: false"], true]);
});

test("a callback for a deadline is called once when its caller cancels, even before", () => {
  const controller = new AbortController();
  const calls: string[] = [];
  const cancelled = controller.signal;
  onPassed({ at: performance.now() + 60_000, cancelled }, () => calls.push("waiting"));
  onPassed({ at: performance.now() + 60_000, cancelled }, () => calls.push("released"))();
  controller.abort();
  onPassed({ at: performance.now() + 60_000, cancelled }, () => calls.push("late"));
  expect([calls, getEventListeners(cancelled, "abort")]).toEqual([["waiting", "late"], []]);
});
