// Declares the short form of a drill as tests: the promise holds, and the first control detects a broken promise.
import { expect, test } from "vitest";
import type { Drill } from "./drill.ts";
import { isLong } from "../support/form.ts";

/** A drill starts several servers and waits for its faults to end. */
const timeout = 300_000;

/** When the first control also runs as a test. `npm run drill` runs all controls. */
type Controlled = "always" | "in the long form" | "never";

/** Declares the tests of a drill. `clauses` are the ids that it proves. */
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
