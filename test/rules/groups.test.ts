// Each test file runs in one of the groups of `vitest.config.ts`, and `.ci/run` runs all groups.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configDefaults } from "vitest/config";
import config from "../../vitest.config.ts";
import { leftOut } from "../support/left-out.ts";

interface Group {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

const root = join(import.meta.dirname, "../..");
const groups = (config.test?.projects ?? []).map((project) => (project as { test: Group }).test);

test("npm test and npm run test:drills run every test file, and .ci/run runs both [OPS-03]", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect([scripts["test"], scripts["test:drills"]]).toEqual([
    'vitest run --project "!drills*"',
    'vitest run --project "drills*"',
  ]);
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toContain("for script in test test:drills; do");
  expect(groups[0]?.include).toEqual(["test/**/*.test.ts"]);
  expect(groups.flatMap(lostBy)).toEqual([]);
});

test("detects a file that one group excludes and no other includes [OPS-03]", () => {
  expect(lostBy({ name: "suite", include: [], exclude: ["test/drills/*.test.ts", "test/other.test.ts"] })).toEqual([
    "test/other.test.ts",
  ]);
});

/** What a group excludes, although no other group includes it and the machine has what it needs. */
function lostBy({ name, exclude }: Group): string[] {
  const elsewhere = groups.filter((other) => other.name !== name).flatMap(({ include }) => include);
  const missing = [...configDefaults.exclude, ...leftOut.flatMap(({ files = [] }) => files)];
  return exclude.filter((files) => ![...elsewhere, ...missing].includes(files));
}
