// Every clause of the requirements is cited by the title of a test, and every citation is of a clause.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configDefaults } from "vitest/config";
import config from "../../vitest.config.ts";
import { leftOut } from "../support/left-out.ts";
import { longFiles } from "../support/long-files.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const clauses = [...read("test/ledger/clauses.txt").matchAll(/^[A-Z]{3}-\d{2}(?= )/gm)].map(([id]) => id);

/** The clauses that the files of the short form cite, each with one of its files. Comments prove nothing. */
const cited = new Map(
  readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name}`)
    .filter((path) => /\.(?:test|cases)\.ts$/.test(path) && !longFiles.includes(path))
    .flatMap((path) =>
      [
        ...read(path)
          .replace(/^ *(?:\/\/|\*|\/\*\*).*$/gm, "")
          .matchAll(/\b[A-Z]{3}-\d{2}\b/g),
      ].map(([id]) => [id, path] as const),
    ),
);

test("a test of the short form cites every clause", () => {
  expect(clauses.length).toBeGreaterThan(400);
  expect(clauses.filter((clause) => !cited.has(clause))).toEqual([]);
});

test("every cited clause is in the ledger, once", () => {
  // Other names such as UTF-16 have the form of an id.
  const areas = new Set(clauses.map((id) => id.slice(0, 3)));
  expect([...cited].filter(([id]) => areas.has(id.slice(0, 3)) && !clauses.includes(id))).toEqual([]);
  expect(clauses.filter((clause, at) => clauses.indexOf(clause) !== at)).toEqual([]);
});

test("every test file belongs to a group of npm test, npm run test:drills or the long form [OPS-03]", () => {
  const groups = (config.test?.projects ?? []).map(
    (project) => (project as { test: { include: string[]; exclude: string[] } }).test,
  );
  expect(groups[0]?.include).toEqual(["test/**/*.test.ts"]);
  const elsewhere = [
    ...groups.slice(1).flatMap(({ include }) => include),
    ...[...configDefaults.exclude, ...longFiles, ...leftOut.flatMap(({ files = [] }) => files)],
  ];
  expect(groups[0]?.exclude.filter((files) => !elsewhere.includes(files))).toEqual([]);
  expect(longFiles.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
