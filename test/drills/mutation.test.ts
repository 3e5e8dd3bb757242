// What the mutation runs cover, and what is said of their survivors, is of files that are there.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groups } from "../../drills/mutation/groups.ts";

const root = join(import.meta.dirname, "../..");

function here(paths: readonly string[]): void {
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
}

test("every file of a group and each of its tests is there", () => {
  for (const { mutate, tests } of groups) here([...mutate, ...tests]);
});

test("every guard and every part of the gateway is broken in one group", () => {
  const parts = ["gateway", "src/guards"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}/${name}`),
  );
  const mutated = groups.flatMap(({ mutate }) => mutate);
  expect(mutated.filter((path) => parts.includes(path)).sort()).toEqual(parts.sort());
});

test("the survivors that are accepted are of files that are there", () => {
  const named = [
    ...readFileSync(join(root, "drills/mutation/survivors.md"), "utf8").matchAll(/`((?:src|gateway)\/[\w/-]+\.ts)`/g),
  ].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(10);
  here(named);
});
