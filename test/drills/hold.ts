// A drill in its short form as tests: the promise holds, and every control is seen to break it.
import { expect, test } from "vitest";
import type { Drill } from "../../drills/drill.ts";

/** Declares the tests of a drill; `clauses` are the ids that it proves. */
export function holds({ promise, run, controls }: Drill, clauses: readonly string[]): void {
  test(`${promise} [${clauses.join(", ")}]`, async () => {
    expect((await run("short", () => undefined)).violations).toEqual([]);
  });
  test.each(controls)("it is seen where that is broken: $broken", async ({ run }) => {
    expect((await run("short", () => undefined)).violations).not.toEqual([]);
  });
}
