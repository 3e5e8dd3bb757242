// Who may touch MongoDB, by the types of the code.
import { join } from "node:path";
import { expect, test } from "vitest";
import { withTrees } from "../../scripts/syntax-trees.ts";
import { bad, kept } from "./database/planted.ts";
import { checkDatabaseUse } from "./database/rules.ts";
import { drivers, openers, otherTexts, owners, reach } from "./database/tables.ts";

const root = join(import.meta.dirname, "../..");
/** Every other one is a module by its ending, which the rules read as well. */
const planted = [...bad, ...kept].map((one, at) => ({
  ...one,
  path: `${one.folder}/planted-${at}.${at % 2 === 0 ? "ts" : "mts"}`,
}));
const project = JSON.stringify({ extends: "./tsconfig.json", include: ["src", "gateway"] });

/** One program for all: the sources and the planted files. */
const checked = withTrees(
  root,
  ["tsconfig.planted.json"],
  ["src/", "gateway/"],
  (trees) => {
    const sources = trees.filter(({ path }) => /\.[cm]?ts$/.test(path) && !path.startsWith("src/gen/"));
    return checkDatabaseUse(sources);
  },
  new Map([["tsconfig.planted.json", project], ...planted.map(({ path, text }) => [path, text] as const)]),
);
const isPlanted = ({ path }: { readonly path: string }): boolean => planted.some((one) => one.path === path);
const shown = checked.findings.map(({ path, line, problem }) => ({ path, problem: `${path}:${line}: ${problem}` }));

test("only src/db accesses MongoDB, and only the room that owns a collection writes to it [CON-04, CON-05]", () => {
  expect(shown.filter((one) => !isPlanted(one)).map(({ problem }) => problem)).toEqual([]);
  expect(Object.keys(owners).filter((key) => !checked.written.has(key))).toEqual([]);
});

test("lists the functions of src/db that write to their arguments", () => {
  expect([...checked.writingHelpers].sort()).toEqual(
    [
      ...["addStored", "insertManyFenced", "insertFenced", "insertProven", "insertRecord", "lockNamed", "putBatch"],
      ...["upsertFenced", "putStored", "removeFound"],
    ].sort(),
  );
});

test("every exception is needed", () => {
  const uses = Object.entries(reach).flatMap(([path, { members }]) => members.map((member) => `${path}: ${member}`));
  expect(uses.filter((use) => !checked.allowed.has(use))).toEqual([]);
  const texts = otherTexts.flatMap(({ path, texts: all }) => all.map((text) => `${path}: ${text}`));
  const others = [...texts, ...Object.keys(drivers)];
  expect(others.filter((one) => !checked.needed.has(one))).toEqual([]);
  expect(Object.keys(openers).filter((path) => !checked.opened.has(path))).toEqual([]);
});

test.each(planted.flatMap(({ what, path, problem }) => (problem === undefined ? [] : [{ what, path, problem }])))(
  "finds what breaks the rules: $what [CON-04, CON-05]",
  ({ path, problem }) => {
    const found = shown.filter((one) => one.path === path).map((one) => one.problem);
    expect(found).toContainEqual(expect.stringMatching(problem));
  },
);

test.each(planted.filter(({ problem }) => problem === undefined))(
  "accepts what conforms to the rules: $what",
  ({ path }) => {
    expect(shown.filter((one) => one.path === path)).toEqual([]);
  },
);
