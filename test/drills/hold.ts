// A drill in its short form as tests: the promise holds, and its first control detects a broken one.
import { expect, test } from "vitest";
import type { Drill } from "./drill.ts";
import { isLong } from "../support/form.ts";

/** A drill starts several servers and waits until its faults are over. */
const timeout = 300_000;

/** When the first control of a drill is a test. `npm run drill` runs all controls of a drill. */
type Controlled = "always" | "in the long form" | "never";

/** Declares the tests of a drill; `clauses` are the ids that it proves. A control shows that the drill can see. */
export function holds(
  { promise, run, controls }: Drill,
  clauses: readonly string[],
  controlled: Controlled = "always",
): void {
  test(`${promise} [${clauses.join(", ")}]`, { timeout }, async () => {
    const { violations, unprovoked = [] } = await run("short", () => undefined);
    expect([...unprovoked, ...violations]).toEqual([]);
  });
  const isControlled = controlled === "always" || (controlled === "in the long form" && isLong);
  test.each(isControlled ? controls.slice(0, 1) : [])(
    "the control detects the broken promise: $broken",
    { timeout },
    async ({ run }) => {
      const { violations, unprovoked = [] } = await run("short", () => undefined);
      expect(unprovoked).toEqual([]);
      expect(violations).not.toEqual([]);
    },
  );
}
