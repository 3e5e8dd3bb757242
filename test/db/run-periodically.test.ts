// Work in the background: again after it is done, also when it fails, and every failure is reported.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runPeriodically } from "../../src/db/run-periodically.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("reports every failure and continues", async () => {
  const outcomes = [true, false, false, true, false];
  const failures: number[] = [];
  let turn = 0;
  const background = runPeriodically(
    100,
    async () => {
      turn += 1;
      if (outcomes[turn - 1] === false) throw new Error("away");
    },
    () => failures.push(turn),
  );
  await vi.advanceTimersByTimeAsync(550);
  expect([turn, failures]).toEqual([5, [2, 3, 5]]);
  background.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(turn).toBe(5);
});

test("work that is stopped while it runs ends silently and is not started again", async () => {
  const failures: unknown[] = [];
  let turn = 0;
  const background = runPeriodically(
    100,
    async (isStopped) => {
      turn += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (isStopped()) throw new Error("the connection is closed");
    },
    (error) => failures.push(error),
  );
  await vi.advanceTimersByTimeAsync(120);
  background.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([failures, turn]).toEqual([[], 1]);
});
