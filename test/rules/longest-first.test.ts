// The list of the longest test files is of files that are there.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longest, placeOf } from "../support/longest-first.ts";

test("every file that starts early exists, and precedes all others", () => {
  expect(longest.filter((name) => !existsSync(join(import.meta.dirname, "..", `${name}.test.ts`)))).toEqual([]);
  expect(placeOf(`test/${longest[0]}.test.ts`)).toBe(0);
  expect(placeOf("test/tally.test.ts")).toBe(longest.length);
});
