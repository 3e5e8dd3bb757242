// Each test file runs in one of the groups of `vitest.config.ts`, and `.ci/run` runs all groups; a few files run in the
// long form alone.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configDefaults } from "vitest/config";
import config from "../../vitest.config.ts";
import { isLong } from "../support/form.ts";
import { leftOut } from "../support/left-out.ts";
import { longFiles } from "../support/long-files.ts";

interface Group {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

const root = join(import.meta.dirname, "../..");
const groups = (config.test?.projects ?? []).map((project) => (project as { test: Group }).test);

test("npm test and npm run test:drills run every test file but those of the long form, and .ci/run runs both [OPS-03]", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect([scripts["test"], scripts["test:drills"], scripts["test:long"]]).toEqual([
    'vitest run --project "!drills*"',
    'vitest run --project "drills*"',
    "TESTS=long vitest run",
  ]);
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toContain("for script in test test:drills; do");
  expect(groups[0]?.include).toEqual(["test/**/*.test.ts"]);
  expect(groups.flatMap(lostBy)).toEqual([]);
});

test("every file of the long form is there", () => {
  expect(longFiles.filter((path) => !existsSync(join(root, path)))).toEqual([]);
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
  return exclude.filter((files) => ![...elsewhere, ...missing, ...(isLong ? [] : longFiles)].includes(files));
}
