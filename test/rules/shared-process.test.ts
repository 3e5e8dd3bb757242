// Files of tests share a process: what one of them measures must be its own.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { timersLeftBy } from "../support/own-timers.ts";

const folder = join(import.meta.dirname, "..");

test("no test counts the timers of the whole process", () => {
  // This file is found by its own name of the call.
  const wholeProcess = "getTimerCount";
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  expect(files.length).toBeGreaterThan(250);
  expect(files.filter((name) => readFileSync(join(folder, name), "utf8").includes(wholeProcess))).toEqual([
    "rules/shared-process.test.ts",
  ]);
});

test("the timers of a piece of work are counted, those of others are not", async () => {
  const real = setTimeout;
  vi.useFakeTimers();
  try {
    let setByOther: () => void = () => undefined;
    const other = new Promise<void>((resolve) => (setByOther = resolve)).then(() => setTimeout(() => undefined, 9));
    const left = await timersLeftBy(async () => {
      setTimeout(() => undefined, 5);
      clearTimeout(setTimeout(() => undefined, 6));
      setTimeout(() => setTimeout(() => undefined, 8), 7);
      await vi.advanceTimersByTimeAsync(7);
      setByOther();
      await other;
    });
    expect(left).toBe(1);
    // As a later file may.
    vi.restoreAllMocks();
    vi.useRealTimers();
    expect(setTimeout).toBe(real);
  } finally {
    vi.useRealTimers();
  }
});
