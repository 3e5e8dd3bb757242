// The replacements of all drills: a text that is no longer in its file fails here, before a control runs.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drills } from "./all.ts";
import { occurrences } from "./fixture/broken.ts";

const folder = join(import.meta.dirname, ".");
const breaks = drills.flatMap(({ name, breaks: own = [], controls }) =>
  [...own, ...controls.flatMap(({ breaks: replaced = [] }) => replaced)].map((change) => ({ drill: name, ...change })),
);

test("each text that a drill replaces occurs exactly once in its file", () => {
  expect(breaks.filter((change) => occurrences(change) !== 1)).toEqual([]);
});

test("every drill with a broken build lists its replacements", () => {
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  const breaking = sources.filter((path) => /\bbrokenControl\(/.test(readFileSync(join(folder, path), "utf8")));
  const drillsOf = (paths: readonly string[]): string[] => [...new Set(paths.map((path) => path.split("/")[0] ?? ""))];
  const expected = drillsOf(breaking).filter((name) => name !== "fixture");
  expect(new Set(breaks.map(({ drill }) => drill))).toEqual(new Set(expected));
  const direct = sources.filter((path) => /\bbrokenBuild\(/.test(readFileSync(join(folder, path), "utf8")));
  expect(direct.sort()).toEqual(["fixture/broken.ts", "hostile/hostile.ts"]);
});
