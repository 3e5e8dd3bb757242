// A drill in its short form as tests: the promise holds, and its first control is seen to break it.
import { expect, test } from "vitest";
import type { Drill } from "../../drills/drill.ts";

/**
 * A drill starts whole services, and most of them judge by the clock: a machine that had other work in that minute is
 * no fault of the service. What is broken stays broken, however often it is looked at.
 */
const patience = { timeout: 180_000, retry: 2 };

/**
 * Declares the tests of a drill; `clauses` are the ids that it proves. One control tells that it can see: `npm run drill`
 * runs them all. `unseen` says why a control shows only in the long form.
 */
export function holds({ promise, run, controls }: Drill, clauses: readonly string[], unseen?: string): void {
  test(`${promise} [${clauses.join(", ")}]`, patience, async () => {
    expect((await run("short", () => undefined)).violations).toEqual([]);
  });
  test.each(unseen === undefined ? controls.slice(0, 1) : [])("it is seen where that is broken: $broken", patience, async ({ run }) => {
    expect((await run("short", () => undefined)).violations).not.toEqual([]);
  });
}
