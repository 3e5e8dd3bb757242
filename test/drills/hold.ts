// A drill in its short form as tests: the promise holds, and its first control detects a broken one.
import { expect, test } from "vitest";
import type { Drill } from "../../drills/drill.ts";

/** A drill starts several servers and waits until its faults are over. */
const timeout = 180_000;

/**
 * Declares the tests of a drill; `clauses` are the ids that it proves. One control shows that it can see: `npm run
 * drill` runs them all. `unseen` says why a control shows only in the long form.
 */
export function holds({ promise, run, controls }: Drill, clauses: readonly string[], unseen?: string): void {
  test(`${promise} [${clauses.join(", ")}]`, { timeout }, async () => {
    const { violations, unprovoked = [] } = await run("short", () => undefined);
    expect([...unprovoked, ...violations]).toEqual([]);
  });
  test.each(unseen === undefined ? controls.slice(0, 1) : [])(
    "the control detects the broken promise: $broken",
    { timeout },
    async ({ run }) => {
      const { violations, unprovoked = [] } = await run("short", () => undefined);
      expect(unprovoked).toEqual([]);
      expect(violations).not.toEqual([]);
    },
  );
}
