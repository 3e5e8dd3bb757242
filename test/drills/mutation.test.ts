// The mutation runs and their accepted survivors name existing files.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { excluded, groups } from "./mutation/groups.ts";
import { rowsOf, scoreOf } from "./mutation/report.ts";

const root = join(import.meta.dirname, "../..");

function here(paths: readonly string[]): void {
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
}

test("every file of a group and each of its tests exists", () => {
  for (const { mutate, tests } of groups) here([...mutate, ...tests]);
});

test("a group has a mongod if one of its tests uses it", () => {
  const needed = groups.map(({ name, tests }) => [
    name,
    tests.some((path) =>
      /\b(?:useService|useOwnDatabase|startService|createDatabase|startOwnMongod)\b/.test(read(path)),
    ),
  ]);
  expect(groups.map(({ name, mongod = false }) => [name, mongod])).toEqual(needed);
});

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The guards, the gateway, and the commit that stores an idempotency key with its write. */
const parts = ["src/guards/", "gateway/", "src/db/write.ts", "src/db/conflicts.ts"];

function filesOf(part: string): string[] {
  if (!part.endsWith("/")) return [part];
  return readdirSync(join(root, part), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${part}${name}`);
}

test("mutates every file of the guards, the gateway and the idempotent commit in one group, or has a reason not to", () => {
  const files = parts.flatMap(filesOf);
  const isExcluded = (path: string): boolean =>
    Object.keys(excluded).some((from) => (from.endsWith("/") ? path.startsWith(from) : path === from));
  const mutated = groups.flatMap(({ mutate }) => mutate);
  expect(mutated.filter((path) => files.includes(path)).sort()).toEqual(
    files.filter((path) => !isExcluded(path)).sort(),
  );
  expect(new Set(mutated).size).toBe(mutated.length);
});

test("excludes only existing files, and each for a reason", () => {
  here(Object.keys(excluded));
  for (const reason of Object.values(excluded)) expect(reason.length).toBeGreaterThan(20);
});

test("the accepted survivors are in existing files", () => {
  const named = [...read("test/drills/mutation/survivors.md").matchAll(/`((?:src|gateway)\/[\w/-]+\.ts)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  here(named);
});

test("a mutant counts as detected when a test failed or did not end, and not when the tests could not run", () => {
  const folder = mkdtempSync(join(tmpdir(), "records-mutation-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const location = { start: { line: 1, column: 1 }, end: { line: 1, column: 2 } };
  const statuses = ["Killed", "Timeout", "Survived", "NoCoverage", "RuntimeError", "CompileError"];
  const mutants = statuses.map((status) => ({
    mutatorName: "M",
    replacement: "b",
    status,
    location,
    statusReason: "",
  }));
  mutants.push({ ...mutants[0]!, replacement: "c", statusReason: "Test timed out in 60000ms." });
  writeFileSync(join(folder, "report.json"), JSON.stringify({ files: { "a.ts": { source: "a", mutants } } }));
  const rows = rowsOf(join(folder, "report.json"));
  expect(rows).toEqual([
    {
      file: "a.ts",
      killed: 1,
      timeouts: ["a.ts:1:1 M (timed out): a → b", "a.ts:1:1 M (timed out): a → c"],
      survivors: ["a.ts:1:1 M: a → b", "a.ts:1:1 M (in no test): a → b", "a.ts:1:1 M (not run): a → b"],
    },
  ]);
  expect(scoreOf(rows)).toBe(50);
});
